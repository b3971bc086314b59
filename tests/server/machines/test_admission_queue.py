import asyncio

import pytest

from server.machines.admission_queue import AdmissionQueue
from server.tasks import Tasks


async def test_no_more_than_the_places_work_at_once_and_in_order() -> None:
    queue, working, most, order = AdmissionQueue(2, 60.0), 0, 0, []

    async def work(number: int) -> None:
        nonlocal working, most
        async with queue.turn():
            order.append(number)
            working += 1
            most = max(most, working)
            await asyncio.sleep(0)
            working -= 1

    async with asyncio.TaskGroup() as group:
        for number in range(6):
            group.create_task(work(number))
    assert most == 2
    assert order == [0, 1, 2, 3, 4, 5]


async def test_who_takes_long_goes_on_and_gives_its_place_to_one_other() -> None:
    queue, may_end, ended = AdmissionQueue(1, 0.01), asyncio.Event(), []

    async def slow() -> None:
        async with queue.turn():
            await may_end.wait()
            ended.append("slow")

    async with asyncio.TaskGroup() as group, asyncio.timeout(10):
        group.create_task(slow())
        await asyncio.sleep(0)
        async with queue.turn():
            ended.append("next")
        may_end.set()
    assert ended == ["next", "slow"]
    # Its place was given back once, not twice: there is still one turn at a time.
    waiting = Tasks()
    async with queue.turn():
        second = waiting.start(_take(queue), "a second turn")
        await asyncio.sleep(0)
        assert not second.done()
    await second


async def _take(queue: AdmissionQueue) -> None:
    async with queue.turn():
        pass


async def test_turn_that_fails_is_over() -> None:
    queue = AdmissionQueue(1, 60.0)
    for _ in range(3):
        with pytest.raises(ZeroDivisionError):
            async with asyncio.timeout(10), queue.turn():
                _ = 1 // 0
