"""The judge of recordings sees each promise broken, and none where nothing is."""

from collections.abc import Sequence
from typing import Any

import pytest

from schemas.steps.step import GAP
from tests.faults.arrivals import Place
from tests.faults.recording_judge import Broken, Input, Kill, Recorded, Victim, judged

PLACES = [Place(number, 1) for number in range(4)]
KILLED_AT = 10.0


def click(number: int, answered_at: float | None = None) -> Input:
    sent_at = number if answered_at is None else answered_at - 0.1
    return Input(number, PLACES[number], sent_at, answered_at)


def step(number: int, **body: Any) -> dict[str, Any]:
    place = PLACES[number]
    return {"operation": "mouse.click", "body": {"x": place.x, "y": place.y, **body}}


GAP_STEP = {"operation": GAP, "body": {"reason": "some"}}


def broken(
    steps: Sequence[dict[str, Any]],
    *inputs: Input,
    victim: Victim = Victim.RECORDER,
    seen: Sequence[int] = range(4),
    stalled: float = 0.0,
) -> list[Broken]:
    recorded = Recorded("it", [Kill(victim, KILLED_AT, KILLED_AT + 0.1, stalled)], [*inputs])
    recorded.steps, recorded.pressed = steps, [PLACES[each] for each in seen]
    return [Broken(each.broken) for each in judged(recorded)]


EARLY, LATE, AFTER = click(0, 5.0), click(1, 9.5), click(2, 11.0)


def test_nothing_is_broken_where_all_is_there() -> None:
    assert broken([step(0), step(1), GAP_STEP, step(2)], EARLY, LATE, AFTER) == []


def test_what_was_answered_in_the_last_second_may_be_missing_where_a_gap_stands() -> None:
    assert broken([step(0), GAP_STEP, step(2)], EARLY, LATE, AFTER) == []


@pytest.mark.parametrize(
    "steps",
    [
        [step(0), step(2)],
        [GAP_STEP, step(0), step(2)],
        [step(0), step(2), GAP_STEP],
    ],
)
def test_a_gap_has_to_stand_where_something_is_missing(steps: list[dict[str, Any]]) -> None:
    assert broken(steps, EARLY, LATE, AFTER) == [Broken.UNMARKED]


@pytest.mark.parametrize(("stalled", "lost"), [(0.3, [Broken.LOST]), (0.6, [])])
def test_the_last_second_is_longer_by_what_the_database_stood_still(
    stalled: float, lost: list[Broken]
) -> None:
    assert broken([step(0), GAP_STEP, step(2)], EARLY, click(1, 8.5), stalled=stalled) == lost


@pytest.mark.parametrize("victim", [each for each in Victim if each is not Victim.RECORDER])
def test_only_the_node_that_records_may_lose_anything(victim: Victim) -> None:
    steps = [step(0), GAP_STEP, step(2)]
    assert broken(steps, EARLY, LATE, AFTER, victim=victim) == [Broken.LOST]


@pytest.mark.parametrize("missing", [0, 2])
def test_nothing_else_may_be_missing(missing: int) -> None:
    steps = [GAP_STEP, *(step(each) for each in (0, 1, 2) if each != missing), GAP_STEP]
    assert broken(steps, EARLY, LATE, AFTER) == [Broken.LOST]


def test_a_step_is_there_once() -> None:
    assert broken([step(0), step(0)], EARLY) == [Broken.TWICE]
    press, release = step(0, down=True), step(0, down=False)
    assert broken([press, release], EARLY) == []


def test_a_long_press_by_hand_is_a_click_there() -> None:
    x, y = PLACES[0]
    drag = {"start_x": x, "start_y": y, "to_x": x, "to_y": y, "duration": 0.7}
    pressed = {"operation": "mouse.drag", "body": drag}
    assert broken([pressed], EARLY) == []
    assert broken([pressed, step(0)], EARLY) == [Broken.TWICE]
    assert broken([pressed], EARLY, seen=[1]) == [Broken.STRAY]
    elsewhere = {**pressed, "body": {**drag, "to_x": x + 1}}
    assert broken([elsewhere], EARLY) == [Broken.LOST, Broken.UNMARKED]


def test_texts_are_known_by_their_commands() -> None:
    text = Input(1, "a-command", 5.0, 5.1)
    typed = {"operation": "keyboard.type", "body": {}, "command_id": "a-command"}
    assert broken([step(0), typed], EARLY, text) == []
    assert broken([step(0), GAP_STEP], EARLY, text) == [Broken.LOST]
    assert broken([typed, typed], text) == [Broken.TWICE]


def test_a_step_of_nothing_that_was_seen_is_none() -> None:
    assert broken([step(0), step(3)], EARLY, seen=[0]) == [Broken.STRAY]


def test_what_nobody_was_told_of_has_a_gap_where_it_happened() -> None:
    unanswered = click(1)
    assert broken([step(0), step(2)], EARLY, unanswered, AFTER) == [Broken.UNMARKED]
    assert broken([step(0), step(2)], EARLY, unanswered, AFTER, seen=[0, 2]) == []
    assert broken([step(0), GAP_STEP, step(2)], EARLY, unanswered, AFTER) == []
