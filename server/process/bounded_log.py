"""Keeps what a child process prints in a file that cannot grow for ever."""

import os
import threading
from collections import deque
from pathlib import Path
from typing import IO

MAX_BYTES = 2 * 1024 * 1024
"""The size at which the file is set aside as ``<name>.1``, replacing the one before."""

_REMEMBERED_LINES = 200


class BoundedLog(threading.Thread):
    """Copies a pipe, line by line, until its other end is closed.

    A thread rather than a task: the child must never wait for a busy event loop to empty the
    pipe.  At most twice ``max_bytes`` stay on disk.
    """

    def __init__(self, pipe: IO[bytes], path: Path, *, max_bytes: int = MAX_BYTES) -> None:
        super().__init__(name=f"log-{path.name}", daemon=True)
        self._pipe = pipe
        self._path = path
        self._max_bytes = max_bytes
        self._last_lines: deque[str] = deque(maxlen=_REMEMBERED_LINES)

    @property
    def last_lines(self) -> list[str]:
        """The most recent lines, oldest first."""
        return list(self._last_lines)

    def run(self) -> None:
        with self._pipe:
            try:
                self._copy()
            except OSError as error:
                # A full disk must not block the child: go on reading, and keep nothing.
                self._last_lines.append(f"log file {self._path}: {error}")
                for line in self._pipe:
                    self._remember(line)

    def _copy(self) -> None:
        lines = iter(self._pipe)
        while True:
            self._set_aside()
            written = 0
            with _open_private(self._path) as file:
                for line in lines:
                    self._remember(line)
                    file.write(line)
                    file.flush()
                    written += len(line)
                    if written >= self._max_bytes:
                        break
                else:
                    return

    def _set_aside(self) -> None:
        if self._path.exists():
            self._path.replace(self._path.with_name(self._path.name + ".1"))

    def _remember(self, line: bytes) -> None:
        self._last_lines.append(line.decode(errors="replace").rstrip())


def _open_private(path: Path) -> IO[bytes]:
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb")
