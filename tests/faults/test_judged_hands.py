"""What the verdict says of hands: doctored histories, each with one thing wrong."""

import random
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from tests.faults.arrivals import HAND_KEYS, Arrival, Place, Step
from tests.faults.by_hand import KINDS
from tests.faults.hand_history import HandHistory
from tests.faults.history import HAS_CONTROL, CommandHistory, Fault
from tests.faults.inputs import Input
from tests.faults.judge import judge
from tests.faults.test_verdict import (
    COMPLETED,
    ORGANIZATION,
    answered,
    click,
    evidence,
    motion,
    press,
    release,
)
from tests.faults.verdict import Broken, Evidence

HERE, THERE, WAY = Place(500, 1), Place(500, 2), Place(500, 3)
CLICKED = click(HERE)
DRAGGED = (
    *(motion(THERE), press("left", THERE)),
    *(motion(WAY), release("left", WAY)),
)
TYPED = (press("-"), release("-"), press(","), release(","))
ALL = (CLICKED, DRAGGED, TYPED)
AT = 10.0

IN_CONTROL = [Fault(HAS_CONTROL, "desk", AT - 1, AT + 1)]


def at(steps: Iterable[Step | Arrival], moment: float = AT) -> list[Arrival]:
    """The events of some steps, which have the pointer's last place where they have none."""
    seen: list[Arrival] = []
    for each in steps:
        if isinstance(each, Arrival):
            seen.append(each)
            continue
        place = each.place or (seen[-1].place if seen else HERE)
        seen.append(Arrival(each.kind, each.what, place, moment))
    return seen


def a_persons(step: Step) -> list[Arrival]:
    return [each._replace(by_person=True) for each in at([step])]


def worked(
    *seen: Sequence[Step | Arrival], acknowledged: int = 3, refused: bool = False, **changes: Any
) -> Evidence:
    """A run of one command, and then of a hand, of which these were seen."""
    run = evidence(COMPLETED)
    hand = HandHistory("desk", AT - 1, AT + 1, list(ALL), acknowledged, refused)
    events = [event for each in seen for event in at(each)]
    return replace(
        run,
        arrivals={"desk": [*run.arrivals["desk"], *events]},
        hands=[hand],
        faults=IN_CONTROL,
        **changes,
    )


def after_keys_of_a_program(run: Evidence) -> Evidence:
    """The same, and then a program types where the pointer was left."""
    typed = Input("keyboard/type", {"text": "a"}, (press("a"), release("a")))
    command = CommandHistory(1, "then", "desk", typed, typed, [answered(AT + 1, COMPLETED)])
    events = [each._replace(place=HERE) for each in at(typed.steps, AT + 1.01)]
    return replace(
        run,
        commands=[*run.commands, command],
        arrivals={"desk": [*run.arrivals["desk"], *events]},
        ledger={**run.ledger, command.id(ORGANIZATION): ("DONE", COMPLETED)},
    )


GOOD = {
    "all": worked(*ALL),
    "nothing, and nothing acknowledged": worked(acknowledged=0),
    "no more than was acknowledged": worked(CLICKED, DRAGGED, acknowledged=2),
    "more than was acknowledged": worked(*ALL, acknowledged=1),
    "the place of a click twice": worked(CLICKED[:1], CLICKED, DRAGGED, TYPED),
    "motion that was lost": worked(CLICKED[1:], DRAGGED, TYPED),
    "let go of where it was": worked(
        CLICKED, DRAGGED[:2], [release("left", THERE)], acknowledged=1
    ),
    "let go of by the next client": worked(
        CLICKED, DRAGGED[:2], at([release("left", THERE)], AT + 5), acknowledged=1
    ),
    "pressed again, let go of first": worked(
        CLICKED[:2],
        [*DRAGGED[:1], release("left", THERE), *DRAGGED[1:]],
        TYPED,
        acknowledged=0,
    ),
    "under way when control was over": worked(CLICKED, DRAGGED, at(TYPED, AT + 2), acknowledged=2),
    "a key at its place when control was over": after_keys_of_a_program(worked(*ALL)),
    "refused": worked(CLICKED, acknowledged=3, refused=True),
    "a person came between": worked(
        CLICKED[:1], a_persons(press("left", HERE)), CLICKED[2:], DRAGGED, TYPED
    ),
}

BAD = {
    "click twice": (worked(CLICKED, CLICKED, DRAGGED, TYPED), Broken.BY_HAND_OTHERWISE),
    "key twice": (worked(CLICKED, DRAGGED, TYPED[:2], TYPED), Broken.BY_HAND_OTHERWISE),
    "another order": (worked(DRAGGED, CLICKED, TYPED), Broken.BY_HAND_OTHERWISE),
    "another order of keys": (
        worked(CLICKED, DRAGGED, TYPED[2:], TYPED[:2]),
        Broken.BY_HAND_OTHERWISE,
    ),
    "back on its way": (
        worked(CLICKED, DRAGGED[:3], [motion(THERE)], DRAGGED[3:], TYPED),
        Broken.BY_HAND_OTHERWISE,
    ),
    "acknowledged, and nothing happened": (worked(), Broken.BY_HAND_WITHOUT),
    "acknowledged without a press": (
        worked(CLICKED[:1], DRAGGED, TYPED),
        Broken.BY_HAND_WITHOUT,
    ),
    "acknowledged without a release": (
        worked(CLICKED, DRAGGED, TYPED[:3]),
        Broken.BY_HAND_WITHOUT,
    ),
    "begun when control was over": (
        worked(CLICKED, DRAGGED, at(TYPED, AT + 20), acknowledged=2),
        Broken.STRAY,
    ),
    "clicked when control was over": (
        worked(at(CLICKED, AT + 20), acknowledged=0),
        Broken.STRAY,
    ),
    "left pressed": (
        worked(CLICKED, DRAGGED[:2], acknowledged=1, held={"desk": {"left"}}),
        Broken.LEFT_PRESSED,
    ),
    "a program beside it": (
        worked(*ALL, [motion(Place(9, 9))]),
        Broken.BESIDE_CONTROL,
    ),
    "a program at its places": (
        worked(*ALL, click(Place(500, 4))),
        Broken.BESIDE_CONTROL,
    ),
}


@pytest.mark.parametrize("name", GOOD)
def test_hand_that_is_carried_out_is_seen_so(name: str) -> None:
    run = GOOD[name]
    verdict = judge(run)
    assert verdict.is_good, verdict.violations


@pytest.mark.parametrize("name", BAD)
def test_hand_that_is_not_is_seen(name: str) -> None:
    run, broken = BAD[name]
    assert broken in judge(run).counts()


def test_no_two_batches_are_at_the_same_place() -> None:
    """But those of keys, of which there are few."""
    rng = random.Random(5)
    made = [kind(rng)[1] for kind in KINDS for _ in range(50)]
    places = [{step.place for step in steps if step.place is not None} for steps in made]
    assert sum(map(len, places)) == len(set().union(*places))
    for steps in made:
        assert all(step.place is not None or step.what in HAND_KEYS for step in steps)
