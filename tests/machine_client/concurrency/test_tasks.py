import asyncio
import logging

import pytest

from machine_client.concurrency.tasks import Tasks
from tests.supervision import (
    begins_again_after_pauses_that_grow,
    begins_again_soon_where_it_ran_long,
)


async def fail() -> None:
    raise ValueError("the reason")


async def test_task_that_fails_begins_again_after_pauses_that_grow_to_a_bound(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    await begins_again_after_pauses_that_grow(Tasks().supervise, caplog, monkeypatch)


async def test_task_that_ran_long_before_it_failed_begins_again_soon(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    await begins_again_soon_where_it_ran_long(Tasks().supervise, caplog, monkeypatch)


async def test_error_that_nobody_awaits_is_logged_with_the_tasks_name(
    caplog: pytest.LogCaptureFixture,
) -> None:
    tasks = Tasks()
    with caplog.at_level(logging.ERROR):
        tasks.start_and_report(fail(), "some work")
        await tasks.run(asyncio.sleep(0.01), "the program")
    assert "task some work failed" in caplog.text
    assert "the reason" in caplog.text


async def test_run_raises_what_its_own_work_raises() -> None:
    with pytest.raises(ValueError, match="the reason"):
        await Tasks().run(fail(), "the program")


async def test_part_that_nothing_can_go_on_without_ends_the_program(
    caplog: pytest.LogCaptureFixture,
) -> None:
    tasks = Tasks()
    ended = asyncio.Event()

    async def work() -> None:
        try:
            tasks.end_program(KeyError("the reason"), "the core")
            tasks.end_program(KeyError("a later one"), "the core")
            await asyncio.Event().wait()
        finally:
            ended.set()

    with caplog.at_level(logging.ERROR), pytest.raises(KeyError, match="the reason"):
        await tasks.run(work(), "the program")
    assert not ended.is_set()
    await tasks.close()
    assert ended.is_set()
    assert "the core failed, and the machine client cannot go on" in caplog.text


async def test_close_cancels_what_runs_and_waits_for_its_end(
    caplog: pytest.LogCaptureFixture,
) -> None:
    tasks, ended = Tasks(), []

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            ended.append(True)

    tasks.supervise(work, "supervised")
    tasks.start_and_report(work(), "reported")
    await asyncio.sleep(0)
    await tasks.close()
    assert ended == [True, True]
    assert caplog.text == ""
