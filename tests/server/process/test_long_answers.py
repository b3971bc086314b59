"""The places for long answers: few for each caller, few in all, and none is lost."""

import asyncio
from contextlib import AsyncExitStack
from uuid import UUID

import pytest

from server.process import long_answers
from server.process.long_answers import (
    MOST,
    MOST_OF_A_CALLER,
    MOST_WAITING,
    MOST_WAITING_OF_A_CALLER,
    LongAnswers,
    TooManyLongAnswersError,
)
from server.tasks import Tasks


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_answers, "WAIT_SECONDS", 0.05)


async def taken(places: LongAnswers, stack: AsyncExitStack, caller: int, count: int = 1) -> None:
    for _ in range(count):
        await stack.enter_async_context(places.place(UUID(int=caller)))


async def test_caller_has_few_places_and_others_have_theirs() -> None:
    places = LongAnswers()
    async with AsyncExitStack() as stack:
        await taken(places, stack, 1, MOST_OF_A_CALLER)
        with pytest.raises(TooManyLongAnswersError):
            await taken(places, stack, 1)
        await taken(places, stack, 2)
    async with AsyncExitStack() as stack:
        await taken(places, stack, 1, MOST_OF_A_CALLER)
    assert places._callers == {}


async def test_all_together_have_a_bound_and_who_gives_up_takes_no_place_along() -> None:
    places = LongAnswers()
    async with AsyncExitStack() as stack:
        for caller in range(MOST // MOST_OF_A_CALLER):
            await taken(places, stack, caller, MOST_OF_A_CALLER)
        for _ in range(MOST_OF_A_CALLER + 1):
            with pytest.raises(TooManyLongAnswersError):
                await taken(places, stack, 99)
    async with AsyncExitStack() as stack:
        await taken(places, stack, 99, MOST_OF_A_CALLER)


async def test_many_of_one_caller_that_wait_keep_nobody_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(long_answers, "WAIT_SECONDS", 60)
    places, tasks = LongAnswers(), Tasks()
    async with AsyncExitStack() as stack, AsyncExitStack() as others:
        await taken(places, stack, 1, MOST_OF_A_CALLER)
        waiting = [tasks.start(taken(places, others, 1), "wait") for _ in range(200)]
        await asyncio.sleep(0)
        await taken(places, others, 2, MOST_OF_A_CALLER)
        refused = [task for task in waiting if task.done()]
        assert len(refused) == 200 - MOST_WAITING_OF_A_CALLER
        for task in refused:
            assert isinstance(task.exception(), TooManyLongAnswersError)
        await tasks.close(0)
    assert places._callers == {}


async def test_no_more_than_so_many_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_answers, "WAIT_SECONDS", 60)
    places, tasks = LongAnswers(), Tasks()
    async with AsyncExitStack() as stack:
        for caller in range(MOST // MOST_OF_A_CALLER):
            await taken(places, stack, caller, MOST_OF_A_CALLER)
        for number in range(MOST_WAITING):
            caller = number // MOST_WAITING_OF_A_CALLER
            tasks.start(taken(places, AsyncExitStack(), caller), "wait for a place")
        await asyncio.sleep(0)
        with pytest.raises(TooManyLongAnswersError):
            await taken(places, stack, 99)
        await tasks.close(0)
    assert places._callers == {}
