"""How a request for an input ends, row by row of the design's table; here without a key."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from schemas.inputs.bodies import Operation
from schemas.inputs.outcomes import Expired, Failed, Refused, Unknown
from schemas.link.messages import Input
from schemas.resources.tokens import Scope
from schemas.values.times import format_time
from tests.links import hello
from tests.service import ScriptedMachine, Service, until

SCROLL = {"direction": "up", "amount": 1}
DRAG = {"start_x": 1, "start_y": 2, "to_x": 3, "to_y": 4}

IN = {"in": {"width": 10, "height": 20}}
MODIFIED = {"modifiers": ["ctrl", "Shift-R"]}
LONGEST_PATH: dict[str, Any] = {"x": 7, "y": 7, "path": [{"x": n, "y": -n} for n in range(256)]}

INPUTS = [
    (
        "mouse/drag",
        DRAG,
        Operation.MOUSE_DRAG,
        {**DRAG, "duration": None, "button": "left"},
    ),
    (
        "mouse/drag",
        {**DRAG, "duration": 0.5, "button": None},
        Operation.MOUSE_DRAG,
        {**DRAG, "duration": 0.5, "button": None},
    ),
    (
        "mouse/click",
        {},
        Operation.MOUSE_CLICK,
        {"x": None, "y": None, "button": "left", "down": None, "clicks": 1},
    ),
    (
        "mouse/click",
        {"x": 0, "y": 0, "button": "middle", "down": False, "clicks": 3},
        Operation.MOUSE_CLICK,
        {"x": 0, "y": 0, "button": "middle", "down": False, "clicks": 3},
    ),
    (
        "mouse/scroll",
        {"direction": "left", "amount": 0},
        Operation.MOUSE_SCROLL,
        {"direction": "left", "amount": 0, "x": None, "y": None},
    ),
    ("mouse/move", {"x": -5, "y": 2**31 - 1}, Operation.MOUSE_MOVE, {"x": -5, "y": 2**31 - 1}),
    ("mouse/move", LONGEST_PATH, Operation.MOUSE_MOVE, LONGEST_PATH),
    (
        "mouse/drag",
        {**DRAG, "path": LONGEST_PATH["path"], **MODIFIED},
        Operation.MOUSE_DRAG,
        {**DRAG, "duration": None, "button": "left", **MODIFIED, "path": LONGEST_PATH["path"]},
    ),
    (
        "mouse/click",
        {"x": 7, "y": 8, "button": "forward", **MODIFIED, **IN},
        Operation.MOUSE_CLICK,
        {"x": 7, "y": 8, "button": "forward", "down": None, "clicks": 1, **MODIFIED, **IN},
    ),
    (
        "mouse/scroll",
        {"direction": "up", "amount": 1, **MODIFIED, "in": None},
        Operation.MOUSE_SCROLL,
        {"direction": "up", "amount": 1, "x": None, "y": None, **MODIFIED},
    ),
    (
        "mouse/move",
        {"x": 0, "y": 0, "path": [{"x": 9, "y": n % 20} for n in range(256)], **IN, **MODIFIED},
        Operation.MOUSE_MOVE,
        {"x": 0, "y": 0, "path": [{"x": 9, "y": n % 20} for n in range(256)], **IN, **MODIFIED},
    ),
    (
        "keyboard/key",
        {"text": "ctrl+a", "hold": 1.5, "repeat": 3},
        Operation.KEYBOARD_KEY,
        {"text": "ctrl+a", "down": None, "hold": 1.5, "repeat": 3},
    ),
    (
        "keyboard/key",
        {"text": "ctrl+a", "hold": None, "repeat": 1},
        Operation.KEYBOARD_KEY,
        {"text": "ctrl+a", "down": None},
    ),
    (
        "keyboard/type",
        {"text": "漢" * 600 + "x" * 9400},
        Operation.KEYBOARD_TYPE,
        {"text": "漢" * 600 + "x" * 9400},
    ),
    (
        "keyboard/key",
        {"text": "ctrl+a Return"},
        Operation.KEYBOARD_KEY,
        {"text": "ctrl+a Return", "down": None},
    ),
    ("keyboard/type", {"text": "Zoë\n"}, Operation.KEYBOARD_TYPE, {"text": "Zoë\n"}),
]

WRONG_BODIES = [
    ("mouse/move", {"x": 1}, ["body", "y"], "missing"),
    ("mouse/move", {"x": "1", "y": 2}, ["body", "x"], "int_type"),
    ("mouse/move", {"x": 1.0, "y": 2}, ["body", "x"], "int_type"),
    ("mouse/move", {"x": True, "y": 2}, ["body", "x"], "int_type"),
    ("mouse/move", {"x": 2**31, "y": 2}, ["body", "x"], "less_than_equal"),
    ("mouse/move", {"x": None, "y": 2}, ["body", "x"], "missing"),
    ("mouse/move", {"x": 1, "y": 2, "z": 3}, ["body", "z"], "extra_forbidden"),
    ("mouse/move", [1, 2], ["body"], "model_type"),
    ("mouse/click", {"x": 1}, ["body"], "coordinates_incomplete"),
    ("mouse/click", {"y": 0}, ["body"], "coordinates_incomplete"),
    ("mouse/click", {"clicks": 0}, ["body", "clicks"], "greater_than_equal"),
    ("mouse/click", {"clicks": 4}, ["body", "clicks"], "less_than_equal"),
    ("mouse/click", {"button": "eighth"}, ["body", "button"], "literal_error"),
    (
        "mouse/click",
        {"modifiers": ["ctrl", "alt", "control"]},
        ["body", "modifiers", "2"],
        "modifier_repeated",
    ),
    ("mouse/scroll", {**SCROLL, "modifiers": ["a"]}, ["body", "modifiers", "0"], "not_a_modifier"),
    ("mouse/click", {"x": 10, "y": 0, **IN}, ["body", "x"], "outside_picture"),
    ("mouse/scroll", {**SCROLL, "x": 0, "y": -1, **IN}, ["body", "y"], "outside_picture"),
    ("mouse/drag", {**DRAG, "to_y": 20, **IN}, ["body", "to_y"], "outside_picture"),
    (
        "mouse/drag",
        {**DRAG, "path": [{"x": 1, "y": 1}] * 3 + [{"x": 10, "y": 1}], **IN},
        ["body", "path", "3", "x"],
        "outside_picture",
    ),
    ("mouse/drag", {**DRAG, "path": [{"x": 1}]}, ["body", "path", "0", "y"], "missing"),
    (
        "mouse/click",
        {"in": {"width": 0, "height": 1}},
        ["body", "in", "width"],
        "greater_than_equal",
    ),
    ("mouse/click", {"picture_size": None}, ["body", "picture_size"], "extra_forbidden"),
    ("keyboard/key", {"text": "a", "hold": 1, "down": True}, ["body", "hold"], "not_with_down"),
    (
        "keyboard/key",
        {"text": "a", "repeat": 2, "down": False},
        ["body", "repeat"],
        "not_with_down",
    ),
    (
        "keyboard/key",
        {"text": "a", "hold": 10, "repeat": 7},
        ["body", "repeat"],
        "repeated_too_often",
    ),
    ("keyboard/key", {"text": "a", "hold": 61}, ["body", "hold"], "less_than_equal"),
    ("mouse/click", {"button": None}, ["body", "button"], "literal_error"),
    ("mouse/click", {"down": 1}, ["body", "down"], "bool_type"),
    ("mouse/drag", {**DRAG, "duration": -0.1}, ["body", "duration"], "greater_than_equal"),
    ("mouse/drag", {**DRAG, "duration": 60.1}, ["body", "duration"], "less_than_equal"),
    ("mouse/drag", {**DRAG, "button": "side"}, ["body", "button"], "literal_error"),
    ("mouse/scroll", {"direction": "in", "amount": 1}, ["body", "direction"], "literal_error"),
    ("mouse/scroll", {"direction": "up"}, ["body", "amount"], "missing"),
    ("mouse/scroll", {"direction": "up", "amount": -1}, ["body", "amount"], "greater_than_equal"),
    ("mouse/scroll", {"direction": "up", "amount": 1, "x": 3}, ["body"], "coordinates_incomplete"),
    ("keyboard/type", {}, ["body", "text"], "missing"),
    ("keyboard/type", {"text": ""}, ["body", "text"], "string_too_short"),
    ("keyboard/type", {"text": "x" * 10_001}, ["body", "text"], "string_too_long"),
    ("keyboard/type", {"text": "漢" * 601}, ["body", "text"], "text_takes_too_long"),
    ("keyboard/type", {"text": "\x07"}, ["body", "text"], "text_not_typeable"),
]


@pytest.mark.parametrize(("operation", "body", "name", "sent"), INPUTS)
async def test_completed_input_is_200_with_the_machines_acknowledgement(
    service: Service, operation: str, body: dict[str, Any], name: Operation, sent: dict[str, Any]
) -> None:
    async with service.joined() as (machine, link):
        background = service.server.services.background
        path = machine.input_path(operation)
        sending = background.start(service.post(path, body), "a client of the test")
        command = await link.obey()
        reply = await sending
    assert (command.operation, command.body) == (name, sent)
    assert reply.status == 200
    result = reply.json
    assert result["accepted_at"] <= result["completed_at"]
    assert result == {
        "command_id": str(command.command_id),
        "machine_id": "desk-1",
        "operation": name.value,
        "status": "completed",
        "accepted_at": result["accepted_at"],
        "completed_at": result["completed_at"],
        "duration_ms": 1.5,
        "pointer": {"x": 3, "y": 4},
    }


async def test_preferred_minimal_answer_is_204_and_says_so(machine: ScriptedMachine) -> None:
    async with machine.connected() as link:
        sending = machine.moving(headers={"Prefer": "respond-async, return=minimal"})
        reply = await link.reply_to(sending)
    assert (reply.status, reply.body) == (204, b"")
    assert reply.headers["Preference-Applied"] == "return=minimal"
    assert "Content-Type" not in reply.headers


async def test_preferred_representation_is_200_and_says_so(machine: ScriptedMachine) -> None:
    async with machine.connected() as link:
        reply = await link.reply_to(machine.moving(headers={"Prefer": "return=representation"}))
    assert reply.status == 200
    assert reply.headers["Preference-Applied"] == "return=representation"


async def test_unasked_preference_is_not_said_to_be_applied(machine: ScriptedMachine) -> None:
    async with machine.connected() as link:
        reply = await link.reply_to(machine.moving(headers={"Prefer": "return=nothing"}))
    assert reply.status == 200
    assert "Preference-Applied" not in reply.headers


@pytest.mark.parametrize("settings", [{"input_response": "minimal"}])
async def test_setting_makes_minimal_the_default(service: Service) -> None:
    async with service.joined() as (machine, link):
        sending = machine.moving()
        await link.obey()
        assert (await sending).status == 204
        await link.obeys(machine.moving(headers={"Prefer": "return=representation"}))


@pytest.mark.parametrize(("operation", "body", "loc", "kind"), WRONG_BODIES)
async def test_wrong_body_is_422_and_names_the_place(
    service: Service, operation: str, body: Any, loc: list[str], kind: str
) -> None:
    reply = await service.post(f"/v1/computer/desk-1/input/{operation}", body)
    assert reply.faults == [(loc, kind)]


async def test_unknown_key_name_is_422_and_says_where(service: Service) -> None:
    reply = await service.post("/v1/computer/desk-1/input/keyboard/key", {"text": "a ctrl+wobble"})
    ((loc, _),) = reply.faults
    assert loc == ["body", "text"]
    assert "characters 8 to 13" in reply.json["detail"][0]["msg"]


@pytest.mark.parametrize("duration", ["NaN", "Infinity", "-Infinity"])
async def test_number_that_is_not_finite_is_422(service: Service, duration: str) -> None:
    text = '{"start_x":1,"start_y":1,"to_x":2,"to_y":2,"duration":' + duration + "}"
    reply = await service.post("/v1/computer/desk-1/input/mouse/drag", content=text.encode())
    assert reply.status == 422


async def test_query_of_an_input_is_422(service: Service) -> None:
    path = "/v1/computer/desk-1/input/mouse/move?x=1"
    reply = await service.post(path, {"x": 1, "y": 2})
    assert reply.faults == [(["query", "x"], "extra_forbidden")]


@pytest.mark.parametrize("machine_id", ["a%20b", "-desk", "d" * 129, "d%2Fe", "%00"])
async def test_machine_id_that_cannot_be_is_422(service: Service, machine_id: str) -> None:
    reply = await service.post(f"/v1/computer/{machine_id}/input/mouse/move", {"x": 1, "y": 2})
    assert reply.faults == [(["path", "machine_id"], "string_pattern_mismatch")]
    assert reply.json["detail"][0]["msg"].startswith("must be 1 to 128 letters, digits")


async def test_address_that_is_not_unicode_is_404(service: Service) -> None:
    reply = await service.post("/v1/computer/%ff/input/mouse/move", {"x": 1, "y": 2})
    assert (reply.status, reply.problem) == (404, "not-found")


@pytest.mark.parametrize("key", ["", "k" * 256, "two words", "schlüssel"])
async def test_key_that_cannot_be_is_422(machine: ScriptedMachine, key: str) -> None:
    reply = await machine.move(key)
    assert reply.faults == [(["header", "Idempotency-Key"], "string_pattern_mismatch")]


async def test_refused_input_is_422_with_the_machines_bounds(machine: ScriptedMachine) -> None:
    refused = Refused(
        code="outside_displays",
        message="outside of all displays",
        loc=("body", "x"),
        ctx={"displays": ["1280x800+0+0"]},
    )
    async with machine.connected() as link:
        sending = machine.moving()
        await link.obey(refused)
        reply = await sending
    assert reply.faults == [(["body", "x"], "outside_displays")]
    assert reply.json["detail"][0]["ctx"] == {"displays": ["1280x800+0+0"]}


async def test_failed_input_is_502_with_code_and_count(machine: ScriptedMachine) -> None:
    async with machine.connected() as link:
        sending = machine.moving()
        await link.obey(Failed(code="x_error", message="it went away", injected_at_least=2))
        reply = await sending
    assert (reply.status, reply.problem) == (502, "input-failed")
    assert reply.json["code"] == "x_error"
    assert reply.json["message"] == "it went away"
    assert reply.json["injected_at_least"] == 2


async def test_expired_input_is_504_and_final(machine: ScriptedMachine) -> None:
    async with machine.connected() as link:
        sending = machine.moving()
        await link.obey(Expired())
        reply = await sending
    assert (reply.status, reply.problem) == (504, "input-expired")
    assert reply.json["final"] is True


async def test_interrupted_input_is_502_and_final(machine: ScriptedMachine) -> None:
    async with machine.connected() as link:
        sending = machine.moving()
        await link.obey(Unknown(injected_at_least=1))
        reply = await sending
    assert (reply.status, reply.problem) == (502, "outcome-unknown")
    assert (reply.json["final"], reply.json["injected_at_least"]) == (True, 1)


async def test_unknown_machine_and_another_organizations_are_the_same_404(
    service: Service, machine: ScriptedMachine
) -> None:
    body = {"x": 1, "y": 2}
    async with machine.connected():
        other = await service.elsewhere()
        foreign = await other.post(machine.input_path(), body, headers={"X-Request-Id": "same"})
    assert foreign.problem == "not-found"
    third = await service.elsewhere()
    unknown = await third.post(machine.input_path(), body, headers={"X-Request-Id": "same"})
    assert (unknown.status, unknown.body) == (foreign.status, foreign.body)
    assert foreign.status == 404


async def unavailable(machine: ScriptedMachine) -> dict[str, Any]:
    """The 503 that an input meets now; checks what all of its kind have."""
    reply = await machine.move()
    assert (reply.status, reply.problem) == (503, "machine-unavailable")
    assert int(reply.headers["Retry-After"]) > 0
    assert reply.json["since"].endswith("Z")
    answer: dict[str, Any] = reply.json
    return answer


async def test_machine_that_never_connected_is_503(service: Service) -> None:
    answer = await unavailable(await service.new_machine())
    assert answer["reason"] == "offline"
    assert "never connected" in answer["detail"]


async def test_machine_that_left_is_503_with_why_and_since_when(service: Service) -> None:
    async with service.joined() as (machine, link):
        await link.websocket.close(1000, "the user went home")
    await machine.until_gone()
    answer = await unavailable(machine)
    assert answer["reason"] == "offline"
    assert "went home" in answer["detail"]
    stored = await service.stores.machines.get(service.organization_id, "desk-1")
    assert stored is not None
    assert stored.disconnected_at is not None
    assert answer["since"] == stored.disconnected_at.strftime("%Y-%m-%dT%H:%M:%S.") + (
        f"{stored.disconnected_at.microsecond // 1000:03d}Z"
    )


async def test_paused_machine_is_503_since_its_pause(service: Service) -> None:
    async with service.joined() as (machine, link):
        paused = await service.request("PATCH", "/v1/machines/desk-1", {"paused": True})
        answer = await unavailable(machine)
        assert answer["reason"] == "paused"
        assert answer["since"] == paused.json["since"]
        assert answer["detail"] == "administrator paused the machine"
        await link.interrupted()
        await link.nothing_heard()


async def test_who_is_refused_by_a_pause_reads_by_whom_until_when_and_why(service: Service) -> None:
    machine = await service.new_machine()
    end = format_time(datetime.now(UTC) + timedelta(hours=1))
    async with machine.connected():
        for reason, told in (("$lunch", f" until {end}: $lunch"), (None, "")):
            details = {"pause_reason": reason, "pause_until": end} if reason else {}
            await service.request("PATCH", "/v1/machines/desk-1", {"paused": True, **details})
            answer = await unavailable(machine)
            assert answer["detail"] == f"administrator paused the machine{told}"


async def test_machine_without_a_way_to_inject_is_503_with_its_reason(service: Service) -> None:
    async with service.joined(hello(no_input="the screen is locked")) as (machine, _):
        answer = await unavailable(machine)
    assert answer["reason"] == "no_input"
    assert "the screen is locked" in answer["detail"]


@pytest.mark.parametrize("settings", [{"unanswered_inputs": 2}])
async def test_one_unanswered_input_too_many_is_429(service: Service) -> None:
    async with service.joined() as (machine, link):
        first, second = machine.moving(), machine.moving()
        commands = [await link.heard(Input), await link.heard(Input)]
        reply = await machine.move()
        assert (reply.status, reply.problem) == (429, "machine-busy")
        assert int(reply.headers["Retry-After"]) > 0
        await link.acknowledge(commands[0].command_id)
        await link.acknowledge(commands[1].command_id)
        assert [(await first).status, (await second).status] == [200, 200]
        await link.obeys(machine.moving())


@pytest.mark.usefixtures("no_waiting_for_ends")
async def test_unacknowledged_input_is_504_with_its_command(machine: ScriptedMachine) -> None:
    async with machine.connected() as link:
        sending = machine.moving()
        command = await link.heard(Input)
        reply = await sending
    assert (reply.status, reply.problem) == (504, "outcome-pending")
    assert reply.json["command_id"] == str(command.command_id)
    assert int(reply.headers["Retry-After"]) > 0


async def test_input_whose_machine_goes_is_504_at_once(machine: ScriptedMachine) -> None:
    async with machine.connected() as link:
        sending = machine.moving()
        await link.heard(Input)
        await link.websocket.close()
        reply = await sending
    assert (reply.status, reply.problem) == (504, "outcome-pending")


async def test_token_without_input_send_moves_nothing(service: Service) -> None:
    machine = await service.new_machine()
    token = await service.new_token(Scope.MACHINES_READ, Scope.MACHINES_WRITE)
    async with machine.connected() as link:
        reply = await machine.move(token=token)
        assert (reply.status, reply.problem) == (403, "forbidden")
        assert reply.json["scope"] == "input:send"
        await link.nothing_heard()


async def test_inputs_reach_the_machine_in_the_order_of_their_requests(service: Service) -> None:
    async with service.joined() as (machine, link):
        sendings = []
        live = await machine.until_live()
        for number in range(5):
            sendings.append(machine.moving(x=number))
            await until(lambda expected=number + 1: live.unanswered == expected)
        commands = [await link.heard(Input) for _ in sendings]
        assert [command.body["x"] for command in commands] == [0, 1, 2, 3, 4]
        for command in reversed(commands):
            await link.acknowledge(command.command_id)
        for command, sending in zip(commands, sendings, strict=True):
            assert (await sending).json["command_id"] == str(command.command_id)
