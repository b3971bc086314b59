"""What a node does for another one, and what it refuses to do."""

import json
from typing import Any
from uuid import uuid4

import pytest

from schemas.link.messages import Input
from server.dispatch.command import Command
from server.dispatch.questions.inputs import CarryOut
from server.dispatch.questions.question import encode
from server.dispatch.questions.screens import NextPicture
from tests.commands import accepted
from tests.nodes import until_reached
from tests.service import Service, new_key


def forwarded(command: Command) -> bytes:
    return encode(CarryOut.of(command, forward_id=uuid4()))


async def test_message_that_comes_twice_is_carried_out_once(nodes: list[Service]) -> None:
    here, _there = nodes
    async with here.joined() as (machine, link):
        live = await machine.until_live()
        responder = here.server.services.cluster.responder
        message = forwarded(accepted(here))
        background = here.server.services.background
        replies = [
            background.start(responder.respond_for_link(live, message), "a message") for _ in "12"
        ]
        await link.obey()
        assert len({await reply for reply in replies}) == 1
        assert await responder.respond_for_link(live, message) == await replies[0]
        await link.nothing_heard()


async def test_node_that_takes_no_more_commands_answers_for_those_that_it_has(
    nodes: list[Service],
) -> None:
    here, there = nodes
    async with here.joined() as (machine, link):
        live = await machine.until_live()
        responder = here.server.services.cluster.responder
        message, background = forwarded(accepted(here)), here.server.services.background
        reply = background.start(responder.respond_for_link(live, message), "a message")
        command = await link.heard(Input)
        responder.takes_commands = False
        again = background.start(responder.respond_for_link(live, message), "the message again")
        another = await responder.respond_for_link(live, forwarded(accepted(here, new_key())))
        assert json.loads(another)["type"] == "not_here"
        await until_reached(there, machine)
        await link.acknowledge(command.command_id)
        assert await again == await reply
        await link.nothing_heard()


async def test_what_was_refused_is_not_carried_out_later(nodes: list[Service]) -> None:
    here, _ = nodes
    async with here.joined() as (machine, link):
        live = await machine.until_live()
        responder = here.server.services.cluster.responder
        await here.request("PATCH", "/v1/machines/desk-1", {"paused": True})
        message = forwarded(accepted(here, new_key()))
        refusal = await responder.respond_for_link(live, message)
        assert b'"paused"' in refusal
        await link.interrupted()
        await here.request("PATCH", "/v1/machines/desk-1", {"paused": False})
        assert await responder.respond_for_link(live, message) == refusal
        await link.nothing_heard()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"version": 2}, "version"),
        ({"type": "unheard of"}, "malformed"),
        ({"command": {"body": {"x": "left"}}}, "malformed"),
        ({"machine_id": "another", "command": {"machine_id": "another"}}, "malformed"),
        ({"command": {"expires_at": 1}}, "late"),
    ],
)
async def test_message_that_is_not_as_it_should_be_is_refused_and_counted(
    nodes: list[Service], change: dict[str, Any], reason: str
) -> None:
    here, _ = nodes
    async with here.joined() as (machine, link):
        live = await machine.until_live()
        responder = here.server.services.cluster.responder
        message = json.loads(forwarded(accepted(here)))
        message |= change | {"command": message["command"] | change.get("command", {})}
        reply = await responder.respond_for_link(live, json.dumps(message).encode())
        assert reason.encode() in reply
        assert b'"not_understood"' in reply
        assert responder.refused == {reason: 1}
        assert await responder.respond_for_link(live, b"\xff{") == await responder.respond_for_node(
            b""
        )
        await link.nothing_heard()


@pytest.mark.parametrize(
    "change",
    [
        *({"width": -5}, {"height": 0}, {"quality": 96}, {"rate": -1}, {"rate": float("inf")}),
        *({"names": ["x"] * 21}, {"names": ["x" * 256]}, {"names": [""]}),
    ],
)
async def test_screen_that_nobody_could_ask_for_is_refused_and_nobody_views_it(
    nodes: list[Service], change: dict[str, Any]
) -> None:
    here, _ = nodes
    wish = NextPicture(
        organization_id=here.organization_id,
        machine_id="desk-1",
        viewer=uuid4(),
        width=640,
        height=None,
        quality=70,
        rate=5,
    )
    async with here.joined() as (machine, link):
        live = await machine.until_live()
        responder = here.server.services.cluster.responder
        message = json.dumps(wish.model_dump(mode="json") | change).encode()
        assert b'"not_understood"' in await responder.respond_for_link(live, message)
        assert responder.refused == {"malformed": 1}
        assert live.watched_screen is None or not live.watched_screen.viewers
        await link.nothing_heard()


async def test_link_that_has_just_ended_does_nothing_for_others(nodes: list[Service]) -> None:
    here, _ = nodes
    async with here.joined() as (machine, _):
        live = await machine.until_live()
    await machine.until_gone()
    responder = here.server.services.cluster.responder
    reply = await responder.respond_for_link(live, forwarded(accepted(here)))
    assert b'"not_here"' in reply
