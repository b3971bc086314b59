"""Commands for a machine whose link is on another node."""

from typing import Any
from uuid import UUID

import pytest

from schemas.inputs.outcomes import ActionResult, Failed
from schemas.link.messages import Input, Resolve
from server.bus.bus import ReplyLostError
from server.dispatch import refusals
from server.dispatch.questions.question import NotHere, NotUnderstood, Reply, encode
from tests.commands import recorded
from tests.links import COMPLETED, hello
from tests.nats import NatsServer
from tests.nodes import at, reached, until_reached
from tests.service import Service, new_key, until


async def test_input_through_another_node_is_carried_out_once_and_answered(
    nodes: list[Service],
) -> None:
    _, there = nodes
    async with reached(nodes) as (machine, link):
        for key in (None, new_key()):
            moving = at(there, machine).moving(key)
            command = await link.obey()
            reply = await moving
            assert (reply.status, reply.json["command_id"]) == (200, str(command.command_id))
            assert "Idempotency-Replayed" not in reply.headers
            await link.nothing_heard()


async def test_retry_at_any_node_gets_the_first_answer(nodes: list[Service]) -> None:
    here, there = nodes
    machine, key = await here.new_machine(), new_key()
    async with machine.connected() as link:
        await until_reached(there, machine)
        first = await link.reply_to(at(there, machine).moving(key))
        for node in (here, there):
            again = await at(node, machine).move(key)
            assert (again.status, again.body) == (200, first.body)
            assert again.headers["Idempotency-Replayed"] == "true"
        reused = await at(there, machine).move(key, x=99)
        assert (reused.status, reused.json["detail"][0]["type"]) == (422, "idempotency_key_reused")
        await link.nothing_heard()
    await machine.until_gone()
    again = await at(there, machine).move(key)
    assert (again.status, again.body) == (200, first.body)


async def test_several_actions_reach_another_node_once_however_often_it_is_asked(
    nodes: list[Service], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.dispatch.forwarding.elsewhere.ASK_AGAIN_SECONDS", 0.05)
    here, there = nodes
    actions = [{"operation": "mouse.click"}, {"operation": "wait", "seconds": 60}]
    results = (
        ActionResult(operation="mouse.click", status="completed", duration_ms=1.0),
        ActionResult(operation="wait", status="interrupted", code="interrupted"),
    )
    failed = Failed(code="interrupted", message="ended", injected_at_least=2, actions=results)
    asked = 0
    forwards = here.server.services.cluster.responder._forwards
    find = forwards.find

    def counted(forward_id: UUID) -> Any:
        nonlocal asked
        asked += 1
        return find(forward_id)

    monkeypatch.setattr(forwards, "find", counted)
    async with reached(nodes) as (machine, link):
        key = new_key()
        acting = at(there, machine).acting(actions, key)
        command = await link.heard(Input)
        await until(lambda: asked > 3)
        await link.acknowledge(command.command_id, failed)
        first = await acting
        assert (first.refusal, first.json["completed"]) == ((502, "input-failed"), 1)
        for node in nodes:
            assert (await at(node, machine).act(actions, key)).body == first.body
        await link.nothing_heard()


async def test_problems_of_the_other_node_are_answered_as_its_own(nodes: list[Service]) -> None:
    _, there = nodes
    async with reached(nodes, hello(no_input="no display is open")) as (machine, _):
        own, forwarded_one = await machine.move(), await at(there, machine).move()
        for name in ("status", "code"):
            assert getattr(own, name, None) == getattr(forwarded_one, name, None)
        unlike = {"instance"}
        assert {k: v for k, v in own.json.items() if k not in unlike} == {
            k: v for k, v in forwarded_one.json.items() if k not in unlike
        }
        assert forwarded_one.headers["Retry-After"] == own.headers["Retry-After"]


async def test_machine_that_no_node_has_is_offline_everywhere(nodes: list[Service]) -> None:
    async with reached(nodes) as (machine, _):
        pass
    await machine.until_gone()
    for node in nodes:
        reply = await at(node, machine).move(new_key())
        assert (reply.status, reply.json["reason"]) == (503, "offline")
        assert (
            await node.post("/v1/computer/nobody/input/mouse/move", {"x": 1, "y": 1})
        ).status == 404


class LosingReplies:
    """Loses the replies of a node's bus."""

    def __init__(self, node: Service, monkeypatch: pytest.MonkeyPatch) -> None:
        bus = node.server.services.cluster.bus
        self.request = bus.request
        self.is_on = True
        monkeypatch.setattr(bus, "request", self._request)

    async def _request(self, subject: str, message: bytes, timeout: float) -> bytes:
        reply = await self.request(subject, message, timeout)
        if self.is_on and b'"command"' in message:
            raise ReplyLostError("lost")
        return reply


async def test_input_without_a_key_whose_reply_is_lost_is_pending_and_can_be_found(
    nodes: list[Service], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, there = nodes
    async with reached(nodes) as (machine, link):
        LosingReplies(there, monkeypatch)
        moving = at(there, machine).moving()
        command = await link.obey()
        reply = await moving
        assert (reply.status, reply.json["command_id"]) == (504, str(command.command_id))
        record = await recorded(there, command.command_id)
        live = await machine.until_live()
        assert (record.epoch, record.journal_id) == (live.epoch, None)
        finding = there.server.services.background.start(
            there.get(f"/v1/commands/{command.command_id}"), "look up"
        )
        question = await link.heard(Resolve)
        await link.report(question.command_id, COMPLETED)
        found = (await finding).json
        assert (found["state"], found["answer"]["status"]) == ("done", 200)
        await link.nothing_heard()


async def test_input_with_a_key_whose_reply_is_lost_is_asked_for_again(
    nodes: list[Service], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, there = nodes
    async with reached(nodes) as (machine, link):
        losing = LosingReplies(there, monkeypatch)
        moving = at(there, machine).moving(new_key())
        await link.obey()
        losing.is_on = False
        reply = await moving
        assert reply.status == 200
        assert "Idempotency-Replayed" not in reply.headers
        await link.nothing_heard()


class RefusingAfterALoss:
    """Takes a command to its node and loses the reply; whoever is asked then refuses it."""

    def __init__(self, node: Service, monkeypatch: pytest.MonkeyPatch, refusal: Reply) -> None:
        services = node.server.services
        self._background, self._bus = services.background, services.cluster.bus
        self._request, self._refusal = self._bus.request, refusal
        self._is_sent = False
        self.is_on = True
        monkeypatch.setattr(self._bus, "request", self._take)

    async def _take(self, subject: str, message: bytes, timeout: float) -> bytes:
        if not self.is_on or b'"command"' not in message:
            return await self._request(subject, message, timeout)
        if self._is_sent:
            return encode(self._refusal)
        self._is_sent = True
        self._background.start(self._request(subject, message, timeout), "what is not heard of")
        raise ReplyLostError("lost")


@pytest.mark.parametrize(
    "refusal",
    [
        NotUnderstood(reason="late"),
        NotHere(),
        refusals.busy("inputs"),
        refusals.storage_unavailable("away"),
    ],
    ids=lambda each: each.type,
)
@pytest.mark.parametrize("is_keyed", [True, False])
async def test_refusal_says_nothing_of_the_message_that_was_lost_before(
    nodes: list[Service], monkeypatch: pytest.MonkeyPatch, refusal: Reply, is_keyed: bool
) -> None:
    here, there = nodes
    machine, key = await here.new_machine(), new_key() if is_keyed else None
    async with machine.connected() as link:
        await until_reached(there, machine)
        refusing = RefusingAfterALoss(there, monkeypatch, refusal)
        reply = await at(there, machine).move(key)
        assert (reply.status, reply.problem) == (504, "outcome-pending")
        command = await link.obey()
        assert reply.json["command_id"] == str(command.command_id)
        await link.nothing_heard()
    refusing.is_on = False
    if key is not None:
        assert (await at(there, machine).move(key)).status == 200


async def test_known_answer_is_given_again_though_the_other_node_does_not_reply(
    nodes: list[Service], monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = nodes
    machine, key = await here.new_machine(), new_key()
    async with machine.connected() as link:
        await until_reached(there, machine)
        first = await link.reply_to(at(there, machine).moving(key))
        LosingReplies(there, monkeypatch)
        again = await at(there, machine).move(key)
        assert (again.status, again.body) == (200, first.body)
        assert again.headers["Idempotency-Replayed"] == "true"
        assert (await at(there, machine).move(key, x=99)).status == 422
        await link.nothing_heard()


async def test_bus_that_is_away_refuses_what_cannot_be_forwarded_and_nothing_happens(
    nodes: list[Service], nats_server: NatsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The link came up longer ago than that, and cannot be reached since now.
    monkeypatch.setattr(refusals, "JUST_MILLISECONDS", 1)
    here, there = nodes
    machine, key = await here.new_machine(), new_key()
    async with machine.connected() as link:
        await until_reached(there, machine)
        moving = at(there, machine).moving(key)
        first = await link.reply_to(moving)
        nats_server.kill()
        for node in nodes:
            await until(lambda: not node.server.services.cluster.bus.is_connected)  # noqa: B023
        reply = await at(there, machine).move(new_key())
        assert (reply.status, reply.json["reason"]) == (503, "unreachable")
        assert reply.headers["Retry-After"] == "1"
        assert "node a" in reply.json["detail"]
        view = (await there.get("/v1/machines/desk-1")).json
        assert (view["state"], view["node"]) == ("offline", "a")
        assert (await there.get("/readyz")).json == {"status": "ok", "node": "b", "bus": "away"}
        # What is final is given again, and the node's own machines work.
        assert (await at(there, machine).move(key)).body == first.body
        await link.obeys(machine.moving())
        await link.nothing_heard()
        nats_server.start()
        await until_reached(there, machine)
        await link.obeys(at(there, machine).moving())


async def test_reply_that_is_not_understood_is_no_word_that_nothing_happened(
    nodes: list[Service], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, there = nodes
    async with reached(nodes) as (machine, link):
        bus = there.server.services.cluster.bus
        request = bus.request

        async def of_tomorrow(subject: str, message: bytes, timeout: float) -> bytes:
            reply = await request(subject, message, timeout)
            return b'{"version":2}' if b'"command"' in message else reply

        monkeypatch.setattr(bus, "request", of_tomorrow)
        for key in (None, new_key()):
            moving = at(there, machine).moving(key)
            await link.obey()
            # With a key the record has the answer all the same.
            assert (await moving).status == (504 if key is None else 200)


async def test_node_that_cannot_record_takes_no_inputs_of_other_nodes(
    nodes: list[Service], monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = nodes
    async with reached(nodes) as (machine, link):
        monkeypatch.setattr(here.server.services.operation.recorder, "_capacity", 0)
        assert (await at(there, machine).move()).refusal == (503, "storage-unavailable")
        await link.nothing_heard()


async def test_input_without_a_key_that_is_pending_elsewhere_can_be_found(
    nodes: list[Service], monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = nodes
    async with reached(nodes) as (machine, link):
        ledger = here.server.services.cluster.responder._here._ledger

        async def keeps_nothing(*_: object) -> None:
            pass

        monkeypatch.setattr(ledger, "_keep_soon", keeps_nothing)
        moving = at(there, machine).moving()
        command = await link.heard(Input)
        await link.websocket.close()
        assert (await moving).status == 504
        found = await there.get(f"/v1/commands/{command.command_id}")
        assert (found.status, found.json["state"]) == (200, "sent")
