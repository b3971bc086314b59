"""How a process that serves ends."""

import asyncio
import logging
import os
import signal

import pytest

from server.cli.running import on_reload, run_until_told, stop_signal
from server.foundation import StartError
from tests.waiting import WAIT_SECONDS


class Served:
    """A server that may fail."""

    def __init__(self, *, fails: bool) -> None:
        self.fails, self.is_stopped = fails, False

    async def failed(self) -> None:
        if self.fails:
            raise StartError("its database is gone")
        await asyncio.Event().wait()

    async def stop(self) -> None:
        self.is_stopped = True


async def test_signal_ends_it_in_order(caplog: pytest.LogCaptureFixture) -> None:
    served, stopped = Served(fails=False), stop_signal()
    os.kill(os.getpid(), signal.SIGTERM)
    with caplog.at_level(logging.INFO):
        await asyncio.wait_for(run_until_told(stopped, served), WAIT_SECONDS)
    assert served.is_stopped
    assert [record.getMessage() for record in caplog.records] == [
        "stopping: running inputs end first; once more stops at once",
        "stopped",
    ]
    # The second would find the default again.
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


async def test_failure_ends_it_in_order_and_is_raised() -> None:
    served = Served(fails=True)
    with pytest.raises(StartError, match="its database is gone"):
        await asyncio.wait_for(run_until_told(stop_signal(), served), WAIT_SECONDS)
    assert served.is_stopped


async def test_hangup_is_taken_where_there_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "isatty", lambda _: False)
    reloaded = asyncio.Event()
    on_reload(reloaded.set)
    os.kill(os.getpid(), signal.SIGHUP)
    async with asyncio.timeout(WAIT_SECONDS):
        await reloaded.wait()


async def test_terminal_that_is_gone_ends_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "isatty", lambda _: True)
    before = signal.getsignal(signal.SIGHUP)
    on_reload(lambda: None)
    assert signal.getsignal(signal.SIGHUP) is before
