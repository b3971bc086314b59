"""One worker of a group: the processes that are it, one after the other."""

import asyncio
import logging
import time
from collections.abc import Callable
from typing import Final

from server.foundation import StartError
from server.tasks import at_most
from server.workers.pauses import Pauses
from server.workers.place import WorkerPlace
from server.workers.process import WorkerProcess

logger = logging.getLogger(__name__)

KILLED_SECONDS: Final = 5.0
READY_SECONDS: Final = 60.0
"""For the process that replaces another one to be ready."""

"""For a killed process to be gone."""


class FirstStart:
    """Whether a group has come up: with the first worker that answers, unless one fails before."""

    def __init__(self) -> None:
        self._over = asyncio.Event()
        self._error: str | None = None

    @property
    def is_over(self) -> bool:
        """Whether that is decided."""
        return self._over.is_set()

    @property
    def has_failed(self) -> bool:
        """Whether the group cannot come up."""
        return self._error is not None

    def end(self, error: str | None = None) -> None:
        """Decide it, where it is not yet; an error says why the group cannot come up."""
        if not self.is_over:
            self._error = error
            self._over.set()

    async def wait(self) -> None:
        """Wait until it is decided.  Raises StartError for a failure."""
        await self._over.wait()
        if self._error is not None:
            raise StartError(self._error)


class Worker:
    """A worker, which is started again when it ends by itself, or is to be replaced.

    What keeps a worker from its first start keeps all of them: as long as none has answered, the
    end of one is told to ``first_start``, and is the end of all.  Later on it is a line of the log.
    """

    def __init__(self, name: str, make: Callable[[], WorkerProcess], first: FirstStart) -> None:
        self.name = name
        self._make = make
        self._first = first
        self._process: WorkerProcess | None = None
        self._is_stopping = self._is_leaving = False
        self._ready = asyncio.Event()

    @property
    def pid(self) -> int | None:
        """Its process id; None where it has none now."""
        return self._process.pid if self._process and self._process.status is None else None

    def launch(self) -> None:
        """Start its process, which waits for its place.  Raises StartError."""
        try:
            self._process = self._make()
        except OSError as error:
            raise StartError(f"worker {self.name} cannot be started: {error}") from None

    async def run(self, place: WorkerPlace) -> None:
        """Give the launched process its place, and so each one after it, until ``stop``."""
        pauses = Pauses()
        while not self._is_stopping:
            begun_at = time.monotonic()
            error = await self._live(place)
            if not self._first.is_over:
                self._first.end(error)
            if self._is_stopping or self._first.has_failed:
                return
            if self._is_leaving:
                self._is_leaving = False
                continue
            pause = pauses.after(time.monotonic() - begun_at)
            logger.warning("%s; it is started again in %g s", error, pause)
            await asyncio.sleep(pause)

    async def _live(self, place: WorkerPlace) -> str:
        """Be one process until that has ended; what there is to say of its end."""
        try:
            if self._process is None:
                self.launch()
        except StartError as error:
            return str(error)
        assert self._process is not None  # noqa: S101  launched above
        process, reason = self._process, None
        process.hand_over(place)
        async for report in process.reports():
            reason = report.error
            if reason is None:
                took = time.monotonic() - process.begun_at
                logger.info("worker=%s pid=%d is ready after %.2f s", self.name, process.pid, took)
                self._first.end()
                self._ready.set()
        status, self._process = await process.until_ended(), None
        if not self._first.is_over:
            return reason or f"worker {self.name} ended with status {status} before it was ready"
        end = f"worker {self.name}, process {process.pid}, ended with status {status}"
        return end if reason is None else f"{end}: {reason}"

    def terminate(self) -> None:
        """Ask it to end, and do not start it again."""
        self._is_stopping = True
        if self._process is not None:
            self._process.terminate()

    async def replace(self, timeout: float) -> None:
        """Have its process end, within so many seconds, and wait until the next one is ready.

        Raises TimeoutError where that takes too long.
        """
        self._ready.clear()
        if self._process is not None:
            self._is_leaving = True
            self._process.leave()
            await self.until_ended(timeout)
        async with asyncio.timeout(READY_SECONDS):
            await self._ready.wait()

    async def until_ended(self, timeout: float) -> None:
        """Wait for its end, and kill it where it does not end within so many seconds."""
        process = self._process
        if process is None:
            return
        try:
            async with asyncio.timeout(timeout):
                await process.until_ended()
        except TimeoutError:
            logger.warning("worker=%s pid=%d does not end and is killed", self.name, process.pid)
            process.kill()
            await at_most(KILLED_SECONDS, process.until_ended())
