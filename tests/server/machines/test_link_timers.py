"""When links are ticked."""

import math

import pytest

from server.machines.link_timers import TICK_SECONDS, LinkTimers
from tests.simulation.clocks import simulated
from tests.simulation.world import Process, World


class Timed:
    """A link that counts its ticks."""

    def __init__(self, machine_id: str = "desk-1", due_at: float = math.inf) -> None:
        self.machine_id = machine_id
        self.due_at = due_at
        self.ticks = 0

    def tick(self) -> None:
        self.ticks += 1


def ids(timers: LinkTimers, now: float) -> list[str]:
    return [link.machine_id for link in timers.due(now)]


@pytest.mark.parametrize("begin", [0.0, 1_000_000.0])
def test_link_is_due_once_and_not_long_after_its_time(begin: float) -> None:
    timers = LinkTimers()
    timers.schedule(Timed("late"), begin + 9.9)
    timers.schedule(Timed("early"), begin + 5.1)
    assert ids(timers, begin + 5.0) == []
    assert ids(timers, begin + 5.1 + TICK_SECONDS) == ["early"]
    assert ids(timers, begin + 9.8) == []
    assert ids(timers, begin + 9.9 + TICK_SECONDS) == ["late"]
    assert ids(timers, begin + 1000) == []


def test_those_that_were_missed_in_a_long_sleep_are_due_in_their_order() -> None:
    timers = LinkTimers()
    assert ids(timers, 1.0) == []
    for seconds in (300, 20, 100):
        timers.schedule(Timed(str(seconds)), seconds)
    assert ids(timers, 200.0) == ["20", "100"]
    assert ids(timers, 86_400.0) == ["300"]


def test_earlier_time_counts_and_a_later_one_does_not() -> None:
    timers, link = LinkTimers(), Timed()
    timers.schedule(link, 20.0)
    timers.schedule(link, 10.0)
    timers.schedule(link, 15.0)
    assert ids(timers, 10.0) == ["desk-1"]
    assert ids(timers, 30.0) == []


def test_forgotten_link_and_one_that_is_never_due_leave_nothing() -> None:
    timers, link = LinkTimers(), Timed()
    timers.schedule(link, 20.0)
    timers.forget(link)
    timers.forget(link)
    timers.schedule(link, math.inf)
    assert not timers._waiting
    assert not timers._tick_of


def test_link_whose_time_has_passed_waits_for_the_next_tick() -> None:
    timers, link = LinkTimers(), Timed()
    timers.schedule(link, 1.0)
    for due in timers.due(10.0):
        timers.schedule(due, 1.0)
    assert ids(timers, 10.0) == []
    assert ids(timers, 10.0 + TICK_SECONDS) == ["desk-1"]


def wakings(seconds: float, schedule: dict[float, float]) -> list[float]:
    """When somebody who waits for links is woken, who has so many seconds in virtual time.

    ``schedule`` has by the time at which a link is scheduled when it is due.
    """
    world, timers, woken = World(0), LinkTimers(), []
    process = Process(world, "node")

    async def wait() -> None:
        while True:
            list(timers.due(process.time()))
            await timers.until_due()
            woken.append(process.time())

    with simulated() as clocks:
        clocks.world = world
        process.call_soon(lambda: process.create_task(wait()))
        for at, due_at in schedule.items():
            process.call_at(at, timers.schedule, Timed(), due_at)
        world.run(seconds, lambda: False)
        world.end()
    return woken


def test_nobody_is_woken_where_no_link_is_ever_due() -> None:
    assert wakings(100_000.0, {}) == []
    assert wakings(100_000.0, {1.0: math.inf}) == []


def test_sleep_ends_with_the_tick_that_a_link_is_due_at() -> None:
    assert wakings(100.0, {1.0: 30.1}) == [1.0, 30.25]


def test_link_that_is_due_earlier_ends_the_sleep_in_time() -> None:
    assert wakings(100.0, {1.0: 90.0, 2.0: 50.0, 3.0: 20.1}) == [1.0, 2.0, 3.0, 20.25, 50.0, 90.0]


def test_link_that_is_due_later_does_not_end_the_sleep() -> None:
    assert wakings(100.0, {1.0: 20.0, 2.0: 50.0, 3.0: 20.0}) == [1.0, 20.0, 50.0]
