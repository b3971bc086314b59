"""Inputs that wait: in their order, and no more than there is room for."""

import json
import tracemalloc
from typing import Any

import pytest

from machine_client.link import waiting as waiting_module
from machine_client.link.waiting import MOST_WAITING, WaitingInputs
from schemas.inputs.clipboard_texts import MAX_CLIPBOARD_BYTES
from schemas.link.messages import SERVER_MESSAGES, Input
from tests.links import input_message


def waits(**body: Any) -> Input:
    return input_message().model_copy(update={"body": body})


def fill(waiting: WaitingInputs, one: Input) -> int:
    """Let the same wait for as long as there is room; how often there was."""
    while waiting.has_room_for(one):
        waiting.append(one)
    return len(waiting)


def received(body: Any) -> Input:
    """An input as a server sent it, whose body nobody has looked at yet."""
    sent = waits().model_dump(mode="json") | {"body": body}
    message = SERVER_MESSAGES.validate_json(json.dumps(sent, ensure_ascii=False))
    assert isinstance(message, Input)
    return message


def nested(depth: int) -> Any:
    return {"a": nested(depth - 1)} if depth else 1


BODIES: dict[str, Any] = {
    "a move": {"x": 1, "y": 2},
    "a path": {"path": [{"x": 1000 + number, "y": 2000 + number} for number in range(256)]},
    "a text": {"text": "x" * 10_000},
    "a text with a wide letter": {"text": "x" * 10_000 + "\U0001f600"},
    "nested objects": {"a": [nested(100) for _ in range(20)]},
    "nested lists": {"a": [[[[[]]]] * 500]},
    "empty lists": {"a": [[]] * 2000},
    "empty objects": {"a": {str(number): {} for number in range(1000)}},
    "names": {"a": {f"{number}" * 20: 1 for number in range(200)}},
    "numbers": {"a": [number + 0.5 for number in range(2000)]},
}


@pytest.mark.parametrize("kind", BODIES)
def test_what_fits_takes_no_more_memory_than_it_may(
    monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    most = 2 * 1024 * 1024
    monkeypatch.setattr(waiting_module, "MOST_BYTES", most)
    waiting, body = WaitingInputs(), BODIES[kind]
    tracemalloc.start()
    try:
        while waiting.has_room_for(one := received(body)):
            waiting.append(one)
        taken, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # What is in several of them is counted in each.
    assert most / 4 < taken < most * 1.1


def test_more_than_a_server_sends_fits() -> None:
    long = waits(text="\U0001f600" + "x" * (MAX_CLIPBOARD_BYTES - 4))
    assert fill(WaitingInputs(), long) > 64
    assert fill(WaitingInputs(), waits(x=1, y=2)) == MOST_WAITING


def test_whatever_leaves_makes_room_and_the_order_stays() -> None:
    waiting, long = WaitingInputs(), waits(text="x" * 1024 * 1024)
    first, second, third = (waits(x=number) for number in range(3))
    for each in (first, second, third):
        waiting.append(each)
    waiting.take(second)
    assert list(waiting) == [first, third]
    assert waiting.take_first() == first
    assert waiting.take_all() == [third]
    assert not waiting
    full = fill(waiting, long)
    waiting.take_all()
    assert fill(waiting, long) == full
