"""A desktop with an accessibility bus, and programs on it that say what was done to them."""

import os
import queue
import select
import subprocess
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType

import pytest

from machine_client.desktop.accessibility import bus, elements, programs, switch
from machine_client.desktop.accessibility.elements import AtSpiElements
from machine_client.desktop.base import Refusal
from machine_client.desktop.x11.windows import X11Windows
from schemas.inputs.globs import glob_of
from schemas.inputs.selectors import Selector
from tests.desktop import running, virtual_display
from tests.processes import go_on, stop
from tests.waiting import WAIT_SECONDS, eventually

HERE = Path(__file__).parent
DEBIANS_PYTHON = "/usr/bin/python3"


class Program:
    """A program of the tests, in a process of its own."""

    def __init__(self, script: str, *arguments: str, environment: dict[str, str]) -> None:
        self._process = subprocess.Popen(
            [DEBIANS_PYTHON, str(HERE / script), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            text=True,
        )
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.hears("shown")

    @property
    def pid(self) -> int:
        """Its process."""
        return self._process.pid

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line.strip())

    def hears(self, line: str) -> list[str]:
        """Wait until it has said this; what it said before it."""
        said: list[str] = []
        while True:
            said.append(self._lines.get(timeout=WAIT_SECONDS))
            if said[-1] == line:
                return said[:-1]

    def tell(self, *words: object) -> list[str]:
        """Have it change; what it has said until it had."""
        assert self._process.stdin is not None
        print(*words, file=self._process.stdin, flush=True)
        return self.hears("done")

    @property
    def said(self) -> list[str]:
        """What it has said of what was done to it, since this was last asked."""
        return self.tell("nothing")

    def stop(self) -> None:
        """Have it stand still, as one that hangs."""
        stop(self.pid)

    def go_on(self) -> None:
        """Have it go on."""
        go_on(self.pid)

    def __enter__(self) -> "Program":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.kill()
        self._process.wait()
        self._reader.join(WAIT_SECONDS)
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()


class AccessibleDesktop:
    """An X server with a bus; ``environment`` is what its programs need."""

    def __init__(self, display: str, address: str) -> None:
        self.display = display
        self.environment = {
            **os.environ,
            "DISPLAY": display,
            "DBUS_SESSION_BUS_ADDRESS": address,
            "GTK_MODULES": "gail:atk-bridge",
            "NO_AT_BRIDGE": "0",
            "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1",
        }
        self.elements = AtSpiElements(X11Windows(display))

    def gtk3(
        self, buttons: int = 12, title: str = "Invoice 7", scale: str | None = None
    ) -> Program:
        """Show a program of GTK 3."""
        return self.shown("gtk3_program.py", str(buttons), title, {"GDK_SCALE": scale or "1"})

    def qt5(self, buttons: int = 12, title: str = "Invoice 7", scale: str | None = None) -> Program:
        """Show a program of Qt 5."""
        return self.shown("qt5_program.py", str(buttons), title, {"QT_SCALE_FACTOR": scale or "1"})

    def shown(self, script: str, count: str, title: str, variables: dict[str, str]) -> Program:
        """Show a program of the tests: its file, here or at a path, and what it is started with."""
        shown = Program(script, count, title, environment={**self.environment, **variables})
        window = Selector(name=glob_of(title))
        # What it shows is on the bus a moment later.
        eventually(lambda: self.elements.sight(window)[0], "the program's window is on the bus")
        return shown

    def refusal(self, *, place: bool = True, **selector: str) -> str:
        """The code with which an element is refused."""
        try:
            self.elements.find(Selector.model_validate(selector), place=place)
        except Refusal as refusal:
            return refusal.outcome.code
        return "found"


@contextmanager
def patience_with_programs() -> Iterator[None]:
    """No program is taken to be stuck, and no bus to be lost, that is only slow meanwhile."""
    with pytest.MonkeyPatch.context() as patch:
        for module, name in (
            *((bus, "SILENCE_SECONDS"), (bus, "CONNECT_SECONDS"), (switch, "CONNECT_SECONDS")),
            *((programs, "PROGRAM_SECONDS"), (elements, "SECONDS")),
        ):
            patch.setattr(module, name, WAIT_SECONDS)
        yield


@contextmanager
def accessible_desktop(size: str = "1280x800x24", *options: str) -> Iterator[AccessibleDesktop]:
    """An X server and a bus of its own, which this process is told of meanwhile."""
    with ExitStack() as stack:
        display = stack.enter_context(virtual_display(size, *options))
        address = stack.enter_context(session_bus(display))
        before = os.environ.get("DBUS_SESSION_BUS_ADDRESS")
        os.environ["DBUS_SESSION_BUS_ADDRESS"] = address
        try:
            desktop = AccessibleDesktop(display, address)
            yield desktop
        finally:
            desktop.elements.close()
            del os.environ["DBUS_SESSION_BUS_ADDRESS"]
            if before is not None:
                os.environ["DBUS_SESSION_BUS_ADDRESS"] = before


@contextmanager
def session_bus(display: str) -> Iterator[str]:
    """A bus for the programs of a display; its address."""
    readable, writable = os.pipe()
    with running(
        *("dbus-daemon", "--session", "--nofork", "--nopidfile", f"--print-address={writable}"),
        pass_fds=[writable],
        # What is switched here is nobody's setting afterwards.
        env={**os.environ, "DISPLAY": display, "GSETTINGS_BACKEND": "memory"},
    ):
        os.close(writable)
        with os.fdopen(readable) as told:
            assert select.select([told], [], [], WAIT_SECONDS)[0], "the bus said nothing in time"
            yield told.readline().strip()
