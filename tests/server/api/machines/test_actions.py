"""Several actions in one request, with a machine that the test plays."""

import json
import logging
import re
from typing import Any
from uuid import uuid4

import pytest

from schemas.inputs.actions import MAX_ACTIONS, MAX_PICTURES, MAX_SECONDS
from schemas.inputs.outcomes import (
    ActionResult,
    ActionStatus,
    Completed,
    Expired,
    Failed,
    NotCarriedOut,
    Outcome,
    Point,
    Refused,
    Results,
    Stopped,
    Unknown,
)
from schemas.link.messages import Capability, Input, Resolve
from schemas.resources.tokens import Scope
from server.api.machines.actions import MAX_BODY_BYTES
from tests.events import listening
from tests.links import hello
from tests.service import (
    Reply,
    ScriptedLink,
    ScriptedMachine,
    Service,
    new_key,
    scopes_without,
    until,
)

CLICK = {"operation": "mouse.click", "x": 640, "y": 360}
PAUSE = {"operation": "wait", "seconds": 0.5}
TYPING = {"operation": "keyboard.type", "text": "4711"}
COPYING = {"operation": "clipboard.write", "text": "4711"}
LOOKING = {"operation": "screenshot"}
WAITING = {"operation": "wait_for", "any": [{"changed": True}]}
ACTIONS: list[dict[str, Any]] = [CLICK, PAUSE, TYPING]
WORD = "hunter2"
WORD = "hunter2"


def results(*statuses: ActionStatus, code: str | None = None) -> Results:
    """How the first of `ACTIONS` ended; ``code`` is that of the one that failed."""
    return tuple(
        ActionResult(
            operation=action["operation"],
            status=status,
            code=code if status in ("failed", "interrupted") else None,
        )
        for action, status in zip(ACTIONS, statuses, strict=True)
    )


DONE = Completed(
    duration_ms=501.5,
    pointer=Point(x=640, y=360),
    actions=results("completed", "completed", "completed"),
)
STOPPED = Stopped(actions=results("completed", "not_seen", "not_begun"))
FAILED = Failed(
    code="x_error",
    message="action 2 (keyboard.type): went away",
    injected_at_least=3,
    actions=results("completed", "completed", "failed", code="x_error"),
)
INTERRUPTED = Failed(
    code="interrupted",
    message="it was interrupted between two actions",
    injected_at_least=2,
    actions=results("completed", "interrupted", "not_begun", code="interrupted"),
)
OUTSIDE = Refused(code="outside", message="out", loc=("body", "actions", "2", "x"))
UNKNOWN = Unknown(injected_at_least=2, actions=results("completed", "completed", "unknown"))


async def assert_key_is_free(machine: ScriptedMachine, link: ScriptedLink, key: str) -> None:
    """The key works as if it had never been seen."""
    acting = machine.acting(ACTIONS, key)
    await link.obey(DONE)
    reply = await acting
    assert (reply.status, "Idempotency-Replayed" in reply.headers) == (200, False)


def assert_replays(reply: Reply, first: Reply) -> None:
    assert (reply.status, reply.body) == (first.status, first.body)
    assert reply.headers["Idempotency-Replayed"] == "true"


async def test_actions_are_one_command_and_their_answer_has_each_ones_end(
    machine: ScriptedMachine, link: ScriptedLink, key: str
) -> None:
    acting = machine.acting(ACTIONS, key)
    command = await link.obey(DONE)
    assert command.operation == "actions"
    assert [each["operation"] for each in command.body["actions"]] == [
        "mouse.click",
        "wait",
        "keyboard.type",
    ]
    assert command.fingerprint
    reply = await acting
    assert reply.status == 200
    told = reply.json
    assert (told["command_id"], told["operation"], told["status"], told["duration_ms"]) == (
        str(command.command_id),
        "actions",
        "completed",
        501.5,
    )
    assert [(each["operation"], each["status"]) for each in told["actions"]] == [
        ("mouse.click", "completed"),
        ("wait", "completed"),
        ("keyboard.type", "completed"),
    ]
    assert told["screenshot"] is None


async def test_several_need_a_key_and_one_does_not(
    service: Service, machine: ScriptedMachine, link: ScriptedLink
) -> None:
    for actions in (ACTIONS, [PAUSE, LOOKING]):
        reply = await machine.act(actions)
        assert reply.faults == [(["header", "Idempotency-Key"], "missing")]
        assert "need an Idempotency-Key" in reply.json["detail"][0]["msg"]
    await link.nothing_heard()
    acting = machine.acting([CLICK])
    await link.obey(DONE.model_copy(update={"actions": DONE.actions and DONE.actions[:1]}))
    assert (await acting).status == 200


@pytest.mark.parametrize(
    ("body", "place", "kind"),
    [
        ({}, ["actions"], "missing"),
        ({"actions": None}, ["actions"], "list_type"),
        ({"actions": {"0": CLICK}}, ["actions"], "list_type"),
        ({"actions": []}, ["actions"], "number_of_actions"),
        ({"actions": [PAUSE] * (MAX_ACTIONS + 1)}, ["actions"], "number_of_actions"),
        ({"actions": [CLICK, {"operation": "klick"}]}, ["actions", "1"], "operation_unknown"),
        ({"actions": [CLICK, {"x": 1}]}, ["actions", "1"], "operation_unknown"),
        ({"actions": [CLICK, {"operation": "actions"}]}, ["actions", "1"], "operation_unknown"),
        ({"actions": [CLICK, "click"]}, ["actions", "1"], "operation_unknown"),
        ({"actions": [CLICK] * 49 + [{**CLICK, "x": 2**31}]}, ["actions", "49", "x"], None),
        (
            {"actions": [CLICK] * 49 + [{**CLICK, "xx": 1}]},
            ["actions", "49", "xx"],
            "extra_forbidden",
        ),
        ({"actions": [{**CLICK, "x": None}]}, ["actions", "0"], None),
        ({"actions": [{"operation": "wait", "seconds": 0}]}, ["actions", "0", "seconds"], None),
        (
            {"actions": [{"operation": "keyboard.key", "text": "ctrl+nokey"}]},
            ["actions", "0", "text"],
            None,
        ),
        ({"actions": [{**WAITING, "any": []}]}, ["actions", "0", "any"], "number_of_conditions"),
        (
            {"actions": [{**WAITING, "any": [{"text": "a"}]}]},
            ["actions", "0", "any", "0", "text"],
            None,
        ),
        (
            {"actions": [{"operation": "wait", "seconds": MAX_SECONDS}, PAUSE]},
            ["actions"],
            "too_long",
        ),
        (
            {"actions": [{**TYPING, "text": "a" * 1000}] * 10 + [{**COPYING, "text": "b"}]},
            ["actions"],
            "texts_too_long",
        ),
        ({"actions": [LOOKING] * (MAX_PICTURES + 1)}, ["actions"], "too_many_pictures"),
        ({"actions": [CLICK], "screenshot": {"settle": 2.1}}, ["screenshot", "settle"], None),
        ({"actions": [CLICK], "pictures": 1}, ["pictures"], "extra_forbidden"),
    ],
)
async def test_what_is_wrong_is_told_with_its_place_and_uses_no_key(
    machine: ScriptedMachine,
    link: ScriptedLink,
    key: str,
    body: dict[str, Any],
    place: list[str],
    kind: str | None,
) -> None:
    headers = {"Idempotency-Key": key}
    reply = await machine.service.post(machine.actions_path, body, headers=headers)
    (fault,) = reply.faults
    assert fault[0] == ["body", *place]
    assert kind in (None, fault[1])
    await assert_key_is_free(machine, link, key)


async def test_body_has_128_kib_at_most(
    service: Service, machine: ScriptedMachine, link: ScriptedLink, key: str
) -> None:
    headers = {"Idempotency-Key": key, "Content-Type": "application/json"}
    content = json.dumps({"actions": ACTIONS}).encode()
    for length, status in ((MAX_BODY_BYTES + 1024, 413), (MAX_BODY_BYTES, None)):
        sending = service.server.services.background.start(
            service.post(machine.actions_path, content=content.ljust(length), headers=headers),
            "a client of the test",
        )
        if status is None:
            await link.obey(DONE)
        assert (await sending).status == (status or 200)


@pytest.mark.parametrize(
    ("outcome", "status", "problem", "completed"),
    [
        (DONE, 200, None, None),
        (STOPPED, 409, "actions-stopped", 1),
        (FAILED, 502, "input-failed", 2),
        (INTERRUPTED, 502, "input-failed", 1),
        (UNKNOWN, 502, "outcome-unknown", 2),
        (OUTSIDE, 422, None, None),
        (Expired(), 504, "input-expired", None),
        (NotCarriedOut(), 503, "not-carried-out", None),
    ],
)
async def test_every_end_is_final_says_how_far_it_came_and_is_replayed_byte_for_byte(
    machine: ScriptedMachine,
    key: str,
    outcome: Outcome,
    status: int,
    problem: str | None,
    completed: int | None,
) -> None:
    async with machine.connected() as link:
        acting = machine.acting(ACTIONS, key)
        command = await link.obey(outcome)
        first = await acting
        assert first.status == status
        if problem is not None:
            assert first.problem == problem
            told = first.json
            assert (told["command_id"], told["final"]) == (str(command.command_id), True)
            assert told.get("completed") == completed
        if completed is not None:
            ends = [each["status"] for each in first.json["actions"]]
            assert ends.index(next(each for each in ends if each != "completed")) == completed
            assert first.json["screenshot"] is None
        assert_replays(await machine.act(ACTIONS, key), first)
        await link.nothing_heard()
    await machine.until_gone()
    assert_replays(await machine.act(ACTIONS, key), first)
    view = (await machine.service.get(f"/v1/commands/{command.command_id}")).json
    assert (view["operation"], view["final"]) == ("actions", True)
    assert view["answer"]["status"] == status
    assert view["answer"]["body"] == first.json


async def test_place_that_the_machine_refuses_is_that_of_the_action(
    machine: ScriptedMachine, link: ScriptedLink, key: str
) -> None:
    acting = machine.acting(ACTIONS, key)
    await link.obey(OUTSIDE)
    assert (await acting).faults == [(["body", "actions", "2", "x"], "outside")]


async def test_same_key_with_other_actions_is_422_and_the_first_stands(
    machine: ScriptedMachine, link: ScriptedLink, key: str
) -> None:
    acting = machine.acting(ACTIONS, key)
    await link.obey(DONE)
    first = await acting
    for actions, screenshot in (
        (ACTIONS[:2], None),
        ([*ACTIONS, CLICK], None),
        ([PAUSE, CLICK, TYPING], None),
        ([CLICK, PAUSE, {**TYPING, "text": "4712"}], None),
        (ACTIONS, {"format": "png"}),
    ):
        other = await machine.act(actions, key, screenshot=screenshot)
        assert other.faults == [(["header", "Idempotency-Key"], "idempotency_key_reused")]
    single = await machine.move(key)
    assert single.faults == [(["header", "Idempotency-Key"], "idempotency_key_reused")]
    assert_replays(await machine.act(ACTIONS, key), first)
    await link.nothing_heard()


@pytest.mark.usefixtures("no_waiting_for_ends")
async def test_key_in_progress_is_waited_for_and_then_409(
    service: Service, machine: ScriptedMachine, key: str
) -> None:
    actions = [CLICK, CLICK]
    async with machine.connected() as link:
        first = machine.acting(actions, key)
        command = await link.heard(Input)
        pending = await first
        assert pending.refusal == (504, "outcome-pending")
        assert pending.json["command_id"] == str(command.command_id)
        reply = await machine.act(actions, key)
        assert reply.refusal == (409, "idempotency-key-in-progress")
        assert reply.headers["Idempotency-Status"] == "in_progress"
        await link.acknowledge(command.command_id, INTERRUPTED)
        await until(lambda: not service.server.services.machines.dispatcher._ledger._under_way)
        assert (await machine.act(actions, key)).refusal == (502, "input-failed")
        await link.nothing_heard()


@pytest.mark.parametrize(
    ("actions", "screenshot", "missing"),
    [
        (ACTIONS, None, Scope.INPUT_SEND),
        ([CLICK, COPYING], None, Scope.CLIPBOARD),
        ([CLICK, WAITING], None, Scope.SCREEN_READ),
        ([CLICK, LOOKING], None, Scope.SCREEN_READ),
        ([CLICK], {}, Scope.SCREEN_READ),
    ],
)
async def test_each_action_needs_its_scope(
    service: Service,
    machine: ScriptedMachine,
    key: str,
    actions: list[dict[str, Any]],
    screenshot: Any,
    missing: Scope,
) -> None:
    async with machine.connected(hello(no_screen=None)) as link:
        token = await service.new_token(*scopes_without(missing))
        reply = await machine.act(actions, key, screenshot=screenshot, token=token)
        assert reply.refusal == (403, "forbidden")
        assert missing in reply.json["detail"]
        assert (await machine.act(actions, key, screenshot=screenshot, token=None)).status == 401
        await assert_key_is_free(machine, link, key)


async def test_inputs_alone_need_no_other_scope(
    service: Service, machine: ScriptedMachine, link: ScriptedLink, key: str
) -> None:
    acting = machine.acting(ACTIONS, key, token=await service.new_token(Scope.INPUT_SEND))
    await link.obey(DONE)
    assert (await acting).status == 200


async def test_lease_is_that_of_all_of_them(
    service: Service, machine: ScriptedMachine, link: ScriptedLink, key: str
) -> None:
    background = service.server.services.background
    taking = background.start(service.post("/v1/machines/desk-1/control"), "a person")
    await link.interrupted()
    lease = (await taking).json["id"]
    refused = await machine.act(ACTIONS, key)
    assert (refused.refusal, refused.json["reason"]) == ((503, "machine-unavailable"), "controlled")
    guessed = await machine.act(ACTIONS, key, headers={"Farhand-Control": "guessed"})
    assert guessed.refusal == (409, "control-ended")
    acting = machine.acting(ACTIONS, key, headers={"Farhand-Control": lease})
    await link.obey(DONE)
    assert (await acting).status == 200


async def test_machine_that_lacks_what_an_action_needs_is_503_and_uses_no_key(
    service: Service, machine: ScriptedMachine, key: str
) -> None:
    assert (await machine.act(ACTIONS, key)).json["reason"] == "offline"
    async with machine.connected(hello(no_input="locked")):
        assert (await machine.act(ACTIONS, key)).json["reason"] == "no_input"
    await machine.until_gone()
    async with machine.connected() as link:
        for actions, screenshot, reason in (
            ([CLICK, LOOKING], None, "no_screen"),
            ([CLICK, WAITING], None, "no_screen"),
            ([CLICK], {}, "no_screen"),
            ([CLICK, COPYING], None, "no_clipboard"),
        ):
            reply = await machine.act(actions, key, screenshot=screenshot)
            assert reply.refusal == (503, "machine-unavailable"), actions
            assert reply.json["reason"] == reason
        await service.request("PATCH", "/v1/machines/desk-1", {"paused": True})
        await link.interrupted()
        assert (await machine.act(ACTIONS, key)).json["reason"] == "paused"
        await service.request("PATCH", "/v1/machines/desk-1", {"paused": False})
        await assert_key_is_free(machine, link, key)


@pytest.mark.parametrize("settings", [{"unanswered_inputs": 1}])
async def test_busy_machine_is_429_and_uses_no_key(machine: ScriptedMachine, key: str) -> None:
    async with machine.connected() as link:
        acting = machine.acting(ACTIONS, new_key())
        command = await link.heard(Input)
        assert (await machine.act(ACTIONS, key)).refusal == (429, "machine-busy")
        await link.acknowledge(command.command_id, DONE)
        await acting
        await assert_key_is_free(machine, link, key)


async def left_open(machine: ScriptedMachine, key: str) -> str:
    """Let actions be sent and the link go; the command's id."""
    async with machine.connected() as link:
        acting = machine.acting(ACTIONS, key)
        command = await link.heard(Input)
        await link.websocket.close()
        reply = await acting
    assert reply.refusal == (504, "outcome-pending")
    assert reply.json["command_id"] == str(command.command_id)
    await machine.until_gone()
    assert (await machine.act(ACTIONS, key)).refusal == (504, "outcome-pending")
    return str(command.command_id)


@pytest.mark.parametrize(
    ("outcome", "refusal", "completed"),
    [
        (INTERRUPTED, (502, "input-failed"), 1),
        (UNKNOWN, (502, "outcome-unknown"), 2),
        (NotCarriedOut(), (503, "not-carried-out"), None),
    ],
)
async def test_prefix_is_told_once_the_machine_is_back(
    machine: ScriptedMachine,
    key: str,
    outcome: Outcome,
    refusal: tuple[int, str],
    completed: int | None,
) -> None:
    command_id = await left_open(machine, key)
    async with machine.connected(hello(sequence=9), wait_until_live=False) as link:
        question = await link.heard(Resolve)
        await link.report(question.command_id, outcome)
        await machine.until_live()
        reply = await machine.act(ACTIONS, key)
        assert reply.refusal == refusal
        assert (reply.json["command_id"], reply.json.get("completed")) == (command_id, completed)
        assert_replays(await machine.act(ACTIONS, key), reply)
        await link.nothing_heard()


async def test_lost_journal_leaves_unknown_how_far_it_came(
    machine: ScriptedMachine, key: str
) -> None:
    await left_open(machine, key)
    async with machine.connected(hello(journal_id=uuid4())) as link:
        reply = await machine.act(ACTIONS, key)
        assert reply.refusal == (502, "outcome-unknown")
        assert (reply.json["final"], reply.json["injected_at_least"]) == (True, 0)
        assert (reply.json["completed"], reply.json["actions"]) == (None, None)
        await link.nothing_heard()


async def test_failure_before_the_first_says_that_none_was_begun(
    machine: ScriptedMachine, link: ScriptedLink, key: str
) -> None:
    acting = machine.acting(ACTIONS, key)
    await link.obey(Failed(code="desktop_unavailable", message="gone", injected_at_least=0))
    reply = await acting
    assert reply.refusal == (502, "input-failed")
    assert (reply.json["completed"], reply.json["actions"]) == (0, [])


async def test_nothing_that_is_typed_or_copied_is_told_back_logged_or_kept(
    service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, logger="server")
    machine, key = await service.new_machine(), new_key()
    greeting = hello().model_copy(update={"clipboard_write": Capability(available=True)})
    typing, copying = {**TYPING, "text": WORD}, {**COPYING, "text": WORD}
    async with listening(service) as told, machine.connected(greeting) as link:
        acting = machine.acting([CLICK, copying, typing], key)
        command = await link.obey(DONE)
        replies = [await acting, await machine.act([CLICK, copying, typing], key)]
        for wrong in ({"operation": WORD}, {**CLICK, "xx": WORD}, {**typing, "texts": WORD}, WORD):
            replies.append(await machine.act([typing, wrong], key))
            assert replies[-1].status == 422
            assert {entry["input"] for entry in replies[-1].json["detail"]} == {None}
        replies.append(await machine.act([typing, CLICK], key))
        replies.append(await machine.act([typing] * (MAX_ACTIONS + 1), key))
        event = await told.until(lambda event: event.type == "command")
    operation = service.server.services.operation
    await until(lambda: operation.recorder.waiting == 0)
    replies += [
        await service.get(path)
        for path in ("/v1/audit", "/v1/machines/desk-1/commands", "/metrics")
    ]
    service.flush_access_log()
    stored = [
        await operation.database.collection(name).find({}).to_list(None)
        for name in ("commands", "audit")
    ]
    assert str(command.command_id) in str(event.data)
    logged = "".join(
        record.getMessage() for record in caplog.records if record.name.startswith("server")
    )
    assert str(command.command_id) in logged
    seen = [*(reply.body.decode() for reply in replies), logged, str(stored), str(event.data)]
    assert not [each for each in seen if WORD in each.lower()]


async def test_audit_and_counts_have_what_was_done(service: Service) -> None:
    async with service.joined() as (machine, link):
        for outcome in (DONE, FAILED, UNKNOWN, STOPPED):
            acting = machine.acting(ACTIONS, new_key())
            await link.obey(outcome)
            await acting
    await until(lambda: service.server.services.operation.recorder.waiting == 0)
    listed = (await service.get("/v1/machines/desk-1/commands")).json["items"]
    entries = (await service.get("/v1/audit?action=input.actions")).json["items"]
    for each in (listed, entries):
        assert [one["note"] for one in reversed(each)] == [
            "3 actions: 1 click, 1 text, 1 pause",
            "2 of 3 actions: 1 click, 1 pause",
            "2 of 3 actions: 1 click, 1 pause",
            "1 of 3 actions: 1 click",
        ]
    assert [one["outcome"] for one in reversed(listed)] == [
        "completed",
        "failed",
        "unknown",
        "stopped",
    ]
    metrics = (await service.get("/metrics")).body.decode()
    for name in ("completed", "failed", "unknown", "stopped"):
        line = rf'^farhand_inputs_total{{operation="actions",outcome="{name}"}} [1-9]'
        assert re.search(line, metrics, re.MULTILINE), name


async def test_pictures_that_take_too_long_to_come_are_left_out_with_a_word(
    machine: ScriptedMachine, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.api.machines.actions.PICTURES_SECONDS", -1)
    done = DONE.model_copy(
        update={
            "actions": (
                *results("completed", "completed", "completed")[:1],
                ActionResult(operation="screenshot", status="completed", duration_ms=9.0),
            )
        }
    )
    async with machine.connected(hello(no_screen=None)) as link:
        acting = machine.acting([CLICK, LOOKING], key, screenshot={})
        await link.obey(done)
        reply = await acting
        await link.nothing_heard()
    left_out = {"left_out": "the pictures before it took too long to come"}
    assert (reply.status, reply.json["screenshot"]) == (200, left_out)
    assert [each.get("picture") for each in reply.json["actions"]] == [None, left_out]
