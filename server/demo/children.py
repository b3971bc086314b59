"""The demo's child processes: started, watched, and all ended with it."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Self, TypeVar

from server.demo import DemoError
from server.programs import die_with_parent

START_SECONDS = 60.0
STOP_SECONDS = 10.0
POLL_SECONDS = 0.01
TAIL_LINES = 8

NOTHING: Mapping[str, str] = MappingProxyType({})

Found = TypeVar("Found")


@dataclass(frozen=True)
class Child:
    """A running program, and the file with all that it printed."""

    name: str
    process: subprocess.Popen[bytes]
    log: Path

    def output(self) -> str:
        """Everything that it has printed so far."""
        return self.log.read_text(errors="replace")

    def check(self) -> None:
        """Raise DemoError with its last words if it has ended."""
        if (status := self.process.poll()) is not None:
            raise DemoError(f"{self.name} ended with status {status}{self.last_words()}")

    def last_words(self) -> str:
        """The end of its log, to be put behind a sentence about it."""
        lines = [line for line in self.output().splitlines() if line.strip()][-TAIL_LINES:]
        if not lines:
            return "; it printed nothing"
        return "; the last that it printed:\n" + "\n".join(f"    {line}" for line in lines)


def python_module(module: str, *arguments: str) -> list[str]:
    """The command that runs a module with this interpreter.

    -P: a directory of that name where the demo happens to be started must not be run instead.
    """
    return [sys.executable, "-P", "-m", module, *arguments]


class Children:
    """Starts the demo's children, and ends them in the reverse order with the ``with`` block.

    Use it in the main thread: on Linux the kernel ends the children together with the thread that
    started them, which covers a demo that is killed.
    """

    def __init__(self, log_directory: Path) -> None:
        self._logs = log_directory
        self._children: list[Child] = []

    def __enter__(self) -> Self:
        self._logs.mkdir(mode=0o700, parents=True, exist_ok=True)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        # Bounded by STOP_SECONDS for each, so that a second Ctrl-C is not needed; let through, it
        # would leave the rest running.
        before = {number: signal.signal(number, signal.SIG_IGN) for number in STOP_SIGNALS}
        try:
            while self._children:
                _end(self._children.pop().process)
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def start(
        self,
        name: str,
        command: Sequence[str],
        pass_fds: Sequence[int] = (),
        variables: Mapping[str, str] = NOTHING,
    ) -> Child:
        """Start a program, whose path must be absolute; ``name`` is what people call it.

        ``variables`` are for its environment.
        """
        log = self._logs / f"{name.replace(' ', '-')}.log"
        launcher = [sys.executable, "-I", "-S", str(Path(die_with_parent.__file__).absolute())]
        with log.open("wb") as stream:
            # A session of its own: Ctrl-C in the terminal must reach the demo alone, which then
            # ends its children in order.
            process = subprocess.Popen(  # noqa: S603  no shell, and our own arguments
                [*launcher, str(os.getpid()), *command],
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=subprocess.STDOUT,
                env={**_environment(), **variables},
                pass_fds=pass_fds,
                start_new_session=True,
            )
        child = Child(name, process, log)
        self._children.append(child)
        return child

    def end(self, child: Child) -> None:
        """End one of them, and watch it no more."""
        self._children.remove(child)
        _end(child.process)

    def check(self) -> None:
        """Raise DemoError if one of them has ended."""
        for child in self._children:
            child.check()

    def wait_for(self, find: Callable[[], Found | None], what: str, child: Child) -> Found:
        """Ask until there is an answer; meanwhile all children must live.

        ``what`` completes "not within 60 s:", and ``child`` is the one whose log tells more.
        """
        deadline = time.monotonic() + START_SECONDS
        while not (found := find()):
            self.check()
            if time.monotonic() > deadline:
                raise DemoError(f"not within {START_SECONDS:g} s: {what}{child.last_words()}")
            time.sleep(POLL_SECONDS)
        return found


STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def _environment() -> dict[str, str]:
    """The demo's own environment without settings that are meant for a real installation."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("FARHAND_") and name.lower() not in ("display", "no_proxy")
    }
    # Everything here happens on this host, whatever proxies it may have to the world.
    return {**environment, "no_proxy": "*", "PYTHONUNBUFFERED": "1"}


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
