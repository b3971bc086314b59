"""What waits of a hand's events, and what is merged."""

from typing import Any

import pytest

from schemas.inputs.bodies import MoveMouse
from schemas.inputs.hand import Batch, ButtonPlace, HandEvent, Undone
from server.dispatch.hand.input_queue import (
    MOST_WAITING,
    InputQueue,
    QueuedInput,
    TooManyWaitError,
    undone,
)
from tests.hand_client import button, key, move, wheel


def events(*said: dict[str, Any]) -> list[HandEvent]:
    return list(Batch.model_validate({"sequence": 1, "events": said}).events)


def waiting(*said: dict[str, Any]) -> list[QueuedInput]:
    steps = InputQueue()
    for event in events(*said):
        steps.add(event, 1)
    return steps.drop()


def test_moves_become_one_that_passes_all_their_places() -> None:
    (step,) = waiting(move(1, 1), move(2, 1), move(2, 1), move(3, 1))
    assert step.body == MoveMouse.model_validate(
        {"x": 3, "y": 1, "path": [{"x": 1, "y": 1}, {"x": 2, "y": 1}]}
    )
    (step,) = waiting(move(1, 1))
    assert step.body.model_dump() == {"x": 1, "y": 1}


def test_path_has_its_bound_and_goes_on_in_another_move() -> None:
    steps = InputQueue()
    for x in range(600):
        steps.add(events(move(x, 0))[0], 1)
    bodies = [step.body for step in steps.drop()]
    places = [
        place
        for body in bodies
        if isinstance(body, MoveMouse)
        for place in (*(point.x for point in body.path or ()), body.x)
    ]
    assert places == list(range(600))
    assert len(bodies) == 3


@pytest.mark.parametrize(
    "between", [button(True), button(False), wheel("up"), key("a", True), key("a", False)]
)
def test_nothing_is_merged_across_anything_else(between: dict[str, Any]) -> None:
    kinds = [step.event.type for step in waiting(move(1, 1), between, move(2, 2))]
    assert kinds == ["move", between["type"], "move"]


def test_notches_of_one_direction_and_place_are_added() -> None:
    amounts = [
        step.event.amount
        for step in waiting(
            *(wheel("up", 60), wheel("up", 40), wheel("up"), wheel("down"), wheel("down")),
            {**wheel("down"), "x": 1, "y": 1},
        )
        if step.event.type == "wheel"
    ]
    assert amounts == [100, 1, 2, 1]


def test_more_than_may_wait_is_refused() -> None:
    steps = InputQueue()
    for _ in range(MOST_WAITING):
        steps.add(events(key("a", True))[0], 1)
    with pytest.raises(TooManyWaitError):
        steps.add(events(key("a", True))[0], 1)


def test_batch_ends_with_the_last_step_that_has_any_of_it() -> None:
    steps = InputQueue()
    assert not steps.complete(1)
    steps.add(events(move(1, 1))[0], 2)
    assert steps.complete(2)
    assert steps.may_grow
    steps.add(events(move(2, 2))[0], 3)
    assert steps.complete(3)
    assert (steps.first.sequence, steps.first.completes) == (2, 3)
    steps.add(events(button(True))[0], 4)
    assert not steps.may_grow
    assert steps.next().completes == 3


def test_what_was_not_done_is_counted_and_releases_are_no_loss() -> None:
    lost = undone(
        waiting(
            *(move(1, 1), move(2, 2), button(True, x=3, y=4), button(False), button(True)),
            *(key("a", True), key("a", False), key("b", True), wheel("up", 3)),
            {"type": "text", "text": "abc"},
        )
    )
    assert lost == Undone(
        moves=2,
        presses=[
            ButtonPlace(button="left", x=3, y=4),
            ButtonPlace(button="left", x=None, y=None),
        ],
        notches=3,
        keys=2,
        characters=3,
    )
