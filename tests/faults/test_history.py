"""What the clients of a fault run take for final, and what their commands do."""

import json
import random
import time
from uuid import UUID

import pytest

from tests.faults.history import Clock, CommandHistory, FinalAnswer, Try, random_command

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
        (409, problem("element-missing", final=True), True),
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
    rng = random.Random(7)
    return [random_command(number, f"key-{number}", "desk", rng) for number in range(COMMANDS)]


def test_no_two_commands_have_the_same_body() -> None:
    """Nor has one under a key the body of another; keys that are held come again, but seldom."""
    made = [
        (each.operation, sorted(each.body.items()))
        for command in commands()
        for each in (command.input, command.other_input)
        if each.has_place
    ]
    assert len(made) == len({str(each) for each in made})


def test_what_a_command_holds_another_one_may_release() -> None:
    holding = [command for command in commands() if command.input.body.get("down") is True]
    assert holding
    for command in commands():
        assert (command.release is not None) is (command in holding)
    for command in holding:
        assert command.release is not None
        released = set(command.release.input.lets_go)
        assert released == {step.what for step in command.input.steps if step.what != "pointer"}
        assert command.release.key != command.key


def test_same_seed_makes_the_same_commands() -> None:
    assert commands() == commands()


def test_command_id_is_that_of_organization_and_key() -> None:
    command = random_command(0, "key", "desk", random.Random(1))
    here, there = UUID(int=1), UUID(int=2)
    assert command.id(here) == command.id(here)
    assert command.id(here) != command.id(there)


def test_clock_understands_an_x_server_of_this_host() -> None:
    clock = Clock()
    now = int(time.monotonic() * 1000)
    assert abs(clock.of_x_server(now % 2**32) - clock()) < 1
    assert abs(clock.of_x_server((now - 5000) % 2**32) - (clock() - 5)) < 1
    assert abs(clock.of_x_server((now + 5000) % 2**32) - (clock() + 5)) < 1
