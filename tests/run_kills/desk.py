"""A machine with the form on its screen; both programs are started again whenever they end."""

import contextlib
import signal
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from tests.desktop import virtual_display
from tests.faults.fault_proxy import FaultProxy
from tests.faults.supervised_process import SupervisedProcess, child
from tests.faults.world import World
from tests.machine_client.desktop.accessibility.rig import DEBIANS_PYTHON, session_bus
from tests.processes import Process, joined, until

FORM: Final = Path(__file__).with_name("form.py")

HEARTBEAT: Final = "1"
"""Seconds: so a client that stands still for a few has lost its link."""


@dataclass(frozen=True)
class Entered:
    """A line of the form's record: what was done to a row, and when."""

    run: int
    row: int
    at: float
    text: str | None = None
    """All that the row has then, where something was typed in it."""


class Shown(NamedTuple):
    """Where a machine shows its program."""

    display: str
    bus: str


class Desk:
    """One machine; ``program`` is what it shows, which is called with its ``record``."""

    def __init__(
        self,
        name: str,
        directory: Path,
        shown: Shown,
        url: str,
        program: Sequence[str] = (DEBIANS_PYTHON, str(FORM)),
        record: Path | None = None,
        heartbeat: str = HEARTBEAT,
    ) -> None:
        self.name = name
        self.token = ""
        self.next_failpoints = ""
        self.runs = self._settles = 0
        self._shown, self._url, self._program = shown, url, program
        self._heartbeat = heartbeat
        self._directory = directory / name
        self._directory.mkdir(parents=True)
        self.record = record or self._directory / "record"
        self.record.touch()
        self.client = SupervisedProcess(name, self._run_client)
        self.form = SupervisedProcess(f"form of {name}", self._run_form)

    @classmethod
    @contextlib.contextmanager
    def placed(cls, name: str, directory: Path, world: World, **more: Any) -> Iterator["Desk"]:
        """Show its form, or another program; its client is started once it has a token."""
        with (
            virtual_display("640x480x24") as display,
            session_bus(display) as bus,
            FaultProxy(world.address) as proxy,
        ):
            desk = cls(name, directory, Shown(display, bus), proxy.url, **more)
            desk.form.start()
            with contextlib.closing(desk.form), contextlib.closing(desk.client):
                yield desk

    def begin(self, hidden: int | None = None) -> int:
        """Empty the form for the next run, with a row ``hidden``; its number."""
        self.runs += 1
        if hidden is not None:
            self._write(f"hide {self.runs} {hidden}")
        self._write(f"run {self.runs}")
        shown = f"shown {self.runs}"
        until(lambda: shown in self._lines(), f"{self.name} is empty")
        return self.runs

    def focus(self, run: int, row: int) -> None:
        """Put the form's caret into a field, as a person would."""
        self._write(f"focus {run} {row}")

    def unhide(self, run: int, row: int) -> None:
        """Show a row that was hidden."""
        self._write(f"unhide {run} {row}")

    def settle(self, run: int) -> None:
        """Wait until the form has done all that its display had for it."""
        self._settles += 1
        number = self._settles
        self._write(f"settle {run} {number}")
        until(lambda: f"settled {run} {number}" in self._lines(), f"{self.name} rests")

    def entered(self, run: int) -> list[Entered]:
        """What was entered in a run, in order."""
        return [each for each in self._all() if each.run == run]

    def stopped_at(self) -> str:
        """The point at which its client was stopped last."""
        return point_of((self._directory / "machine.log").read_text(errors="replace"))

    def check(self) -> None:
        """Fail where one of its programs has ended without being killed."""
        for program, log in ((self.client, "machine.log"), (self.form, "form.log")):
            said = (self._directory / log).read_text(errors="replace")[-2000:]
            assert {*program.exit_codes} <= {-signal.SIGKILL}, f"{program.name} ended: {said}"

    def _all(self) -> Iterator[Entered]:
        for line in self._lines():
            verb, run, *more = line.split(" ")
            if verb in ("pressed", "typed"):
                row, at, *text = more
                yield Entered(int(run), int(row), float(at), text[0] if verb == "typed" else None)

    def _lines(self) -> list[str]:
        return self.record.read_text().splitlines()

    def _write(self, line: str) -> None:
        with self.record.open("a") as record:
            record.write(f"{line}\n")

    @contextlib.contextmanager
    def _run_client(self) -> Iterator[Process]:
        failpoints, self.next_failpoints = self.next_failpoints, ""
        with joined(
            self._url,
            self.token,
            self._directory,
            self._shown.display,
            wait=False,
            failpoints=failpoints,
            bus=self._shown.bus,
            heartbeat=self._heartbeat,
            reconnect_longest="2",
        ) as program:
            yield program.process

    @contextlib.contextmanager
    def _run_form(self) -> Iterator[Process]:
        variables = {
            "DISPLAY": self._shown.display,
            "DBUS_SESSION_BUS_ADDRESS": self._shown.bus,
            "GTK_MODULES": "gail:atk-bridge",
            "NO_AT_BRIDGE": "0",
            "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1",
            "GSETTINGS_BACKEND": "memory",
            "LC_ALL": "C.UTF-8",
        }
        given = [f"{name}={value}" for name, value in variables.items()]
        command = (*self._program, str(self.record))
        with child(self._directory / "form.log", "/usr/bin/env", *given, *command) as process:
            yield process


def point_of(log: str) -> str:
    """The failpoint at which a program was stopped last, which it says itself."""
    return log.rpartition("stop at ")[2].partition("\n")[0]
