"""A desktop of one machine, and how often each of its places was really pressed."""

import contextlib
import threading
from collections import Counter
from collections.abc import Iterator

import Xlib.display
from Xlib import X
from Xlib.ext import xtest

from tests.desktop import DeviceEvent, Witness, virtual_display
from tests.faults.history import HEIGHT, WIDTH, Place

COUNT_EVERY_SECONDS = 1.0
_BUTTONS = range(1, 8)


class Desk:
    """An X server, and a witness whose events are counted by place while they come."""

    def __init__(self, display: str) -> None:
        self.display = display
        self.presses: Counter[Place] = Counter()
        self._witness = Witness(display)
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._count_often, name="desk", daemon=True)
        self._thread.start()

    @classmethod
    @contextlib.contextmanager
    def running(cls) -> Iterator["Desk"]:
        with virtual_display(f"{WIDTH}x{HEIGHT}x24") as display:
            desk = cls(display)
            try:
                yield desk
            finally:
                desk.close()

    def count(self) -> Counter[Place]:
        """How often each place was pressed, everything up to now included."""
        with self._lock:
            count_presses(self._witness.take(), self.presses)
            return Counter(self.presses)

    def release_buttons(self) -> None:
        """Let go of every button, as a person does who finds one stuck.

        A machine client that was killed may have left one pressed, and X takes no further press of
        it.  What the client had written before its end is carried out before this: each request
        that waits for its answer gives the X server a turn at everything that has arrived.
        """
        connection = Xlib.display.Display(self.display)
        try:
            for _ in range(3):
                connection.sync()
            for button in _BUTTONS:
                xtest.fake_input(connection, X.ButtonRelease, button)
            connection.sync()
        finally:
            connection.close()

    def close(self) -> None:
        self._over.set()
        self._thread.join()
        self._witness.close()

    def _count_often(self) -> None:
        """Keep the witness's list short, however long the run is."""
        while not self._over.wait(COUNT_EVERY_SECONDS):
            self.count()


def count_presses(events: list[DeviceEvent], presses: Counter[Place]) -> None:
    """Add the presses among some events to those before."""
    presses.update(Place(event.x, event.y) for event in events if event.kind == "ButtonPress")
