"""A session's file: lines that outlive the program, and that one program has at a time."""

import os
import stat
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final

from farhand.errors import SessionError, SessionInUse

MAX_BYTES: Final = 64 * 1024 * 1024
"""What is longer is no session's file."""


class SessionFile:
    """A file that lines are added to.  Every method raises a SessionError."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.size = 0
        """How many bytes of whole lines it has."""
        self._descriptor = -1

    @property
    def is_open(self) -> bool:
        """Whether this object has it."""
        return self._descriptor >= 0

    def open(self) -> bytes:
        """Have it alone, and return what is in it.  It is made where it is not there."""
        if self.is_open:
            raise SessionInUse(f"this program has the session of {self.path} open already")
        try:
            self._descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | _BINARY, 0o600)
            return self._content()
        except OSError as error:
            self.close()
            raise SessionError(f"cannot open {self.path}: {error.strerror}") from None
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let others have it; what is written stays."""
        if self.is_open:
            os.close(self._descriptor)
            self._descriptor = -1

    def cut(self, size: int) -> None:
        """Take off what stands behind so many bytes, such as a line that has no end."""
        try:
            self._cut(size)
        except OSError as error:
            raise self._unwritable(error) from None

    def add(self, line: bytes, *, flush: bool) -> None:
        """Add a line, or nothing of it.  One that is to be ``flush``ed is on the disk then."""
        content = rest = line + b"\n"
        try:
            while rest:
                rest = rest[os.write(self._descriptor, rest) :]
            if flush:
                os.fsync(self._descriptor)
        except OSError as error:
            with suppress(OSError):
                self._cut(self.size)
            raise self._unwritable(error) from None
        if self.size == 0:
            _flush_directory(self.path.parent)
        self.size += len(content)

    def _cut(self, size: int) -> None:
        os.ftruncate(self._descriptor, size)
        os.lseek(self._descriptor, size, os.SEEK_SET)
        self.size = size

    def _content(self) -> bytes:
        if not stat.S_ISREG(os.fstat(self._descriptor).st_mode):
            raise SessionError(f"{self.path} is no ordinary file")
        _lock(self._descriptor, self.path)
        content = bytearray()
        while piece := os.read(self._descriptor, 1024 * 1024):
            content += piece
            if len(content) > MAX_BYTES:
                raise SessionError(f"{self.path} is too long for a session's file")
        self.size = len(content)
        return bytes(content)

    def _unwritable(self, error: OSError) -> SessionError:
        return SessionError(f"cannot write {self.path}: {error.strerror}")


_BINARY = getattr(os, "O_BINARY", 0)


def _flush_directory(directory: Path) -> None:
    """Have a new file's name on the disk, where the system lets a program see to that."""
    with suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int, path: Path) -> None:
        try:
            # Far behind the end: nothing is ever written there.
            os.lseek(descriptor, MAX_BYTES * 2, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
            os.lseek(descriptor, 0, os.SEEK_SET)
        except PermissionError:
            raise _in_use(path) from None

else:
    import fcntl

    def _lock(descriptor: int, path: Path) -> None:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise _in_use(path) from None


def _in_use(path: Path) -> SessionInUse:
    return SessionInUse(f"another program has the session of {path} open")
