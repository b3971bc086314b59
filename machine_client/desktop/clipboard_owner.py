"""Copied texts on desktops where they stay with their program, which gives them to who pastes.

So whoever writes the clipboard must be there for as long as somebody may paste, and answer while
an input runs: that is a thread of its own, with a connection of its own.
"""

import contextlib
import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import Future
from queue import Empty, SimpleQueue

from machine_client.concurrency.threads import daemon_thread
from machine_client.desktop.base import (
    ClipboardError,
    DesktopError,
    DesktopLost,
    InjectionUnavailable,
)
from schemas.inputs.clipboard_texts import Selection


class ClipboardOwner(ABC):
    """Owns what it was given until another program copies something, or until it is closed.

    A desktop's own one prepares what it needs, and then this, which begins its thread.
    """

    def __init__(self) -> None:
        self._jobs: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._awake, self._wake = os.pipe()
        self._guard = threading.Lock()
        self._is_over = False
        self._thread = daemon_thread(self._run, "clipboard")
        self._thread.start()

    @property
    def is_over(self) -> bool:
        """Whether its display has ended."""
        return self._is_over

    def put(self, selection: Selection, text: str) -> None:
        """Own a clipboard from now on, and give this text to who pastes.

        Returns when the desktop has said that it is so.  Raises ClipboardError where it is not,
        and DesktopLost.
        """
        done: Future[None] = Future()

        def job() -> None:
            try:
                self._own(selection, text.encode())
            except Exception as error:  # noqa: BLE001  it is raised where it is waited for
                done.set_exception(error)
            else:
                done.set_result(None)

        with self._guard:
            if self._is_over:
                raise DesktopLost("The connection to the display ended")
            self._jobs.put(job)
            os.write(self._wake, b".")
        done.result()

    def close(self) -> None:
        """Give the clipboards up; safe when the display has ended, and twice."""
        with self._guard:
            if not self._is_over:
                self._jobs.put(self._end)
                os.write(self._wake, b".")
        self._thread.join(1.0)

    @abstractmethod
    def _own(self, selection: Selection, content: bytes) -> None:
        """Own a clipboard whose text, as UTF-8, is this.  Raises DesktopError."""

    @abstractmethod
    def _serve(self, awake: int) -> None:
        """Give what is asked for, or wait until something is, or until ``awake`` can be read.

        Raises DesktopError where the display has ended.
        """

    @abstractmethod
    def _disconnect(self) -> None:
        """Close the connection, whatever has become of it; what was owned is nobody's then."""

    def _end(self) -> None:
        self._is_over = True

    def _run(self) -> None:
        try:
            with contextlib.suppress(DesktopError):
                while not self._is_over:
                    self._serve(self._awake)
                    self._do_jobs()
        finally:
            with self._guard:
                self._is_over = True
            self._disconnect()
            # Whoever still waits is told so by the connection, which has ended.
            self._do_jobs()
            os.close(self._awake)
            os.close(self._wake)

    def _do_jobs(self) -> None:
        with contextlib.suppress(Empty):
            while True:
                job = self._jobs.get_nowait()
                os.read(self._awake, 1)
                job()


class ClipboardWriter:
    """Writes the clipboards; their owner is made when the first text comes: most never get one."""

    def __init__(self, new_owner: Callable[[], ClipboardOwner]) -> None:
        self._new_owner = new_owner
        self._owner: ClipboardOwner | None = None

    def write(self, selection: Selection, text: str) -> None:
        """Put a text into a clipboard.  Raises ClipboardError and DesktopLost."""
        try:
            if self._owner is None or self._owner.is_over:
                self._owner = self._new_owner()
        except InjectionUnavailable as error:
            raise ClipboardError("clipboard_unavailable", str(error)) from error
        self._owner.put(selection, text)

    def close(self) -> None:
        """Give the clipboards up."""
        if self._owner is not None:
            self._owner.close()
