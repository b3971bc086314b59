import asyncio
import logging

import pytest

from server.tasks import Tasks
from tests.store import async_test


@async_test
async def test_started_task_has_its_name_and_its_result() -> None:
    async def work() -> int:
        return 7

    task = Tasks().start(work(), "some work")
    assert task.get_name() == "some work"
    assert await task == 7


@async_test
async def test_error_that_nobody_awaits_is_logged_with_the_tasks_name(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def fail() -> None:
        raise RuntimeError("the reason")

    tasks = Tasks()
    with caplog.at_level(logging.ERROR):
        tasks.start_and_report(fail(), "some work")
        await tasks.close(5.0)
        await asyncio.sleep(0)
    assert "task some work failed" in caplog.text
    assert "the reason" in caplog.text


@async_test
async def test_close_waits_for_what_ends_and_cancels_what_does_not(
    caplog: pytest.LogCaptureFixture,
) -> None:
    ended, cancelled = [], []

    async def end() -> None:
        await asyncio.sleep(0)
        ended.append(True)

    async def never() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.append(True)
            raise

    tasks = Tasks()
    tasks.start_and_report(end(), "ends")
    tasks.start_and_report(never(), "never ends")
    await tasks.close(0.05)
    assert (ended, cancelled) == ([True], [True])
    assert caplog.text == ""


@async_test
async def test_close_waits_for_what_the_last_ones_start() -> None:
    ended, tasks = [], Tasks()

    async def second() -> None:
        await asyncio.sleep(0)
        ended.append("second")

    async def first() -> None:
        await asyncio.sleep(0)
        tasks.start(second(), "second")
        ended.append("first")

    tasks.start(first(), "first")
    await tasks.close(5.0)
    assert ended == ["first", "second"]


@async_test
async def test_close_of_nothing_returns_at_once() -> None:
    async with asyncio.timeout(1):
        await Tasks().close(60.0)
