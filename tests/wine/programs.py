"""A session of Windows under Wine, on an X display of its own, and programs in it."""

import contextlib
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from tests.desktop import virtual_display
from tests.wine.interpreter import WINESERVER, command, environment, prepare
from tests.wine.wheels import PROJECT

PICTURE_FILE = "FARHAND_TEST_PICTURE"
"""The variable that says where a picture of the console is wanted, as docs/images has one."""

END_SECONDS = 60.0
"""Importing the machine client alone takes five seconds there, and twenty beside other work."""

_START_SERVICES = """
import ctypes
from machine_client.service.task_scheduler import find_task
ctypes.windll.user32.GetDesktopWindow()
find_task("none")
"""
"""The desktop and the Task Scheduler are started by the first who asks, others by any program."""


class WineProgram:
    """A running Python program; what it says is read from a pipe.

    A file that a program of Windows inherits is none that Wine lets it write to.
    """

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self.process = process
        self._said = bytearray()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def output(self) -> str:
        """Everything that it has printed so far."""
        return self._said.decode(errors="replace")

    def says(self, text: str, seconds: float = END_SECONDS) -> None:
        """Wait until it has printed a text; fail where it has ended without."""
        give_up_at = time.monotonic() + seconds
        while text not in self.output:
            runs = self.process.poll() is None
            if text not in self.output and not (runs and time.monotonic() < give_up_at):
                raise AssertionError(f"{text!r} was not said: {self.output}")
            time.sleep(0.02)

    def ends(self) -> int:
        """Wait for its end; its exit code."""
        code = self.process.wait(END_SECONDS)
        self._reader.join(END_SECONDS)
        return code

    def kill(self) -> None:
        """End it as a crash does."""
        self.process.kill()
        self.process.wait()
        self._reader.join(END_SECONDS)
        if self.process.stdout is not None:
            self.process.stdout.close()

    def _read(self) -> None:
        assert self.process.stdout is not None
        while content := self.process.stdout.read1(65536):  # type: ignore[attr-defined]
            self._said += content


@dataclass(frozen=True)
class WineDesktop:
    """A running Windows: its interpreter, and the environment of what runs there."""

    home: Path
    environment: dict[str, str] = field(repr=False)

    def popen(
        self,
        *arguments: str,
        stdin: int = subprocess.DEVNULL,
        stderr: int = subprocess.DEVNULL,
        more: Mapping[str, str] = MappingProxyType({}),
    ) -> "subprocess.Popen[bytes]":
        """Start the interpreter, with more variables in its environment."""
        return subprocess.Popen(
            command(self.home, *arguments),
            cwd=PROJECT,
            env={**self.environment, **more},
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=stderr,
        )

    @contextlib.contextmanager
    def running(self, *arguments: str, **more: str) -> Iterator[WineProgram]:
        """A program that is killed with the block, if it has not ended by then."""
        program = WineProgram(self.popen(*arguments, stderr=subprocess.STDOUT, more=more))
        try:
            yield program
        except BaseException as failure:
            failure.add_note(f"what it said:\n{program.output[-4000:]}")
            raise
        finally:
            program.kill()


@contextlib.contextmanager
def wine_desktop(
    screens: Callable[[], AbstractContextManager[str]] = virtual_display,
) -> Iterator[WineDesktop]:
    """Start one; whatever runs there ends with the block.  Raises WineError.

    One at a time: a prefix of Wine is one computer.
    """
    home = prepare()
    with screens() as display, _under_glass(display):
        running = environment(home, display)
        server = [WINESERVER]
        # Kept running, and its services started by one who hands them nothing: they would keep a
        # pipe of whoever is first open for as long as they run.
        subprocess.run([*server, "--persistent"], env=running, check=True, timeout=END_SECONDS)
        try:
            subprocess.run(
                command(home, "-c", _START_SERVICES),
                env=running,
                check=True,
                timeout=END_SECONDS,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            yield WineDesktop(home, running)
        finally:
            subprocess.run([*server, "--kill"], env=running, check=False, timeout=END_SECONDS)
            subprocess.run([*server, "--wait"], env=running, check=False, timeout=END_SECONDS)


@contextlib.contextmanager
def _under_glass(display: str) -> Iterator[None]:
    glass = subprocess.Popen(
        [sys.executable, "-m", "tests.wine.glass", display], cwd=PROJECT, stdout=subprocess.PIPE
    )
    with glass:
        try:
            assert glass.stdout is not None
            glass.stdout.readline()
            yield
        finally:
            glass.kill()
