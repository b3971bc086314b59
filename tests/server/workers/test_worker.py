"""A worker is one process after the other; here played, where test_process.py has real ones."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import cast

import pytest

from server.foundation import StartError
from server.settings import ServerSettings
from server.tasks import Tasks
from server.workers import pauses, worker
from server.workers.place import WorkerPlace, WorkerReport
from server.workers.process import WorkerProcess
from server.workers.worker import FirstStart, Worker
from tests.waiting import WAIT_SECONDS

READY, REFUSED = WorkerReport(), WorkerReport(error="MongoDB is away")


class Played:
    """A process that says what it is told to say, and ends then or when it is told."""

    def __init__(self, *says: WorkerReport, status: int | None = None, is_deaf: bool = False):
        self.pid, self.begun_at = 7, 0.0
        self.says, self.status, self.is_deaf = says, status, is_deaf
        self.told: list[str] = []
        self.begun, self.ended = asyncio.Event(), asyncio.Event()

    def hand_over(self, place: WorkerPlace) -> None:
        self.told.append(place.settings.node_name)
        self.begun.set()

    async def reports(self) -> AsyncIterator[WorkerReport]:
        for each in self.says:
            yield each
        if self.status is None:
            await self.ended.wait()

    async def until_ended(self) -> int:
        if self.status is None:
            await self.ended.wait()
        assert self.status is not None
        return self.status

    def terminate(self) -> None:
        self.told.append("terminate")
        if not self.is_deaf:
            self.status = 0
            self.ended.set()

    def leave(self) -> None:
        self.told.append("leave")
        if not self.is_deaf:
            self.status = 0
            self.ended.set()

    def kill(self) -> None:
        self.told.append("kill")
        self.status = -9
        self.ended.set()


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pauses, "FIRST_SECONDS", 0.01)


@pytest.fixture
def place(tmp_path: Path) -> WorkerPlace:
    settings = ServerSettings(data_dir=tmp_path, node_name="test-1")
    return WorkerPlace(group="g1", settings=settings, sockets=(3,), reports=4)


def playing(first: FirstStart, *lives: Played | OSError) -> Worker:
    waiting = list(lives)

    def make() -> Played:
        life = waiting.pop(0)
        if isinstance(life, OSError):
            raise life
        return life

    return Worker("test-1", cast("Callable[[], WorkerProcess]", make), first)


async def test_worker_that_ends_is_started_again_and_that_is_said(
    place: WorkerPlace, caplog: pytest.LogCaptureFixture
) -> None:
    last = Played(READY)
    lives = (Played(READY, status=-9), Played(REFUSED, status=1), OSError("no room"), last)
    first = FirstStart()
    playing_worker = playing(first, *lives)
    with caplog.at_level(logging.WARNING):
        playing_worker.launch()
        running = Tasks().start(playing_worker.run(place), "run")
        await asyncio.wait_for(first.wait(), WAIT_SECONDS)
        await asyncio.wait_for(last.begun.wait(), WAIT_SECONDS)
        assert playing_worker.pid == 7
        playing_worker.terminate()
        await asyncio.wait_for(running, WAIT_SECONDS)
    assert last.told == ["test-1", "terminate"]
    assert [record.getMessage() for record in caplog.records] == [
        "worker test-1, process 7, ended with status -9; it is started again in 0.01 s",
        "worker test-1, process 7, ended with status 1: MongoDB is away; "
        "it is started again in 0.02 s",
        "worker test-1 cannot be started: no room; it is started again in 0.04 s",
    ]


@pytest.mark.parametrize(
    ("life", "words"),
    [
        (Played(REFUSED, status=1), "^MongoDB is away$"),
        (Played(status=-9), "^worker test-1 ended with status -9 before it was ready$"),
    ],
    ids=["refused", "killed"],
)
async def test_worker_that_fails_before_any_is_ready_is_the_end_of_all(
    life: Played, words: str, place: WorkerPlace
) -> None:
    first = FirstStart()
    failing, late = playing(first, life), playing(first, Played(status=1))
    for each in (failing, late):
        each.launch()
        await asyncio.wait_for(each.run(place), WAIT_SECONDS)
    with pytest.raises(StartError, match=words):
        await first.wait()


async def test_worker_that_is_replaced_is_ready_again_and_nobody_is_warned(
    place: WorkerPlace, caplog: pytest.LogCaptureFixture
) -> None:
    first, lives = FirstStart(), (Played(READY), Played(READY))
    playing_worker = playing(first, *lives)
    with caplog.at_level(logging.WARNING):
        playing_worker.launch()
        running = Tasks().start(playing_worker.run(place), "run")
        await asyncio.wait_for(first.wait(), WAIT_SECONDS)
        await playing_worker.replace(20)
        assert lives[0].told == ["test-1", "leave"]
        assert lives[1].told == ["test-1"]
        playing_worker.terminate()
        await asyncio.wait_for(running, WAIT_SECONDS)
    assert caplog.text == ""


async def test_worker_that_does_not_leave_is_killed_and_replaced(place: WorkerPlace) -> None:
    first, lives = FirstStart(), (Played(READY, is_deaf=True), Played(READY))
    playing_worker = playing(first, *lives)
    playing_worker.launch()
    running = Tasks().start(playing_worker.run(place), "run")
    await asyncio.wait_for(first.wait(), WAIT_SECONDS)
    await playing_worker.replace(0.01)
    assert lives[0].told == ["test-1", "leave", "kill"]
    playing_worker.terminate()
    await asyncio.wait_for(running, WAIT_SECONDS)


async def test_replacement_that_is_not_ready_in_time_is_said(
    place: WorkerPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "READY_SECONDS", 0.01)
    first = FirstStart()
    playing_worker = playing(first, Played(READY), Played())
    playing_worker.launch()
    running = Tasks().start(playing_worker.run(place), "run")
    await asyncio.wait_for(first.wait(), WAIT_SECONDS)
    with pytest.raises(TimeoutError):
        await playing_worker.replace(20)
    playing_worker.terminate()
    await asyncio.wait_for(running, WAIT_SECONDS)


async def test_failure_after_the_first_is_ready_is_not(place: WorkerPlace) -> None:
    first = FirstStart()
    first.end()
    late = playing(first, Played(REFUSED, status=1), life := Played(READY))
    late.launch()
    running = Tasks().start(late.run(place), "run")
    await asyncio.wait_for(life.begun.wait(), WAIT_SECONDS)
    late.terminate()
    await asyncio.wait_for(running, WAIT_SECONDS)
    await first.wait()


def test_process_that_is_not_to_be_had_is_said() -> None:
    with pytest.raises(StartError, match="worker test-1 cannot be started: no room"):
        playing(FirstStart(), OSError("no room")).launch()


async def test_worker_that_does_not_end_is_killed() -> None:
    deaf, polite = Played(is_deaf=True), Played()
    for life, timeout in ((deaf, 0.01), (polite, worker.KILLED_SECONDS)):
        each = playing(FirstStart(), life)
        each.launch()
        each.terminate()
        await asyncio.wait_for(each.until_ended(timeout), WAIT_SECONDS)
    assert deaf.told == ["terminate", "kill"]
    assert polite.told == ["terminate"]
