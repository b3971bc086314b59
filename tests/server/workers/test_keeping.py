"""Programs of ours are started again."""

import asyncio
import logging

import pytest

from server.errors import EmbeddedMongoDBError
from server.tasks import Tasks
from server.workers import pauses
from server.workers.keeping import keep_running
from tests.waiting import WAIT_SECONDS


class Flaky:
    """A program that ends at once, and that cannot always be started."""

    def __init__(self, *starts: bool) -> None:
        self.starts = list(starts)
        self.did: list[str] = []
        self.over = asyncio.Event()

    def launch(self) -> None:
        self.did.append("launch")
        if not self.starts.pop(0):
            raise EmbeddedMongoDBError("It cannot be started.")

    async def until_ready(self) -> None:
        self.did.append("ready")

    async def until_ended(self) -> None:
        self.did.append("ended")
        if not self.starts:
            self.over.set()
            await asyncio.Event().wait()
        raise EmbeddedMongoDBError("It ended.")

    async def stop(self) -> None:
        self.did.append("stop")


async def test_program_that_ends_is_started_until_it_runs(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(pauses, "FIRST_SECONDS", 0.01)
    program, tasks = Flaky(False, True, True), Tasks()
    with caplog.at_level(logging.ERROR):
        keeping = tasks.start(keep_running(program), "keep")
        await asyncio.wait_for(program.over.wait(), WAIT_SECONDS)
    assert not keeping.done()
    await tasks.close(0)
    again = ["stop", "launch", "ready", "ended"]
    assert program.did == ["ended", "stop", "launch", *again, *again]
    assert [record.getMessage() for record in caplog.records] == [
        "It ended.  It is started again in 0.01 s.",
        "It cannot be started.  It is started again in 0.02 s.",
        "It ended.  It is started again in 0.04 s.",
    ]
