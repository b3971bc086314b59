"""The judge of sessions sees each promise broken, and none where nothing is."""

from collections.abc import Sequence
from typing import Any

import pytest

from tests.batches import Act, strokes
from tests.batches import Broken as BrokenAct
from tests.desktop import DeviceEvent
from tests.faults.session_judge import Broken, Session, judged
from tests.faults.session_plan import PROGRAMS, Victim

KEY = 38


def click(x: int) -> Act:
    return Act({}, strokes((1, x, 5)))


STEPS = [
    [click(1)],
    [click(2), Act({}, strokes((KEY, 2, 5))), Act({}), click(3)],
    [click(4)],
]


def events(*acts: Act) -> list[DeviceEvent]:
    """What a witness sees of them, with the motion to each."""
    seen = []
    for act in acts:
        for kind, what in act.events:
            assert isinstance(what, tuple)
            detail, x, y = what
            device = "Key" if detail == KEY else "Button"
            seen.append(DeviceEvent("MotionNotify", 0, 0, x, y))
            seen.append(DeviceEvent(f"{device}{kind.capitalize()}", detail, 0, x, y))
    return seen


def told(step: int, told: str = "completed", *actions: str) -> dict[str, Any]:
    return {"step": step, "told": told, "actions": [*actions] or None, "replayed": False}


WHOLE = events(*(act for acts in STEPS for act in acts))
ALL = [told(0), told(1, "completed", *["completed"] * 4), told(2)]
FAILED = told(1, "input-failed", "completed", "interrupted", "not_begun", "not_begun")


def broken(
    seen: Sequence[DeviceEvent] = WHOLE,
    notes: Sequence[dict[str, Any]] = ALL,
    victims: Sequence[Victim] = (Victim.PROGRAM,),
) -> set[object]:
    return {each.broken for each in judged(Session(STEPS, [*victims], notes, seen))}


def test_session_without_a_mistake_is_good() -> None:
    assert broken() == set()
    # However often it was told.
    assert broken(notes=[ALL[0], *ALL, *ALL]) == set()


@pytest.mark.parametrize("acts", STEPS)
def test_step_that_happened_again_is_seen(acts: list[Act]) -> None:
    assert BrokenAct.TWICE in broken([*WHOLE, *events(*acts)])


def test_step_that_is_missing_is_seen() -> None:
    assert broken(WHOLE[:-4]) == {BrokenAct.COMPLETED_WITHOUT}
    assert broken(notes=ALL[:2]) == {Broken.SKIPPED}


def test_other_order_is_seen() -> None:
    assert broken([*WHOLE[-4:], *WHOLE[:-4]]) == {Broken.OUT_OF_ORDER}


def test_event_of_no_step_is_seen() -> None:
    assert broken([*WHOLE, *events(click(9))]) == {Broken.STRAY}


def test_what_is_told_otherwise_the_second_time_is_seen() -> None:
    again = [*ALL, told(2, "outcome-unknown")]
    assert broken(notes=again, victims=[Victim.CLIENT]) == {Broken.DIFFERS}


def test_what_is_unknown_happened_once_or_not_at_all() -> None:
    notes = [*ALL[:2], told(2, "outcome-unknown")]
    for victim in (Victim.CLIENT, Victim.POWER, Victim.LINKED_NODE):
        assert broken(WHOLE, notes, [victim]) == set()
        assert broken(WHOLE[:-4], notes, [victim]) == set()
        assert broken([*WHOLE, *events(click(4))], notes, [victim]) == {BrokenAct.TWICE}


def test_what_was_not_begun_has_not_happened() -> None:
    first, key, _, last = STEPS[1]
    notes = [ALL[0], FAILED, ALL[2]]
    cut_short = events(*STEPS[0], first, key, *STEPS[2])
    assert broken(cut_short, notes, [Victim.CLIENT]) == set()
    with_more = events(*STEPS[0], first, key, last, *STEPS[2])
    assert broken(with_more, notes, [Victim.CLIENT]) == {BrokenAct.NOT_BEGUN_WITH}


def test_what_stays_pressed_is_seen() -> None:
    assert BrokenAct.LEFT_PRESSED in broken(WHOLE[:-1])


@pytest.mark.parametrize("victim", [*sorted(PROGRAMS), Victim.OTHER_NODE])
def test_end_that_nothing_excuses_is_seen(victim: Victim) -> None:
    notes = [*ALL[:2], told(2, "outcome-unknown")]
    assert broken(WHOLE, notes, [victim]) == {Broken.WITHOUT_REASON}


def test_silence_about_several_actions_needs_a_power_cut() -> None:
    notes = [ALL[0], told(1, "outcome-unknown"), ALL[2]]
    assert broken(WHOLE, notes, [Victim.POWER]) == set()
    assert broken(WHOLE, notes, [Victim.CLIENT]) == {Broken.WITHOUT_REASON}
