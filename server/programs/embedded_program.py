"""A program that we bring along: it runs in a directory of its own, and lives and dies with us."""

import asyncio
import logging
import os
import shutil
import time
from abc import ABC, abstractmethod
from pathlib import Path
from typing import ClassVar, Final

from server.programs.child_program import ChildProgram, end_left_over, locked

logger = logging.getLogger(__name__)

_WATCH_SECONDS = 1.0

LITTLE_ROOM: Final = 128 * 1024 * 1024
"""With less, a disk is told of where a program has ended: MongoDB takes 100 MiB of it at once."""


class EmbeddedProgram(ABC):
    """Starts, supervises and ends a program whose files are all in one directory.

    Call ``launch`` in a thread that lives as long as ours does, normally the main one: the kernel
    ends the program together with the thread that started it.
    """

    what: ClassVar[str]
    """What it is for us, such as MongoDB."""

    program: ClassVar[str]
    """What it is called, such as mongod."""

    setting: ClassVar[str]
    """The environment variable that names one of somebody else's."""

    failure: ClassVar[type[Exception]]
    """What is raised; its message is a sentence for a person."""

    start_seconds: ClassVar[float]
    """How long it may take until it is ready."""

    stop_seconds: ClassVar[float]
    """How long it may take to end by itself before it is killed."""

    def __init__(self, directory: Path, *, binary: Path | None = None) -> None:
        self._directory = directory.absolute()
        self._binary = binary
        self._lock: int | None = None
        self._launched_at = 0.0
        self._program: ChildProgram | None = None

    @property
    def pid(self) -> int | None:
        """Its process id, while there is one."""
        return self._program.pid if self._program else None

    @property
    def is_alive(self) -> bool:
        """Whether it was started and has not ended since."""
        return self._program is not None and self._program.status is None

    async def start(self) -> str:
        """Start it, wait until it is ready, and return the address that reaches it.

        Raises ``failure``, and leaves nothing running, where that is not possible.
        """
        self.launch()
        return await self.until_ready()

    def launch(self) -> None:
        """Start it, and wait for nothing.

        Raises ``failure``, and leaves nothing running, where that is not possible.
        """
        if self._program is not None:
            raise self.failure(f"This embedded {self.what} is started already.")
        binary = self._binary or self._find()
        try:
            close_to_others(self._directory)
            self._take_lock()
            self._end_left_over()
            command = [str(binary), *self._prepare()]
            self._launched_at = time.monotonic()
            self._program = ChildProgram(command, directory=self._directory, log=self._log_path)
        except OSError as error:
            self._release_lock()
            raise self._cannot_use(error) from error
        except BaseException:
            self._release_lock()
            raise

    async def until_ready(self) -> str:
        """Wait until what was launched is of use; the address that reaches it.

        Raises ``failure``, and leaves nothing running, where that is not possible.
        """
        if self._program is None:
            raise self.failure(f"This embedded {self.what} is not started.")
        try:
            async with asyncio.timeout(self.start_seconds):
                address = await self._become_ready()
        except TimeoutError:
            await self.stop()
            raise self.failure(
                f"The embedded {self.program} was not ready after {self.start_seconds:g} s; see "
                f"{self._log_path}."
            ) from None
        except OSError as error:
            await self.stop()
            raise self._cannot_use(error) from error
        except BaseException:
            await self.stop()
            raise
        seconds = time.monotonic() - self._launched_at
        logger.info("the embedded %s is ready after %.2f s", self.what, seconds)
        return address

    async def stop(self) -> None:
        """End it, by force where it does not end, and let go of the directory."""
        try:
            if self._program is not None:
                await self._program.end(self.stop_seconds)
        finally:
            self._program = None
            self._release_lock()

    async def until_ended(self) -> None:
        """Wait for it, and raise ``failure`` when it has ended by itself."""
        while self.is_alive:  # noqa: ASYNC110 - no event tells
            await asyncio.sleep(_WATCH_SECONDS)
        raise self.failure(
            f"The embedded {self.program} ended by itself; its log is {self._log_path}."
            f"{self._room()}"
        )

    @abstractmethod
    def _find(self) -> Path:
        """The program's file.  Raises ``failure`` where there is none."""

    @abstractmethod
    def _prepare(self) -> list[str]:
        """Write what it reads at its start; the arguments that it is called with."""

    @abstractmethod
    async def _become_ready(self) -> str:
        """Wait until it is of use, however long that takes; the address that reaches it."""

    @abstractmethod
    def _traces(self) -> tuple[Path, Path]:
        """The file in which it leaves its process id, and an argument that no other one has."""

    @abstractmethod
    def _last_words(self, lines: list[str]) -> str:
        """The line of its log that best tells why it ended."""

    def _check_alive(self) -> None:
        """Raise ``failure``, with what it said last, where it has ended."""
        if self._program is None or (status := self._program.status) is None:
            return
        raise self.failure(
            f"The embedded {self.program} ended at once, with status {status}: "
            f"{self._last_words(self._program.last_lines())} (its log is {self._log_path})"
            f"{self._room()}"
        )

    def _room(self) -> str:
        """That the disk is full, or nearly so; such a program may be unable to say it."""
        room = shutil.disk_usage(self._directory).free
        if room >= LITTLE_ROOM:
            return ""
        return f" The disk of {self._directory} has {room >> 20} MiB left: make room."

    @property
    def _log_path(self) -> Path:
        return self._directory / f"{self.program}.log"

    def _take_lock(self) -> None:
        try:
            self._lock = locked(self._directory / "lock")
        except BlockingIOError:
            raise self.failure(
                f"Another server already uses {self._directory}: stop it, or give this one "
                f"another data directory, or set {self.setting} for both."
            ) from None

    def _release_lock(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _cannot_use(self, error: OSError) -> Exception:
        return self.failure(f"The embedded {self.what} cannot use {self._directory}: {error}")

    def _end_left_over(self) -> None:
        """Kill one that outlived its parent."""
        if (pid := end_left_over(*self._traces(), self.stop_seconds)) is not None:
            raise self.failure(f"An earlier {self.program}, process {pid}, does not end.")


def close_to_others(directory: Path) -> None:
    """Make a directory, and let nobody else enter it."""
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    # There before, or made under a strange umask.
    directory.chmod(0o700)
