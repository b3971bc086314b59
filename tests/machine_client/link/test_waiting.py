"""Inputs that wait: in their order, and no more than there is room for."""

from typing import Any

import pytest

from machine_client.link.waiting import (
    BYTES_OF_A_POINT,
    MOST_BYTES,
    MOST_WAITING,
    WaitingInputs,
)
from schemas.link.messages import Input
from tests.links import input_message


def waits(**body: Any) -> Input:
    return input_message().model_copy(update={"body": body})


def fill(waiting: WaitingInputs, one: Input) -> int:
    """Let the same wait for as long as there is room; how often there was."""
    while waiting.has_room_for(one):
        waiting.append(one)
    return len(waiting)


@pytest.mark.parametrize(
    ("body", "fit"),
    [
        ({"x": 1, "y": 2}, MOST_WAITING),
        ({"path": [(1, 2)] * 256}, MOST_BYTES // (256 * BYTES_OF_A_POINT)),
        ({"text": "x" * 1024 * 1024}, 100),
    ],
)
def test_longer_inputs_take_more_room(body: dict[str, Any], fit: int) -> None:
    assert fill(WaitingInputs(), waits(**body)) == fit


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
