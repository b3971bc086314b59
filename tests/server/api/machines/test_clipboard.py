"""Reading and writing the clipboard of a machine over HTTP."""

import asyncio
import gc
import json
from typing import Any

import pytest

from schemas.inputs.bodies import Operation, WriteClipboard
from schemas.inputs.clipboard_texts import MAX_CLIPBOARD_BYTES
from schemas.inputs.outcomes import Failed
from schemas.link.clipboard_messages import (
    ClipboardFailed,
    ClipboardNext,
    ClipboardQuery,
    ClipboardRead,
    InputText,
)
from schemas.link.messages import Capability, Hello, Input
from schemas.resources.tokens import Scope
from server.api.machines.clipboard import MAX_BODY_BYTES
from server.dispatch.here import clipboard as reading
from server.dispatch.questions.clipboard import TextRead
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

CAN = Capability(available=True)
OFF = Capability(available=False, reason="its owner lets nobody", switched_off=True)
PATH = "/v1/computer/desk-1/clipboard"
LONG = "".join(f"line {number} é\r\n" for number in range(60_000))


def able(read: Capability = CAN, write: Capability = CAN) -> Hello:
    return hello().model_copy(update={"clipboard_read": read, "clipboard_write": write})


def reading_it(service: Service, query: str = "") -> "asyncio.Task[Reply]":
    background = service.server.services.background
    return background.start(service.get(PATH + query), "a client of the test")


def writing(service: Service, body: Any, key: str | None = None) -> "asyncio.Task[Reply]":
    headers = {} if key is None else {"Idempotency-Key": key}
    background = service.server.services.background
    return background.start(
        service.request("PUT", PATH, body, headers=headers), "a client of the test"
    )


async def copied(link: ScriptedLink) -> tuple[Input, str]:
    """The input that copies something, and its text."""
    text = ""
    while True:
        message = await link.next_message()
        assert isinstance(message, InputText | Input)
        if isinstance(message, Input):
            return message, text + str(message.body["text"])
        assert message.begin == len(text)
        text += message.text


@pytest.mark.parametrize("text", ["", "a\r\n\x01\u20ac\U0001f600", LONG])
async def test_text_is_written_as_it_is(service: Service, text: str) -> None:
    async with service.joined(able()) as (_, link):
        writes = writing(service, {"text": text, "selection": "primary"})
        command, got = await copied(link)
        assert (command.operation, got) == (Operation.CLIPBOARD_WRITE, text)
        assert command.body["selection"] == "primary"
        await link.acknowledge(command.command_id)
        reply = await writes
        assert (reply.status, reply.json["operation"]) == (200, "clipboard.write")
        assert "text" not in reply.json


@pytest.mark.parametrize("is_keyed", [False, True])
@pytest.mark.usefixtures("no_garbage_collection", "no_waiting_for_ends")
async def test_text_that_nobody_acknowledges_is_not_kept(service: Service, is_keyed: bool) -> None:
    secret = f"secret {new_key()}"
    async with service.joined(able()) as (_, link):
        for _ in range(3):
            key = new_key() if is_keyed else None
            writes = writing(service, {"text": secret}, key)
            await copied(link)
            assert (await writes).refusal == (504, "outcome-pending")
        # The machine may still answer, so the link keeps what it needs for that.
        await until(lambda: not kept(secret))


@pytest.mark.parametrize("is_keyed", [False, True])
@pytest.mark.usefixtures("no_garbage_collection")
async def test_text_that_is_refused_is_not_kept(service: Service, is_keyed: bool) -> None:
    secret = f"secret {new_key()}"
    await service.new_machine()
    for _ in range(3):
        reply = await writing(service, {"text": secret}, new_key() if is_keyed else None)
        assert (reply.status, reply.json["reason"]) == (503, "offline")
    await until(lambda: not kept(secret))


def kept(text: str) -> list[str]:
    """What of the server's own holds a text: objects by their kind; a command has it in a body."""
    kinds = (WriteClipboard, Input, TextRead)
    bodies = (each for each in gc.get_objects() if type(each) in kinds)
    return [type(each).__name__ for each in bodies if text in str(vars(each).values())]


async def test_key_copies_once_and_belongs_to_one_text(service: Service) -> None:
    machine, key = await service.new_machine(), new_key()
    async with machine.connected(able()) as link:
        writes = writing(service, {"text": LONG}, key)
        command, text = await copied(link)
        assert text == LONG
        await link.acknowledge(command.command_id)
        first = await writes
        again = await writing(service, {"text": LONG}, key)
        assert (again.status, again.body) == (200, first.body)
        assert again.headers["Idempotency-Replayed"] == "true"
        other = await writing(service, {"text": f"{LONG}!"}, key)
        assert other.faults == [(["header", "Idempotency-Key"], "idempotency_key_reused")]
        await link.nothing_heard()


async def test_answer_may_be_short(service: Service, machine: ScriptedMachine) -> None:
    async with machine.connected(able()) as link:
        background = service.server.services.background
        asked = service.request("PUT", PATH, {"text": "a"}, headers={"Prefer": "return=minimal"})
        writes = background.start(asked, "a client of the test")
        reply = await link.reply_to(writes)
        assert (reply.status, reply.body) == (204, b"")


async def test_machine_that_fails_is_told(service: Service, machine: ScriptedMachine) -> None:
    async with machine.connected(able()) as link:
        writes = writing(service, {"text": "a"})
        await link.obey(Failed(code="clipboard_taken", message="why", injected_at_least=0))
        reply = await writes
        assert (reply.status, reply.problem, reply.json["code"]) == (
            502,
            "input-failed",
            "clipboard_taken",
        )


WRONG = {
    "too long": ({"text": "é" * (MAX_CLIPBOARD_BYTES // 2 + 1)}, "text_too_long"),
    "null": ({"text": "hunter2\0"}, "text_with_null"),
    "no string": ({"text": 7}, "string_type"),
    "nothing": ({}, "missing"),
    "another selection": ({"text": "a", "selection": "secondary"}, "literal_error"),
    "another field": ({"text": "a", "txt": "hunter2"}, "extra_forbidden"),
    "half a character": (b'{"text": "hunter2\\ud800"}', "json_invalid"),
    "not UTF-8": (b'{"text": "hunter2\xff"}', "json_invalid"),
}


@pytest.mark.parametrize(("body", "kind"), WRONG.values(), ids=WRONG)
async def test_what_is_no_text_is_refused(service: Service, body: Any, kind: str) -> None:
    async with service.joined(able()) as (_, link):
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        reply = await service.request("PUT", PATH, content=content)
        assert [fault[1] for fault in reply.faults] == [kind]
        assert b"hunter2" not in reply.body
        await link.nothing_heard()


async def test_ten_megabytes_are_refused(service: Service, machine: ScriptedMachine) -> None:
    async with machine.connected(able()) as link:
        reply = await writing(service, {"text": "a" * 10 * MAX_CLIPBOARD_BYTES})
        assert (reply.status, reply.problem) == (413, "body-too-large")
        await link.nothing_heard()


async def test_longest_text_may_be_escaped(service: Service, machine: ScriptedMachine) -> None:
    text = "\x01" * MAX_CLIPBOARD_BYTES
    assert len(json.dumps({"text": text, "selection": "clipboard"})) < MAX_BODY_BYTES
    async with machine.connected(able()) as link:
        writes = writing(service, {"text": text})
        command, got = await copied(link)
        assert got == text
        await link.acknowledge(command.command_id)
        assert (await writes).status == 200


@pytest.mark.parametrize("query", ["", "?selection=primary"])
async def test_text_is_read(service: Service, machine: ScriptedMachine, query: str) -> None:
    async with machine.connected(able()) as link:
        reads = reading_it(service, query)
        asked = await link.heard(ClipboardQuery)
        assert asked.selection == ("primary" if query else "clipboard")
        await link.say(ClipboardRead(request=asked.request, text="a" * 2000, more=True))
        following = await link.heard(ClipboardNext)
        assert following.request == asked.request
        await link.say(ClipboardRead(request=asked.request, text="\u20ac\x01"))
        reply = await reads
        assert (reply.status, reply.json) == (200, {"text": "a" * 2000 + "\u20ac\x01"})
        assert "no-store" in reply.headers["Cache-Control"]


async def test_clipboard_that_cannot_be_read_is_told(service: Service) -> None:
    async with service.joined(able()) as (_, link):
        reads = reading_it(service)
        asked = await link.heard(ClipboardQuery)
        await link.say(
            ClipboardFailed(request=asked.request, code="clipboard_no_text", reason="an image")
        )
        reply = await reads
        assert (reply.status, reply.problem) == (502, "clipboard-unreadable")
        assert (reply.json["code"], reply.json["detail"]) == ("clipboard_no_text", "an image")


async def test_machine_that_does_not_answer(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "ANSWER_SECONDS", 0.05)
    async with service.joined(able()):
        reply = await service.get(PATH)
        assert (reply.status, reply.json["reason"]) == (503, "no_clipboard")


async def test_link_that_ends_meanwhile(service: Service, machine: ScriptedMachine) -> None:
    async with machine.connected(able()) as link:
        reads = reading_it(service)
        await link.heard(ClipboardQuery)
        await link.websocket.close()
        reply = await reads
        assert (reply.status, reply.json["reason"]) == (503, "offline")


async def test_each_way_may_be_impossible(service: Service) -> None:
    machine, key = await service.new_machine(), new_key()
    async with machine.connected(able(OFF, OFF)) as link:
        for reply in (
            await service.get(PATH),
            await writing(service, {"text": "a"}),
            await writing(service, {"text": "a"}, key),
        ):
            assert (reply.status, reply.json["reason"]) == (503, "no_clipboard")
            assert "its owner lets nobody" in reply.json["detail"]
        await link.nothing_heard()
    # Nothing was sent, so the key is as good as new.
    await machine.until_gone()
    async with machine.connected(able()) as link:
        writes = writing(service, {"text": "b"}, key)
        await link.obeys(writes)


async def test_needs_its_own_scope(service: Service) -> None:
    await service.new_machine()
    without = await service.new_token(*scopes_without(Scope.CLIPBOARD))
    for reply in (
        await service.get(PATH, token=without),
        await service.request("PUT", PATH, {"text": "a"}, token=without),
    ):
        assert (reply.status, reply.json["scope"]) == (403, "clipboard")


async def test_paused_machine_is_read_and_not_written(service: Service) -> None:
    async with service.joined(able()) as (machine, link):
        await service.request("PATCH", f"/v1/machines/{machine.machine_id}", {"paused": True})
        await link.interrupted()
        written = await writing(service, {"text": "a"})
        assert (written.status, written.json["reason"]) == (503, "paused")
        reads = reading_it(service)
        asked = await link.heard(ClipboardQuery)
        await link.say(ClipboardRead(request=asked.request, text="still"))
        assert (await reads).json == {"text": "still"}
