"""A witnessed desktop on which a program with a field keeps its own record of what came there."""

import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path

from tests.faults.arrivals import FIELD, Copy
from tests.faults.history import Clock
from tests.faults.inputs import HEIGHT, WIDTH
from tests.faults.witnessed_desktop import WitnessedDesktop
from tests.machine_client.desktop.accessibility.rig import Program, accessible_desktop

PROGRAM = Path(__file__).with_name("field_program.py")


class DesktopWithField(WitnessedDesktop):
    """An X server with an accessibility bus, which machine clients that start meanwhile know of."""

    has_field = True

    def __init__(self, display: str, clock: Clock, program: Program) -> None:
        super().__init__(display, clock)
        self._program = program
        self._record: list[Copy] = []
        self._record_lock = threading.Lock()

    @classmethod
    @contextlib.contextmanager
    def running(cls, clock: Clock) -> Iterator["DesktopWithField"]:
        with (
            accessible_desktop(f"{WIDTH}x{HEIGHT}x24", "r") as accessible,
            accessible.shown(str(PROGRAM), "", "Record", {}) as program,
            contextlib.closing(cls(accessible.display, clock, program)) as desktop,
        ):
            yield desktop

    def copies(self) -> list[Copy]:
        """What was copied, and what came into the field."""
        with self._record_lock:
            for line in self._program.said:
                at, _, text = line.partition(" ")
                self._record.append(Copy(FIELD, text.encode(), self._clock.of_program(float(at))))
            return [*super().copies(), *self._record]
