"""One operation for what many ask at the same time."""

import asyncio
from collections.abc import Sequence

import pytest

from server.errors import StoreUnavailable
from server.store.mongodb.batches import MOST, Batches
from server.tasks import Tasks
from tests.waiting import until


class Database:
    """Doubles numbers, and remembers how it was asked."""

    def __init__(self) -> None:
        self.asked: list[list[int]] = []
        self.may_answer = asyncio.Event()
        self.may_answer.set()
        self.error: Exception | None = None

    async def double(self, numbers: Sequence[int]) -> Sequence[int]:
        self.asked.append([*numbers])
        await self.may_answer.wait()
        if self.error is not None:
            raise self.error
        if 13 in numbers:
            raise ValueError(13)
        return [2 * number for number in numbers]


async def test_one_is_served_at_once_and_those_who_come_meanwhile_together() -> None:
    database, tasks = Database(), Tasks()
    batches = Batches(database.double, tasks, "double")
    database.may_answer.clear()
    first = asyncio.gather(batches.answer(1))
    await until(lambda: database.asked)
    others = asyncio.gather(*(batches.answer(number) for number in (2, 3, 2)))
    await asyncio.sleep(0)
    assert database.asked == [[1]]
    database.may_answer.set()
    assert (await first)[0] == 2
    assert await others == [4, 6, 4]
    assert database.asked == [[1], [2, 3, 2]]


async def test_no_operation_has_one_key_twice_or_too_many() -> None:
    database, tasks = Database(), Tasks()
    batches = Batches(database.double, tasks, "double", key=lambda number: number)
    assert await asyncio.gather(*(batches.answer(each) for each in (1, 2, 1, 3))) == [2, 4, 2, 6]
    assert database.asked == [[1, 2, 3], [1]]
    many = range(10, 10 + 2 * MOST, 2)
    await asyncio.gather(*(batches.answer(2 * each) for each in (*many, -1)))
    assert [len(each) for each in database.asked[2:]] == [MOST, 1]


async def test_what_one_is_at_fault_for_the_others_are_not_told() -> None:
    database, tasks = Database(), Tasks()
    batches = Batches(database.double, tasks, "double")
    answers = await asyncio.gather(
        *(batches.answer(each) for each in (12, 13, 14)), return_exceptions=True
    )
    assert answers[0] == 24
    assert isinstance(answers[1], ValueError)
    assert answers[2] == 28


async def test_all_are_told_that_the_database_does_not_answer_and_the_next_is_asked() -> None:
    database, tasks = Database(), Tasks()
    batches = Batches(database.double, tasks, "double")
    database.error = StoreUnavailable("It is away.")
    answers = await asyncio.gather(
        *(batches.answer(each) for each in (1, 2)), return_exceptions=True
    )
    assert [type(each) for each in answers] == [StoreUnavailable] * 2
    assert database.asked == [[1, 2]]
    database.error = None
    assert await batches.answer(3) == 6


async def test_who_gives_up_is_not_asked_for() -> None:
    database, tasks = Database(), Tasks()
    batches = Batches(database.double, tasks, "double")
    database.may_answer.clear()
    first = asyncio.gather(batches.answer(1))
    await until(lambda: database.asked)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(batches.answer(2), 0.001)
    database.may_answer.set()
    await first
    assert await batches.answer(3) == 6
    assert database.asked == [[1], [3]]


async def test_waiting_ends_with_the_tasks() -> None:
    database, tasks = Database(), Tasks()
    batches = Batches(database.double, tasks, "double")
    database.may_answer.clear()
    waiting = asyncio.gather(batches.answer(1), return_exceptions=True)
    await until(lambda: database.asked)
    await tasks.close(0)
    assert [type(each) for each in await waiting] == [asyncio.CancelledError]
