"""Clipboards of machines on other nodes: short texts in the message, long ones asked back for."""

from uuid import uuid4

import pytest

from schemas.inputs.bodies import AnyInput, MoveMouse, WriteClipboard
from schemas.link.clipboard_messages import ClipboardQuery, ClipboardRead
from server.bus.bus import MAX_SENT_BYTES
from server.dispatch.command import Command, Sender
from server.dispatch.fingerprints import Fingerprints
from server.dispatch.forwarding.long_texts import MOST_WITHIN, LongTexts
from server.dispatch.questions.clipboard import TextRead
from server.dispatch.questions.inputs import ReadText
from server.dispatch.questions.question import NotHere, encode
from server.dispatch.refusals import RefusedError
from tests.commands import answer_within
from tests.nodes import at, reached, until_reached
from tests.server.api.machines.test_clipboard import (
    LONG,
    PATH,
    able,
    copied,
    kept,
    reading_it,
    writing,
)
from tests.service import Service, new_key, until


def accepted(body: AnyInput) -> Command:
    sender = Sender(
        organization_id=uuid4(), token_id=uuid4(), token_name="a caller", request_id="r-1"
    )
    return Command.accept(sender, "desk-1", body, fingerprints=Fingerprints(b"secret"), timeout=10)


def texts_of(node: Service) -> LongTexts:
    return node.server.services.cluster.elsewhere.texts


async def test_what_is_short_goes_with_its_command(nodes: list[Service]) -> None:
    for body in (MoveMouse(x=1, y=2), WriteClipboard(text="\x01" * MOST_WITHIN)):
        command = accepted(body)
        with texts_of(nodes[0]).offered(command) as message:
            assert message.text_at is None
            assert len(encode(message)) < MAX_SENT_BYTES
            assert await texts_of(nodes[1]).whole(message) == command


async def test_long_text_is_given_while_its_command_is_on_its_way(nodes: list[Service]) -> None:
    here, there = nodes
    command = accepted(WriteClipboard(text=LONG, selection="primary"))
    with texts_of(here).offered(command) as message:
        assert len(encode(message)) < 2000
        assert await texts_of(there).whole(message) == command
        asked = ReadText(forward_id=message.forward_id)
        assert texts_of(here).give(asked) == TextRead.of(LONG)
    assert texts_of(here).give(asked) == NotHere()
    with pytest.raises(RefusedError, match="could not get the text"):
        await texts_of(there).whole(message)
    nobody = message.model_copy(update={"text_at": uuid4()})
    with pytest.raises(RefusedError, match="could not get the text"):
        await texts_of(there).whole(nobody)


@pytest.mark.parametrize("is_keyed", [False, True])
async def test_long_text_is_copied_through_another_node(
    nodes: list[Service], is_keyed: bool
) -> None:
    here, there = nodes
    machine, key = await here.new_machine(), new_key() if is_keyed else None
    async with machine.connected(able()) as link:
        await until_reached(there, machine)
        writes = writing(there, {"text": LONG}, key)
        command, text = await copied(link)
        assert text == LONG
        await link.acknowledge(command.command_id)
        reply = await writes
        assert (reply.status, reply.json["command_id"]) == (200, str(command.command_id))
        if is_keyed:
            for node in nodes:
                again = await writing(node, {"text": LONG}, key)
                assert (again.status, again.body) == (200, reply.body)
        await link.nothing_heard()


@pytest.mark.parametrize("is_keyed", [False, True])
@pytest.mark.usefixtures("no_garbage_collection")
async def test_text_that_nobody_acknowledges_is_kept_on_no_node(
    nodes: list[Service], monkeypatch: pytest.MonkeyPatch, is_keyed: bool
) -> None:
    answer_within(monkeypatch, 0.3)
    here, there = nodes
    machine, secret = await here.new_machine(), f"secret {new_key()}"
    async with machine.connected(able()) as link:
        await until_reached(there, machine)
        for length in (0, MOST_WITHIN):
            writes = writing(
                there, {"text": secret + "x" * length}, new_key() if is_keyed else None
            )
            await copied(link)
            assert (await writes).refusal == (504, "outcome-pending")
        await until(lambda: not kept(secret))


async def test_text_that_cannot_be_had_is_not_copied(
    nodes: list[Service], monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = nodes
    monkeypatch.setattr(LongTexts, "give", lambda _self, _question: NotHere())
    machine, key = await here.new_machine(), new_key()
    async with machine.connected(able()) as link:
        await until_reached(there, machine)
        for _ in range(2):
            reply = await writing(there, {"text": LONG}, key)
            assert (reply.status, reply.json["reason"]) == (503, "unreachable")
        await link.nothing_heard()


async def test_clipboard_is_read_through_another_node(nodes: list[Service]) -> None:
    _, there = nodes
    async with reached(nodes, able()) as (machine, link):
        reads = reading_it(there, "?selection=primary")
        asked = await link.heard(ClipboardQuery)
        assert asked.selection == "primary"
        await link.say(ClipboardRead(request=asked.request, text="\n\u20ac\n" + "x" * 100_000))
        assert (await reads).json == {"text": "\n\u20ac\n" + "x" * 100_000}
    await machine.until_gone()
    reply = await at(there, machine).service.get(PATH)
    assert (reply.status, reply.json["reason"]) == (503, "offline")
