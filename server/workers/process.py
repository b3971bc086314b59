"""The process that a worker is, as its parent sees it."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from server.programs import die_with_parent
from server.workers.place import WorkerPlace, WorkerReport

_POLL_SECONDS: Final = 0.005


class WorkerProcess:
    """A worker that was started, and waits until its place is handed over.

    It loads its code meanwhile.  Make it in the main thread: the kernel ends the worker together
    with the thread that started it.  Raises OSError where no process is to be had.
    """

    def __init__(self, sockets: Sequence[int], *, testing: bool) -> None:
        self.begun_at = time.monotonic()
        self._sockets = tuple(sockets)
        readable, self._writable = os.pipe()
        self._reports = os.fdopen(readable, "rb", buffering=0)
        try:
            # A session of its own: Ctrl+C in the terminal must reach the parent alone, which ends
            # its workers in order.
            self._process = subprocess.Popen(  # noqa: S603  no shell, and our own arguments
                _command(testing=testing),
                stdin=subprocess.PIPE,
                pass_fds=[*self._sockets, self._writable],
                start_new_session=True,
            )
        except BaseException:
            self._reports.close()
            raise
        finally:
            os.close(self._writable)

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    @property
    def status(self) -> int | None:
        """The status with which it ended, negative for a signal; None while it runs."""
        return self._process.poll()

    def hand_over(self, place: WorkerPlace) -> None:
        """Give it its place, with the descriptors that it has inherited."""
        assert self._process.stdin is not None  # noqa: S101  asked for above
        own = place.model_copy(update={"sockets": self._sockets, "reports": self._writable})
        # One that has ended already is told of by its status.
        with suppress(OSError):
            self._process.stdin.write(own.to_bytes())
        with suppress(OSError):
            self._process.stdin.close()

    async def reports(self) -> AsyncIterator[WorkerReport]:
        """What it says of itself, until it ends."""
        reader = asyncio.StreamReader()
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), self._reports
        )
        try:
            while line := await reader.readline():
                with suppress(ValidationError):  # cut short by its end
                    yield WorkerReport.model_validate_json(line)
        finally:
            transport.close()

    async def until_ended(self) -> int:
        """Wait for its end; its status."""
        while (status := self.status) is None:  # noqa: ASYNC110 - no event tells
            await asyncio.sleep(_POLL_SECONDS)
        return status

    def terminate(self) -> None:
        """Ask it to end: running inputs end first."""
        self._process.terminate()

    def leave(self) -> None:
        """Ask it to end while the other workers go on: its machines move to them first."""
        self._process.send_signal(signal.SIGHUP)

    def kill(self) -> None:
        """End it at once."""
        self._process.kill()


def _command(*, testing: bool) -> list[str]:
    launcher = [sys.executable, "-I", "-S", str(Path(die_with_parent.__file__).absolute())]
    # -P: a directory of that name where the server happens to be started must not be run instead.
    command = [sys.executable, "-P", "-m", "server", "worker", *(["--testing"] if testing else [])]
    return [*launcher, str(os.getpid()), *command]
