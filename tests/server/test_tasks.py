import asyncio
import logging
from contextlib import suppress

import pytest

from server import tasks as tasks_module
from server.tasks import OnFailure, Tasks
from tests.supervision import (
    begins_again_after_pauses_that_grow,
    begins_again_soon_where_it_ran_long,
)
from tests.waiting import WAIT_SECONDS


async def test_started_task_has_its_name_and_its_result() -> None:
    async def work() -> int:
        return 7

    task = Tasks().start(work(), "some work")
    assert task.get_name() == "some work"
    assert await task == 7


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


async def test_close_ends_what_has_missed_its_cancellation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks_module, "CANCEL_AGAIN_SECONDS", 0.01)

    async def misses_the_first() -> None:
        with suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        await asyncio.Event().wait()

    tasks = Tasks()
    task = tasks.start(misses_the_first(), "misses the first")
    await asyncio.sleep(0)
    async with asyncio.timeout(WAIT_SECONDS):
        await tasks.close(0)
    assert task.cancelled()


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


async def test_close_of_nothing_returns_at_once() -> None:
    async with asyncio.timeout(30):
        await Tasks().close(60.0)


async def test_supervised_task_begins_again_after_pauses_that_grow_to_a_bound(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    tasks = Tasks()
    await begins_again_after_pauses_that_grow(tasks.supervise, caplog, monkeypatch)
    assert tasks.failures == {"some work": 4}


async def test_supervised_task_that_ran_long_before_it_failed_begins_again_soon(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    await begins_again_soon_where_it_ran_long(Tasks().supervise, caplog, monkeypatch)


async def test_supervised_task_is_cancelled_as_any_other(caplog: pytest.LogCaptureFixture) -> None:
    tasks = Tasks()
    task = tasks.supervise(asyncio.Event().wait, "waits")  # type: ignore[arg-type]
    await tasks.close(0.0)
    assert task.cancelled()
    assert caplog.text == ""
    assert tasks.failures == {"waits": 0}


async def test_failure_that_ends_the_program_is_raised_where_that_is_awaited(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def fail() -> None:
        raise ValueError("the reason")

    tasks = Tasks()
    ending = tasks.start(tasks.until_fatal(), "waits for the end")
    tasks.supervise(fail, "some work", OnFailure.END_PROGRAM)
    with caplog.at_level(logging.ERROR), pytest.raises(ValueError, match="the reason"):
        await ending
    assert tasks.failures == {"some work": 1}
    assert "task some work failed, and the program cannot go on: the reason" in caplog.text
