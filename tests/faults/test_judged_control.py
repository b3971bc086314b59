"""What the verdict says of programs' events while somebody has control of their machine."""

import pytest

from tests.faults.arrivals import Place
from tests.faults.history import HAS_CONTROL, Fault
from tests.faults.judge import judge
from tests.faults.test_verdict import COMPLETED, DOWN, UP, arrivals, evidence, motion, persons
from tests.faults.verdict import Broken

SEEN_AT = arrivals([UP])[0].at


def in_control(began_at: float, ended_at: float, machine: str = "desk") -> list[Fault]:
    return [Fault(HAS_CONTROL, machine, began_at, ended_at)]


def test_event_of_a_program_between_is_a_broken_promise() -> None:
    verdict = judge(evidence(COMPLETED, faults=in_control(SEEN_AT - 0.1, SEEN_AT + 1)))
    assert verdict.counts() == {Broken.BESIDE_CONTROL: len(verdict.violations)}
    assert verdict.violations


@pytest.mark.parametrize(
    "faults",
    [
        in_control(SEEN_AT + 0.1, SEEN_AT + 1),
        in_control(SEEN_AT - 1, SEEN_AT - 0.1),
        in_control(SEEN_AT - 0.1, SEEN_AT + 1, "another desk"),
    ],
)
def test_event_before_after_or_elsewhere_is_none(faults: list[Fault]) -> None:
    assert judge(evidence(COMPLETED, faults=faults)).is_good


def test_what_a_person_at_the_desk_does_is_none() -> None:
    way = arrivals([motion(Place(5, 5))])
    run = evidence(seen=[*way, *persons(DOWN), *persons(UP)])
    run.commands = []
    run.faults = in_control(SEEN_AT - 0.1, SEEN_AT + 1)
    assert Broken.BESIDE_CONTROL not in judge(run).counts()
