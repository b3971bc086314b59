"""A hand's websocket, with a machine that the test plays."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import ValidationError
from tornado.websocket import WebSocketProtocol13
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.frames import Frame, Opcode

from schemas.inputs import key_combinations
from schemas.inputs.hand import Batch
from schemas.inputs.key_combinations import Chord, parse_combination
from schemas.inputs.outcomes import Failed
from schemas.inputs.outcomes import Refused as RefusedOutcome
from schemas.link.messages import Input, Interrupt, Interrupted
from schemas.resources.tokens import Scope
from server.api.machines import hand as hand_module
from server.dispatch.hand import hand as dispatch_module
from server.machines.link.frame_budget import BURST
from tests.clock import Clock
from tests.hand_client import (
    HandClient,
    button,
    hand_path,
    handshake,
    key,
    move,
    stroke,
    wheel,
)
from tests.server.api.machines.test_control import CONTROL, begin, confirms, held_by, taken
from tests.service import PATIENCE_SECONDS, ScriptedLink, Service, until

SILENT_SECONDS = hand_module.SILENT_SECONDS
OVER = (4501, "this control lease is over, or is another machine's or caller's")


@pytest.fixture(autouse=True)
def nobody_is_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine may have a hand's program rest for longer than the usual seconds."""
    monkeypatch.setattr(hand_module, "SILENT_SECONDS", PATIENCE_SECONDS)


@asynccontextmanager
async def hand_on(
    service: Service, link: ScriptedLink, lease: str = ""
) -> AsyncIterator[HandClient]:
    lease = lease or await taken(service, link)
    path = hand_path("desk-1", lease)
    async with HandClient.on(service.url, path, service.token) as hand:
        yield hand


def does(command: Input) -> tuple[str, dict[str, Any]]:
    """An input's operation, and what of its body says anything."""
    said = {name: value for name, value in command.body.items() if value is not None}
    said.pop("clicks", None)
    return str(command.operation), said


async def test_events_become_inputs_in_order_and_are_acknowledged(service: Service) -> None:
    async with service.joined() as (_, link), hand_on(service, link) as hand:
        first = await hand.does(move(1, 2), button(True, x=1, y=2))
        second = await hand.does(
            button(False), wheel("down", 3), *stroke("a"), {"type": "text", "text": "漢字"}
        )
        commands = [await link.heard(Input) for _ in range(7)]
        assert [does(each) for each in commands] == [
            ("mouse.move", {"x": 1, "y": 2}),
            ("mouse.click", {"x": 1, "y": 2, "button": "left", "down": True}),
            ("mouse.click", {"button": "left", "down": False}),
            ("mouse.scroll", {"direction": "down", "amount": 3}),
            ("keyboard.key", {"text": "a", "down": True}),
            ("keyboard.key", {"text": "a", "down": False}),
            ("keyboard.type", {"text": "漢字"}),
        ]
        for command in commands[:2]:
            await link.acknowledge(command.command_id)
        assert await hand.hears() == {"type": "acknowledged", "sequence": first}
        for command in commands[2:]:
            await link.acknowledge(command.command_id)
        assert await hand.hears() == {"type": "acknowledged", "sequence": second}
        await hand.does()
        await hand.until_acknowledged()


async def test_moves_that_wait_are_merged_and_never_across_anything_else(service: Service) -> None:
    async with service.joined() as (_, link), hand_on(service, link) as hand:
        await hand.does(*(move(x, x) for x in range(10)))
        await hand.does(*(move(x, 0) for x in range(10, 20)))
        under_way = [await link.heard(Input) for _ in range(2)]
        for number in range(2):
            assert does(under_way[number])[1]["x"] == (9, 19)[number]
            assert len(under_way[number].body["path"]) == 9
        for x in (20, 30):
            await hand.does(move(x, 1))
            under_way.append(await link.heard(Input))
        # As many moves are under way as may be; these wait, and become one.
        for x in (40, 50, 50, 60):
            await hand.does(move(x, 1))
        await link.nothing_heard()
        # What comes behind lets it go.
        await hand.does(move(70, 1), button(True), move(80, 1))
        merged, press = [await link.heard(Input) for _ in range(2)]
        assert merged.body == {"x": 70, "y": 1, "path": [{"x": x, "y": 1} for x in (40, 50, 60)]}
        assert press.operation == "mouse.click"
        for command in (*under_way, merged, press):
            await link.acknowledge(command.command_id)
        assert does(await link.obey())[1] == {"x": 80, "y": 1}
        await hand.until_acknowledged()


async def test_modifier_is_confirmed_before_anything_follows_it(service: Service) -> None:
    async with service.joined() as (_, link), hand_on(service, link) as hand:
        await hand.does(key("ctrl", True), *stroke("w"))
        ctrl = await link.heard(Input)
        await link.nothing_heard()
        there = Failed(code="already_down", message="Somebody holds it", injected_at_least=0)
        await link.acknowledge(ctrl.command_id, there)
        refused = await hand.hears()
        assert refused == {
            "type": "refused",
            "sequence": 1,
            "problem": "input-failed",
            "detail": "the machine tried and failed: Somebody holds it",
            "not_sent": {"moves": 0, "presses": [], "notches": 0, "keys": 2, "characters": 0},
        }
        # What was held is released, and no w was typed.
        assert does(await link.obey()) == ("keyboard.key", {"text": "ctrl", "down": False})
        await hand.until_acknowledged()
        await link.nothing_heard()
        await hand.does(*stroke("x"))
        for down in (True, False):
            assert does(await link.obey())[1] == {"text": "x", "down": down}
        await hand.until_acknowledged()


async def test_refusal_names_what_was_not_sent(service: Service) -> None:
    async with service.joined() as (_, link), hand_on(service, link) as hand:
        await hand.does(*(move(x, 5) for x in range(4)))
        unknown = [await link.heard(Input)]
        for name in "abcdefghijklmno":
            await hand.does(key(name, True))
            unknown.append(await link.heard(Input))
        # Sixteen are under way.
        await hand.does(button(True, "right", x=7, y=8), button(False, "right"), wheel("up", 2))
        await hand.does(*stroke("z"), {"type": "text", "text": "pass"}, move(1, 1), move(2, 2))
        await link.nothing_heard()
        lacks = RefusedOutcome(code="key_not_typeable", message="There is no such key")
        for number, command in enumerate(unknown):
            await link.acknowledge(command.command_id, lacks if number == 0 else None)
        refused = await hand.hears()
        assert (refused["problem"], refused["sequence"]) == ("key_not_typeable", 1)
        assert refused["not_sent"] == {
            "moves": 6,
            "presses": [{"button": "right", "x": 7, "y": 8}],
            "notches": 2,
            "keys": 1,
            "characters": 4,
        }
        released = await link.obey()
        assert does(released)[1] == {"text": " ".join("abcdefghijklmno"), "down": False}
        await hand.until_acknowledged()


async def test_all_that_is_held_is_released_when_the_websocket_goes(service: Service) -> None:
    async with service.joined() as (_, link):
        lease = await taken(service, link)
        async with hand_on(service, link, lease) as hand:
            await hand.does(button(True), key("shift", True), key("A", True))
            await link.obey()
            await link.obey()
            await link.obey()
            await hand.until_acknowledged()
            hand.websocket.transport.abort()  # As a network that goes: no word of farewell.
        assert does(await link.obey())[1] == {"text": "shift A", "down": False}
        assert does(await link.obey())[1] == {"button": "left", "down": False}
        await link.nothing_heard()
        # The lease lives.
        assert (await service.request("PUT", f"{CONTROL}/{lease}")).status == 200


async def test_releasing_goes_on_where_somebody_holds_one_of_the_keys(service: Service) -> None:
    async with service.joined() as (_, link):
        async with hand_on(service, link) as hand:
            await hand.does(key("a", True), key("b", True))
            await link.obey()
            await link.obey()
            await hand.until_acknowledged()
        theirs = Failed(code="already_down", message="Somebody holds it", injected_at_least=0)
        assert does(await link.obey(theirs))[1] == {"text": "a b", "down": False}
        assert does(await link.obey(theirs))[1] == {"text": "b", "down": False}
        assert does(await link.obey())[1] == {"text": "a", "down": False}


async def test_hand_ends_soon_after_its_lease_however_that_ends(service: Service) -> None:
    async with service.joined() as (_, link):
        lease = await taken(service, link)
        async with hand_on(service, link, lease) as hand:
            ending = begin(service, "DELETE", f"{CONTROL}/{lease}")
            await confirms(link)
            assert (await ending).status == 204
            assert await hand.closed() == OVER
        async with hand_on(service, link) as hand:
            taking = begin(service, "POST", body={"take_over": True})
            await confirms(link)
            reply = await taking
            assert await hand.closed() == OVER
        # A token that is revoked takes its lease along.
        made = await service.new_token(Scope.INPUT_SEND, Scope.MACHINES_CONTROL)
        taking = begin(service, "POST", body={"take_over": True}, token=made)
        await confirms(link)
        reply = await taking
        path = hand_path("desk-1", reply.json["id"])
        async with HandClient.on(service.url, path, made) as hand:
            tokens = (await service.get("/v1/tokens")).json["items"]
            token_id = next(each["id"] for each in tokens if each["name"] == "of a test")
            revoked = begin(service, "DELETE", f"/v1/tokens/{token_id}")
            await link.say(Interrupted(request=(await link.heard(Interrupt)).request))
            assert (await revoked).status == 204
            assert await hand.closed() == OVER


async def test_input_finds_out_at_once_that_control_has_ended(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hand_module, "LEASE_POLL_SECONDS", 60.0)
    async with service.joined() as (_, link), hand_on(service, link) as hand:
        taking = begin(service, "POST", body={"take_over": True})
        await confirms(link)
        await taking
        await hand.does(button(True, x=1, y=2))
        refused = await hand.hears()
        assert refused["problem"] == "control-ended"
        assert refused["not_sent"]["presses"] == [{"button": "left", "x": 1, "y": 2}]
        assert await hand.closed() == OVER
        await link.nothing_heard()


@pytest.mark.parametrize("lease", ["guessed", "x" * 200])
async def test_lease_that_is_none_opens_nothing(service: Service, lease: str) -> None:
    async with service.joined() as (_, link), hand_on(service, link, lease) as hand:
        assert await hand.closed() == OVER


async def test_somebody_elses_lease_opens_nothing(service: Service) -> None:
    async with service.joined() as (_, link):
        path = hand_path("desk-1", await taken(service, link))
        other = await service.new_token(Scope.INPUT_SEND, Scope.MACHINES_CONTROL)
        async with HandClient.on(service.url, path, other) as hand:
            assert await hand.closed() == OVER
        foreign = {"Authorization": f"Bearer {(await service.elsewhere()).token}"}
        assert await status_of(handshake(service.url, path, foreign)) == 404


async def status_of(attempt: Any) -> int:
    with pytest.raises(InvalidStatus) as caught:
        await attempt
    return caught.value.response.status_code


async def test_handshake_is_checked(service: Service) -> None:
    async with service.joined() as (_, link):
        path = hand_path("desk-1", await taken(service, link))
        url, own = service.url, {"Authorization": f"Bearer {service.token}"}
        reader = await service.new_token(Scope.MACHINES_CONTROL)
        assert await status_of(handshake(url, path, {})) == 401
        reading = {"Authorization": f"Bearer {reader}"}
        assert await status_of(handshake(url, path, reading)) == 403
        assert await status_of(handshake(url, path, own, "chat")) == 426
        for foreign in (
            {"Origin": "http://evil.example"},
            {"Sec-Fetch-Site": "same-site", "Origin": url},
        ):
            assert await status_of(handshake(url, path, {**own, **foreign})) == 403
        async with handshake(url, path, {**own, "Origin": url}) as websocket:
            assert websocket.subprotocol == "farhand.hand.v1"


WRONG: list[tuple[Any, int, str]] = [
    ("no json", 4502, "Invalid JSON"),
    (b"\x00", 4502, "messages are text"),
    ({"sequence": 1}, 4502, "events: "),
    ({"sequence": True, "events": []}, 4502, "sequence: "),
    ({"sequence": 1, "events": [], "hunter2": 1}, 4502, "Extra inputs are not permitted"),
    ({"sequence": 1, "events": [{"type": "hunter2"}]}, 4502, "events.0: the type must be move, "),
    ({"sequence": 1, "events": [move(1, 1) | {"hunter2": 1}]}, 4502, "events.0.move: Extra inputs"),
    ({"sequence": 1, "events": [{"type": "move", "x": 1.5, "y": 1}]}, 4502, "events.0.move.x: "),
    ({"sequence": 1, "events": [key("hunter2", True)]}, 4502, "events.0.key.key: "),
    ({"sequence": 1, "events": [key("ctrl+a", True)]}, 4502, "events.0.key.key: must name one"),
    ({"sequence": 1, "events": [move(1, 1)] * 257}, 4502, "events: "),
    ({"sequence": 2, "events": []}, 4503, "batch 2 came where 1 is the next"),
]


@pytest.mark.parametrize(("message", "code", "reason"), WRONG)
async def test_what_is_not_understood_ends_it_and_nothing_of_it_is_done(
    service: Service,
    caplog: pytest.LogCaptureFixture,
    message: Any,
    code: int,
    reason: str,
) -> None:
    caplog.set_level(logging.INFO)
    async with service.joined() as (_, link), hand_on(service, link) as hand:
        await hand.says(message)
        closed, words = await hand.closed()
        assert (closed, words[: len(reason)]) == (code, reason)
        assert "hunter2" not in words + caplog.text
        await link.nothing_heard()


async def test_batch_that_comes_again_or_too_early_ends_it_and_releases(service: Service) -> None:
    async with service.joined() as (_, link), hand_on(service, link) as hand:
        await hand.does(button(True))
        await link.obey()
        await hand.until_acknowledged()
        await hand.says({"sequence": 1, "events": [move(1, 1)]})
        assert await hand.closed() == (4503, "batch 1 came where 2 is the next")
        assert does(await link.obey())[1] == {"button": "left", "down": False}
        await link.nothing_heard()


def test_keys_that_are_no_keys_are_not_looked_for_one_by_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked: list[str] = []

    def parsed(text: str) -> tuple[Chord, ...]:
        looked.append(text)
        return parse_combination(text)

    monkeypatch.setattr(key_combinations, "parse_combination", parsed)
    for name, looks in (("a " * 2048, 0), ("no-such-key", 1), ("ctrl+a", 1)):
        looked.clear()
        with pytest.raises(ValidationError) as refused:
            Batch.model_validate({"sequence": 1, "events": [key(name, True)] * 60})
        assert len(refused.value.errors()) == 1
        assert len(looked) == looks


FLOODS = {
    "pongs": Frame(Opcode.PONG, b""),
    "pings": Frame(Opcode.PING, b""),
    "parts of a message": Frame(Opcode.CONT, b"", fin=False),
}


@pytest.mark.parametrize("kind", FLOODS)
async def test_flood_of_frames_is_cut_off_and_not_read_on(
    service: Service, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    frames, receive = 0, WebSocketProtocol13._receive_frame

    async def counted(protocol: WebSocketProtocol13) -> None:
        nonlocal frames
        frames += 1
        await receive(protocol)

    monkeypatch.setattr(WebSocketProtocol13, "_receive_frame", counted)
    async with service.joined() as (_, link), hand_on(service, link) as hand:
        transport = hand.websocket.transport
        if kind == "parts of a message":
            transport.write(Frame(Opcode.TEXT, b"", fin=False).serialize(mask=True))
        many = FLOODS[kind].serialize(mask=True) * BURST
        for _ in range(40):
            transport.write(many)
            await asyncio.sleep(0)
        await hand.websocket.wait_closed()
        assert frames < 10 * BURST
        await link.nothing_heard()


@pytest.mark.parametrize("events", [[], stroke("a") * 128])
async def test_flood_ends_it(service: Service, events: list[Any]) -> None:
    async with service.joined() as (_, link), hand_on(service, link) as hand:
        flooding = service.server.services.background.start(flood(hand, events), "a flood")
        code, words = await hand.closed()
        assert code == 4504, words
        await flooding
        # As many as may be under way at once, and what releases what they held.
        sent = [await link.heard(Input) for _ in range(16 if events else 0)]
        for command in sent:
            await link.acknowledge(command.command_id)
        await link.nothing_heard()


async def flood(hand: HandClient, events: list[Any]) -> None:
    for _ in range(2000):
        if hand.websocket.close_code is not None:
            return
        with suppress(ConnectionClosed):
            await hand.does(*events)


async def test_newer_websocket_with_the_same_lease_replaces_the_older(service: Service) -> None:
    async with service.joined() as (_, link):
        lease = await taken(service, link)
        async with hand_on(service, link, lease) as older:
            await older.does(button(True))
            await link.obey()
            await older.until_acknowledged()
            async with hand_on(service, link, lease) as newer:
                assert await older.closed() == (4500, "the same lease has a newer websocket")
                assert does(await link.obey())[1] == {"button": "left", "down": False}
                await newer.does(move(1, 1))
                await link.obey()
                await newer.until_acknowledged()
                assert len(service.server.services.machines.hands) == 1
        await until(lambda: not service.server.services.machines.hands)


async def test_websocket_that_nobody_reads_ends(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hand_module, "LEASE_POLL_SECONDS", 0.02)
    async with service.joined() as (_, link), hand_on(service, link) as hand:
        await hand.does(button(True))
        await link.obey()
        hand.websocket.transport.pause_reading()
        monkeypatch.setattr(hand_module, "SILENT_SECONDS", 0.2)
        assert does(await link.obey())[1] == {"button": "left", "down": False}
        hand.websocket.transport.resume_reading()
        assert (await hand.closed())[0] == 4002


async def test_websocket_is_silent_after_four_seconds(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    monkeypatch.setattr(hand_module, "time", SimpleNamespace(monotonic=clock))
    monkeypatch.setattr(hand_module, "SILENT_SECONDS", SILENT_SECONDS)
    monkeypatch.setattr(hand_module, "LEASE_POLL_SECONDS", 0.05)
    async with service.joined() as (_, link), hand_on(service, link) as hand:
        hand.websocket.transport.pause_reading()
        # First what was answered before is heard.
        for clock.now in (0.0, 3.5):
            await asyncio.sleep(3 * hand_module.LEASE_POLL_SECONDS)
            assert len(service.server.services.machines.hands) == 1
        clock.now = 4.5
        await until(lambda: not service.server.services.machines.hands)
        hand.websocket.transport.resume_reading()
        assert (await hand.closed())[0] == 4002


async def test_server_that_stops_says_so(service: Service) -> None:
    async with service.joined() as (_, link), hand_on(service, link) as hand:
        service.server.services.operation.leaving = True
        try:
            assert await hand.closed() == (4000, "the server is stopping")
        finally:
            service.server.services.operation.leaving = False


async def test_machine_that_goes_is_said_and_the_hand_stays(service: Service) -> None:
    async with service.joined() as (machine, link):
        lease = await taken(service, link)
        async with hand_on(service, link, lease) as hand:
            await link.websocket.close()
            await machine.until_gone()
            await hand.does(*stroke("a"))
            refused = await hand.hears()
            assert refused["problem"] == "machine-unavailable"
            assert refused["not_sent"]["keys"] == 1
            await hand.until_acknowledged()
            async with machine.connected() as newer:
                await machine.until_live()
                await hand.does(move(1, 1))
                await newer.obey()
                await hand.until_acknowledged()


async def test_stretch_has_its_end_where_the_websocket_closes_before_the_inputs_do(
    service: Service,
) -> None:
    async with service.joined() as (_, link):
        lease = await taken(service, link)
        async with hand_on(service, link, lease) as hand:
            await hand.does(button(True), button(False), *stroke("q"))
            await link.obey()
        for _ in range(3):
            await link.obey()
        async with asyncio.timeout(PATIENCE_SECONDS):
            while True:
                found = (await service.get("/v1/audit?action=control.worked")).json["items"]
                if found and "so far" not in found[0]["note"]:
                    break
                await asyncio.sleep(0.02)
    (entry,) = found
    assert entry["note"].startswith("1 click, 1 character, in ")
    assert (entry["command"]["outcome"], entry["command"]["inputs"]) == ("completed", 2)


async def test_audit_has_one_entry_for_a_stretch_and_no_text_and_no_log_has_the_lease(
    service: Service, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(hand_module, "LEASE_POLL_SECONDS", 0.02)
    # Nobody rests before all is done, however slowly that goes.
    monkeypatch.setattr(dispatch_module, "REST_SECONDS", 3600.0)
    caplog.set_level(logging.DEBUG, "server")

    async def work() -> list[dict[str, Any]]:
        found = (await service.get("/v1/audit?action=control.worked")).json["items"]
        return list(found)

    async def until_there_are(count: int) -> list[dict[str, Any]]:
        with monkeypatch.context() as patch:
            patch.setattr(dispatch_module, "REST_SECONDS", 0.0)
            async with asyncio.timeout(PATIENCE_SECONDS):
                while True:
                    found = await work()
                    if len(found) == count and "so far" not in found[0]["note"]:
                        return found
                    await asyncio.sleep(0.02)

    async with service.joined() as (_, link):
        lease = await taken(service, link)
        async with hand_on(service, link, lease) as hand:
            await hand.does(move(1, 1), move(2, 2), button(True), button(False), *stroke("q"))
            for _ in range(5):
                await link.obey()
            await hand.until_acknowledged()
            (entry,) = await until_there_are(1)
            assert entry["note"].startswith("1 click, 1 character, in ")
            assert (entry["token_name"], entry["machine_id"]) == ("administrator", "desk-1")
            await hand.does({"type": "text", "text": "hunter2"}, wheel("up"))
            for _ in range(2):
                await link.obey()
            await hand.until_acknowledged()
        newest, _ = await until_there_are(2)
        assert newest["note"].startswith("7 characters, 1 wheel notch, in ")
        listed = (await service.get("/v1/machines/desk-1/commands")).json
        assert listed["total"] == 2
        told = ("operation", "outcome", "inputs", "note", "token_name")
        first = listed["items"][0]
        assert [first[name] for name in told] == [
            *("hand", "completed", 8, newest["note"], "administrator")
        ]
        assert (newest["command"], newest["target"]) == (first, "desk-1")
        counts = (await service.get("/v1/machines/desk-1")).json["inputs"]
        assert counts == {"completed": 10, "failed": 0}
        everything = (await service.get("/v1/audit")).body.decode()
        assert "hunter2" not in everything
        assert "input." not in everything
        moving = begin(
            service,
            "POST",
            "/v1/computer/desk-1/input/mouse/move",
            body={"x": 1, "y": 1},
            headers=held_by(lease),
        )
        await link.obeys(moving)
        assert (await service.get(hand_path("desk-1", lease))).status == 426
    service.flush_access_log()
    assert "/control/.../hand" in caplog.text
    assert lease not in caplog.text
    assert "hunter2" not in caplog.text
