"""Owns clipboards: in Wayland a copied text stays with its program, which gives it to who pastes.

So whoever writes the clipboard must be there for as long as somebody may paste, and answer while
an input runs: that is a thread of its own, with a connection of its own.
"""

import contextlib
import os
import select
import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import Empty, SimpleQueue

from machine_client.desktop.base import DesktopError, DesktopLost
from machine_client.desktop.wayland.clipboard.gifts import Gifts
from machine_client.desktop.wayland.clipboard.selections import TEXT_FORMS, ClipboardDevice
from machine_client.desktop.wayland.wire.connection import Proxy
from machine_client.desktop.wayland.wire.protocols import DATA_SOURCE
from schemas.inputs.clipboard_texts import Selection


class ClipboardOwner:
    """Owns what it was given until another program copies something, or until it is closed.

    Raises InjectionUnavailable where the display cannot be opened, and DesktopLost.
    """

    def __init__(self, name: str | None) -> None:
        self._device = ClipboardDevice(name)
        self._connection = self._device.connection
        self._gifts = Gifts()
        self._jobs: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._awake, self._wake = os.pipe()
        self._guard = threading.Lock()
        self._is_over = False
        self._thread = threading.Thread(target=self._run, name="clipboard", daemon=True)
        self._thread.start()

    @property
    def is_over(self) -> bool:
        """Whether its display has ended."""
        return self._is_over

    def put(self, selection: Selection, text: str) -> None:
        """Own a clipboard from now on, and give this text to who pastes.

        Returns when the compositor has handled it.  Raises ClipboardError where it cannot be, and
        DesktopLost.
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
                raise DesktopLost("The connection to the Wayland compositor ended")
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

    def _end(self) -> None:
        self._is_over = True

    def _run(self) -> None:
        try:
            with contextlib.suppress(DesktopError):
                while not self._is_over:
                    self._turn()
        finally:
            with self._guard:
                self._is_over = True
            self._connection.close()
            self._gifts.close()
            # Whoever still waits is told so by the connection, which has ended.
            with contextlib.suppress(Empty):
                while True:
                    self._jobs.get_nowait()()
            os.close(self._awake)
            os.close(self._wake)

    def _turn(self) -> None:
        self._connection.flush()
        poll = select.poll()
        for descriptor in (self._connection.fileno(), self._awake):
            poll.register(descriptor, select.POLLIN)
        for descriptor in self._gifts.waiting:
            poll.register(descriptor, select.POLLOUT)
        poll.poll(self._gifts.patience_milliseconds)
        self._connection.hear()
        self._gifts.go_on()
        with contextlib.suppress(Empty):
            while True:
                job = self._jobs.get_nowait()
                os.read(self._awake, 1)
                job()

    def _own(self, selection: Selection, content: bytes) -> None:
        self._device.check(selection)
        source = self._connection.create(DATA_SOURCE)
        self._connection.send(self._device.manager, "create_data_source", source)
        source.on = {
            "send": lambda _form, descriptor: self._gifts.begin(descriptor, content),
            "cancelled": lambda: self._taken_over(source),
        }
        for form in TEXT_FORMS:
            self._connection.send(source, "offer", form)
        self._device.own(selection, source)
        self._connection.round_trip()

    def _taken_over(self, source: Proxy) -> None:
        """Another program has copied something, or we have."""
        self._connection.destroy(source)
