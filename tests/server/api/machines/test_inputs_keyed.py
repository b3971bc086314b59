"""The last column of the design's table: what becomes of an Idempotency-Key."""

import asyncio
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from tornado.httputil import HTTPHeaders

from schemas.inputs.outcomes import (
    Completed,
    Expired,
    Failed,
    NotCarriedOut,
    Outcome,
    Point,
    Refused,
    Unknown,
)
from schemas.link.messages import Input, Resolve
from tests.commands import ledger_of
from tests.links import hello
from tests.service import (
    Reply,
    ScriptedLink,
    ScriptedMachine,
    Service,
    new_key,
    running_server,
    until,
)


async def assert_key_is_free(machine: ScriptedMachine, link: ScriptedLink, key: str) -> None:
    """The key works as if it had never been seen."""
    reply = await link.reply_to(machine.moving(key))
    assert reply.status == 200
    assert "Idempotency-Replayed" not in reply.headers


def assert_replays(reply: Reply, first: Reply) -> None:
    """The first answer again, byte for byte, and it says so."""
    assert (reply.status, reply.body) == (first.status, first.body)
    assert reply.headers.get("Content-Type") == first.headers.get("Content-Type")
    assert reply.headers["Idempotency-Replayed"] == "true"
    assert "Idempotency-Replayed" not in first.headers


@pytest.mark.parametrize("bare", ["{}", "{}\\b", '{}"b'])
async def test_bare_and_quoted_are_one_key(service: Service, bare: str) -> None:
    machine, key = await service.new_machine(), bare.format(new_key())
    quoted = '"' + key.replace("\\", "\\\\").replace('"', '\\"') + '"'
    async with machine.connected() as link:
        for first_spelling, second_spelling in ((key, quoted), (f'"x{quoted[1:]}', f"x{key}")):
            sending = machine.moving(first_spelling)
            await link.obey()
            assert_replays(await machine.move(second_spelling), await sending)
            await link.nothing_heard()


@pytest.mark.parametrize("key", ['"', '""', '"k', '"k"k', '"a b"', '"a\\b"', '"k";a=1'])
async def test_malformed_quoting_is_refused_and_says_what_would_be_right(
    machine: ScriptedMachine, link: ScriptedLink, key: str
) -> None:
    reply = await machine.move(key)
    assert reply.faults == [(["header", "Idempotency-Key"], "string_pattern_mismatch")]
    assert "must be a quoted string" in reply.json["detail"][0]["msg"]
    await link.nothing_heard()


@pytest.mark.parametrize(
    ("outcome", "status"),
    [
        (Completed(duration_ms=0.1, pointer=Point(x=1, y=2)), 200),
        (Refused(code="outside_displays", message="outside"), 422),
        (Failed(code="x_error", message="went away", injected_at_least=1), 502),
        (Expired(), 504),
        (Unknown(injected_at_least=1), 502),
        (NotCarriedOut(), 503),
    ],
)
async def test_final_answer_is_replayed_byte_for_byte(
    machine: ScriptedMachine, key: str, outcome: Outcome, status: int
) -> None:
    async with machine.connected() as link:
        sending = machine.moving(key)
        await link.obey(outcome)
        first = await sending
        assert first.status == status
        assert_replays(await machine.move(key), first)
        await link.nothing_heard()
    await machine.until_gone()
    assert_replays(await machine.move(key), first)


async def test_minimal_answer_is_replayed_whatever_is_preferred_later(service: Service) -> None:
    machine, key = await service.new_machine(), new_key()
    async with machine.connected() as link:
        first = await link.reply_to(machine.moving(key, headers={"Prefer": "return=minimal"}))
        assert first.status == 204
        again = await machine.move(key, headers={"Prefer": "return=representation"})
        assert_replays(again, first)
        assert "Preference-Applied" not in again.headers


@pytest.mark.own_server
async def test_answer_is_replayed_after_a_restart_of_the_server(
    service: Service, machine: ScriptedMachine, key: str, mongodb: str, tmp_path: Path
) -> None:
    async with machine.connected() as link:
        first = await link.reply_to(machine.moving(key))
    await service.server.stop()
    async with running_server(mongodb, tmp_path / "again") as server:
        machine.service = Service(server, service.organization_id, service.token)
        assert_replays(await machine.move(key), first)
        async with machine.connected() as link:
            assert_replays(await machine.move(key), first)
            await link.nothing_heard()


async def test_keys_of_two_organizations_are_different_keys(service: Service) -> None:
    machine, key = await service.new_machine(), new_key()
    other = await (await service.elsewhere()).new_machine()
    async with machine.connected() as link, other.connected() as other_link:
        await assert_key_is_free(machine, link, key)
        await assert_key_is_free(other, other_link, key)


async def test_two_at_once_run_once_and_get_the_same_answer(service: Service) -> None:
    machine, key = await service.new_machine(), new_key()
    async with machine.connected() as link:
        sendings = [machine.moving(key), machine.moving(key)]
        command = await link.heard(Input)
        await link.nothing_heard()
        await link.acknowledge(command.command_id)
        replies = [await sending for sending in sendings]
        first, second = sorted(replies, key=lambda reply: "Idempotency-Replayed" in reply.headers)
        assert first.status == 200
        assert_replays(second, first)
        await link.nothing_heard()


@pytest.mark.usefixtures("no_waiting_for_ends")
async def test_waiting_past_the_deadline_is_409_in_progress(service: Service) -> None:
    machine, key = await service.new_machine(), new_key()
    async with machine.connected() as link:
        first = machine.moving(key)
        command = await link.heard(Input)
        assert (await first).problem == "outcome-pending"
        reply = await machine.move(key)
        assert (reply.status, reply.problem) == (409, "idempotency-key-in-progress")
        assert reply.headers["Idempotency-Status"] == "in_progress"
        assert int(reply.headers["Retry-After"]) > 0
        await link.acknowledge(command.command_id)
        await until(lambda: not service.server.services.machines.dispatcher._ledger._under_way)
        final = await machine.move(key)
        assert (final.status, final.json["command_id"]) == (200, str(command.command_id))
        await link.nothing_heard()


async def test_same_key_with_another_request_is_422_and_the_first_stands(
    service: Service, machine: ScriptedMachine, key: str
) -> None:
    await service.new_machine("desk-2")
    async with machine.connected() as link:
        first = await link.reply_to(machine.moving(key))
        others = [
            await machine.move(key, x=99),
            await service.post(
                machine.input_path("mouse/click"),
                {"x": 3, "y": 4},
                headers={"Idempotency-Key": key},
            ),
            await service.post(
                "/v1/computer/desk-2/input/mouse/move",
                {"x": 3, "y": 4},
                headers={"Idempotency-Key": key},
            ),
        ]
        for other in others:
            assert other.faults == [(["header", "Idempotency-Key"], "idempotency_key_reused")]
        assert_replays(await machine.move(key), first)
        await link.nothing_heard()


async def test_other_request_under_the_key_does_not_make_the_key_its_own(
    machine: ScriptedMachine, link: ScriptedLink, key: str
) -> None:
    first = await link.reply_to(machine.moving(key))
    for _ in range(5):
        other, *again = await asyncio.gather(
            machine.move(key, x=99), *(machine.move(key) for _ in range(3))
        )
        assert other.faults == [(["header", "Idempotency-Key"], "idempotency_key_reused")]
        for reply in again:
            assert_replays(reply, first)
    await link.nothing_heard()


async def test_same_request_in_other_words_is_the_same_request(service: Service) -> None:
    machine, key = await service.new_machine(), new_key()
    headers = {"Idempotency-Key": key}
    path = machine.input_path("mouse/click")
    async with machine.connected() as link:
        background = service.server.services.background
        sending = background.start(service.post(path, {}, headers=headers), "a client")
        first = await link.reply_to(sending)
        content = b'{"clicks" : 1, "x": null}'
        assert_replays(await service.post(path, content=content, headers=headers), first)


@pytest.mark.parametrize(
    ("content", "media_type", "status"),
    [
        (b'{"x":1}', "application/json", 422),
        (b"{", "application/json", 422),
        (b'{"x":1,"y":2}', "text/plain", 415),
        (b'{"x":1,"y":2}' + b" " * 65536, "application/json", 413),
    ],
)
async def test_request_that_is_not_understood_uses_no_key(
    service: Service, content: bytes, media_type: str, status: int
) -> None:
    machine, key = await service.new_machine(), new_key()
    async with machine.connected() as link:
        headers = {"Idempotency-Key": key, "Content-Type": media_type}
        reply = await service.post(machine.input_path(), content=content, headers=headers)
        assert reply.status == status
        await assert_key_is_free(machine, link, key)


async def test_request_without_leave_uses_no_key(machine: ScriptedMachine, key: str) -> None:
    async with machine.connected() as link:
        assert (await machine.move(key, token=None)).status == 401
        assert (await machine.move(key, token=machine.token)).status == 403
        await assert_key_is_free(machine, link, key)


async def test_unknown_machine_uses_no_key(service: Service) -> None:
    machine, key = ScriptedMachine(service, "desk-1", ""), new_key()
    assert (await machine.move(key)).status == 404
    async with service.joined() as (machine, link):
        await assert_key_is_free(machine, link, key)


async def test_unavailable_machine_uses_no_key(service: Service) -> None:
    machine, key = await service.new_machine(), new_key()
    assert (await machine.move(key)).problem == "machine-unavailable"
    async with machine.connected(hello(no_input="locked")):
        assert (await machine.move(key)).json["reason"] == "no_input"
    await machine.until_gone()
    async with machine.connected() as link:
        await service.request("PATCH", "/v1/machines/desk-1", {"paused": True})
        await link.interrupted()
        assert (await machine.move(key)).json["reason"] == "paused"
        await service.request("PATCH", "/v1/machines/desk-1", {"paused": False})
        await assert_key_is_free(machine, link, key)


@pytest.mark.parametrize("settings", [{"unanswered_inputs": 1}])
async def test_busy_machine_uses_no_key(machine: ScriptedMachine, key: str) -> None:
    async with machine.connected() as link:
        sending = machine.moving()
        command = await link.heard(Input)
        assert (await machine.move(key)).status == 429
        await link.acknowledge(command.command_id)
        await sending
        await assert_key_is_free(machine, link, key)


async def left_open(machine: ScriptedMachine, key: str, **greeting: Any) -> str:
    """Let a command be sent and the link go; its id."""
    async with machine.connected(hello(**greeting)) as link:
        link.sequence = greeting.get("sequence", 0)
        sending = machine.moving(key)
        command = await link.heard(Input)
        await link.websocket.close()
        reply = await sending
    assert (reply.status, reply.problem) == (504, "outcome-pending")
    assert reply.json["command_id"] == str(command.command_id)
    await machine.until_gone()
    assert (await machine.move(key)).refusal == (504, "outcome-pending")
    return str(command.command_id)


@pytest.mark.parametrize(
    ("outcome", "status", "problem"),
    [
        (Completed(duration_ms=9, pointer=Point(x=3, y=4)), 200, None),
        (NotCarriedOut(), 503, "not-carried-out"),
        (Unknown(injected_at_least=4), 502, "outcome-unknown"),
        (Failed(code="x_error", message="gone", injected_at_least=0), 502, "input-failed"),
        (Expired(), 504, "input-expired"),
    ],
)
async def test_pending_outcome_is_resolved_from_the_machines_report(
    machine: ScriptedMachine, key: str, outcome: Outcome, status: int, problem: str | None
) -> None:
    command_id = await left_open(machine, key)
    async with machine.connected(hello(sequence=9), wait_until_live=False) as link:
        question = await link.heard(Resolve)
        assert str(question.command_id) == command_id
        await link.report(question.command_id, outcome)
        await machine.until_live()
        reply = await machine.move(key)
        assert reply.status == status
        assert reply.headers["Idempotency-Replayed"] == "true"
        if problem is not None:
            assert reply.problem == problem
        assert reply.json["command_id"] == command_id
        assert (await machine.move(key)).body == reply.body
        await link.nothing_heard()


async def test_another_journal_makes_the_outcome_unknown_for_ever(service: Service) -> None:
    machine, key = await service.new_machine(), new_key()
    await left_open(machine, key)
    async with machine.connected(hello(journal_id=uuid4())) as link:
        reply = await machine.move(key)
        assert (reply.status, reply.problem) == (502, "outcome-unknown")
        assert reply.json["final"] is True
        await link.nothing_heard()
    await machine.until_gone()
    assert (await machine.move(key)).body == reply.body


async def test_journal_that_went_back_makes_the_outcome_unknown(service: Service) -> None:
    machine, key = await service.new_machine(), new_key()
    await left_open(machine, key, sequence=10)
    async with machine.connected(hello(sequence=9)) as link:
        assert (await machine.move(key)).refusal == (502, "outcome-unknown")
        await link.nothing_heard()


@pytest.mark.own_server
async def test_pending_outcome_survives_a_restart_of_the_server(
    service: Service, machine: ScriptedMachine, key: str, mongodb: str, tmp_path: Path
) -> None:
    await left_open(machine, key)
    await service.server.stop()
    async with running_server(mongodb, tmp_path / "again") as server:
        machine.service = Service(server, service.organization_id, service.token)
        async with machine.connected(hello(sequence=9), wait_until_live=False) as link:
            question = await link.heard(Resolve)
            await link.report(question.command_id, NotCarriedOut())
            await machine.until_live()
            assert (await machine.move(key)).problem == "not-carried-out"


async def test_key_of_255_characters_is_a_key(machine: ScriptedMachine) -> None:
    key = new_key().ljust(255, "~")
    async with machine.connected() as link:
        await assert_key_is_free(machine, link, key)


async def test_key_given_twice_is_422(service: Service, machine: ScriptedMachine, key: str) -> None:
    reply = await repeated_header(machine, key)
    assert reply.faults == [(["header", "Idempotency-Key"], "repeated")]
    assert await ledger_of(service).unresolved(service.organization_id, "desk-1", 99) == []


async def repeated_header(machine: ScriptedMachine, key: str) -> Reply:
    """Send an input with two Idempotency-Key headers."""
    headers = HTTPHeaders({"Content-Type": "application/json"})
    headers.add("Idempotency-Key", key)
    headers.add("Idempotency-Key", key)
    headers["Authorization"] = f"Bearer {machine.service.token}"
    return await machine.service.send("POST", machine.input_path(), headers, b'{"x":3,"y":4}')
