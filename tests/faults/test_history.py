"""What the clients of a fault run take for final, and what their commands do."""

import json
import random
from uuid import UUID

import pytest

from schemas.inputs import INPUT_BODIES, Operation
from tests.faults.history import (
    CommandHistory,
    FinalAnswer,
    Try,
    other_body,
    place_of,
    random_command,
)

COMMANDS = 2000


def answer(status: int, body: bytes = b"") -> Try:
    return Try(0.0, 1.0, "port 1", status, body)


def problem(name: str, *, final: bool) -> bytes:
    return json.dumps({"type": f"/problems/{name}"} | ({"final": True} if final else {})).encode()


@pytest.mark.parametrize(
    ("status", "body", "is_final"),
    [
        (0, b"", False),
        (200, b"{}", True),
        (204, b"", True),
        (409, problem("idempotency-key-in-progress", final=False), False),
        (422, b"{}", True),
        (429, problem("machine-busy", final=False), False),
        (500, problem("internal-error", final=False), False),
        (502, problem("outcome-unknown", final=True), True),
        (502, b"<html>from some proxy</html>", False),
        (503, problem("machine-unavailable", final=False), False),
        (503, problem("not-carried-out", final=True), True),
        (504, problem("outcome-pending", final=False), False),
        (504, b'["final"]', False),
        (504, problem("input-expired", final=True), True),
    ],
)
def test_answer_is_final_as_clients_are_told(status: int, body: bytes, *, is_final: bool) -> None:
    assert answer(status, body).is_final is is_final


def test_first_final_is_the_one_that_came_first() -> None:
    command = random_command(0, "key", "desk", random.Random(1))
    assert command.first_final() is None
    command.tries += [
        answer(503),
        Try(0.0, 5.0, "port 1", 200, b"late"),
        Try(2.0, 3.0, "port 1", 200, b"early"),
    ]
    first = command.first_final()
    assert first is not None
    assert first.answer == FinalAnswer(200, b"early")


def commands() -> list[CommandHistory]:
    chance = random.Random(7)
    return [random_command(number, f"key-{number}", "desk", chance) for number in range(COMMANDS)]


def test_every_command_is_one_that_the_server_takes() -> None:
    for command in commands():
        operation = Operation(command.operation.replace("/", "."))
        INPUT_BODIES[operation].model_validate(dict(command.body))
        INPUT_BODIES[operation].model_validate(dict(other_body(command)))


def test_no_two_commands_press_at_one_place() -> None:
    made = commands()
    for command in made:
        other_body(command)
    places = [place for each in made for place in (each.place, each.other_place) if place]
    assert len(set(places)) == len(places)
    assert all(0 <= place.x < 1279 and 0 <= place.y < 800 for place in places)


def test_all_kinds_of_commands_come() -> None:
    made = commands()
    assert {each.operation for each in made} == {"mouse/click", "mouse/scroll", "mouse/drag"}
    assert {each.presses for each in made} == {0, 1, 2, 3}


def test_same_seed_makes_the_same_commands() -> None:
    assert commands() == commands()


def test_command_id_is_that_of_organization_and_key() -> None:
    command = random_command(0, "key", "desk", random.Random(1))
    here, there = UUID(int=1), UUID(int=2)
    assert command.id(here) == command.id(here)
    assert command.id(here) != command.id(there)


def test_places_come_round_only_after_all() -> None:
    assert place_of(0) != place_of(1) != place_of(2)
