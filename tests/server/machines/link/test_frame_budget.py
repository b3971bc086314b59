import pytest

from server.machines.link.errors import FrameFloodError
from server.machines.link.frame_budget import A_SECOND, BURST, FrameBudget
from tests.clock import Clock


def test_burst_may_be_spent_at_once_and_comes_back_with_time() -> None:
    clock = Clock()
    budget = FrameBudget(clock)
    budget.count(BURST)
    with pytest.raises(FrameFloodError):
        budget.count(1)
    clock.now += 1.0
    budget.count(A_SECOND - 1)
    with pytest.raises(FrameFloodError):
        budget.count(1)


def test_long_silence_saves_no_more_than_a_burst() -> None:
    clock = Clock()
    budget = FrameBudget(clock)
    clock.now += 3600.0
    budget.count(BURST)
    with pytest.raises(FrameFloodError):
        budget.count(1)


def test_what_is_earned_is_bounded_as_well() -> None:
    budget = FrameBudget(Clock())
    budget.earn(10 * BURST)
    budget.count(BURST)
    budget.earn(2)
    budget.count(2)
    with pytest.raises(FrameFloodError):
        budget.count(1)
