"""Our two programs as forks of a process that has imported them already.

What a program imports takes nearly a second of a core, and the tests start some hundreds of them.
So each process of tests has one more process, which imports both programs once, and then becomes
whichever is asked for: with its own arguments, environment, output and session, as if it had been
started from a shell.  The interpreter's end is an ordinary one as well.
"""

import contextlib
import gc
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path

from server.cli import COMMANDS

PROGRAMS = {
    "farhand": "server.__main__",
    "farhand-machine": "machine_client.__main__",
    "farhand-machine-with-copies": "tests.power_cuts",
}
"""The module of each, whose ``main`` is what its script calls; the last has none."""

IMPORTED = (
    *(f"server.cli.{module}" for module in COMMANDS.values()),
    *("server.app", "server.bus.nats_bus", "server.api.routes", "machine_client.joining"),
    *("machine_client.cli", "machine_client.desktop.choose"),
)
"""What has what the programs import late, too."""

MAX_BYTES, MOST_DESCRIPTORS = 1_000_000, 65_536


class ForkedProgram:
    """A program that runs; of `subprocess.Popen` it has what the tests need.

    Several threads may ask for its end at once: ``ended`` stays open for as long as anybody can.
    """

    def __init__(self, pid: int, ended: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._ended = ended
        self._lock = threading.Lock()
        weakref.finalize(self, os.close, ended)

    def poll(self) -> int | None:
        """Its exit code if it has ended, or minus the number of the signal that ended it."""
        return self._look(0.0)

    def wait(self, timeout: float | None = None) -> int:
        """Its exit code, once it has ended.  Raises TimeoutExpired."""
        code = self._look(timeout)
        if code is None:
            raise subprocess.TimeoutExpired(str(self.pid), timeout or 0.0)
        return code

    def send_signal(self, number: int) -> None:
        """Send it a signal, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it."""
        self.send_signal(signal.SIGKILL)

    def _look(self, seconds: float | None) -> int | None:
        if self.returncode is None and select.select([self._ended], [], [], seconds)[0]:
            with self._lock:
                if self.returncode is None:
                    said = os.read(self._ended, 8)
                    # Without a word, their parent has been killed.
                    self.returncode = int(said) if said else -signal.SIGKILL
        return self.returncode


def can_be_forked(command: Sequence[str], environment: Mapping[str, str]) -> bool:
    """Whether it is one of `PROGRAMS`, and no variable tells an interpreter how to begin.

    The demo is started as people start it: its processes are known by the environment that each
    began with, and a fork began with its parent's.
    """
    return (
        command[0] in PROGRAMS
        and "demo" not in command[1:2]
        and all(
            value == os.environ.get(name)
            for name, value in environment.items()
            if name.startswith(("PYTHON", "LC_", "LANG"))
        )
    )


def fork(
    command: Sequence[str], environment: Mapping[str, str], output: int, errors: int | None = None
) -> ForkedProgram:
    """Start one of `PROGRAMS`; it writes to the file descriptors ``output`` and ``errors``."""
    return _parent().fork(command, environment, (output, output if errors is None else errors))


@cache
def _parent() -> "_Parent":
    return _Parent()


class _Parent:
    """The process that becomes programs, from outside."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._lock = threading.Lock()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.forked_programs", str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            start_new_session=True,
        )
        theirs.close()

    def fork(
        self, command: Sequence[str], environment: Mapping[str, str], outputs: tuple[int, int]
    ) -> ForkedProgram:
        ended, tell_end = os.pipe()
        asked = json.dumps([list(command), dict(environment), str(Path.cwd())]).encode()
        with self._lock:
            try:
                socket.send_fds(self._socket, [asked], [*outputs, tell_end])
                pid = int(self._socket.recv(64))
            finally:
                os.close(tell_end)
        return ForkedProgram(pid, ended)


class _Forking:
    """The same, from inside: forks, and tells how each fork has ended."""

    def __init__(self, asked: socket.socket) -> None:
        self._asked = asked
        self._ended: dict[int, int] = {}
        self._wake, self._wakes = socket.socketpair()
        for each in (self._wake, self._wakes):
            each.setblocking(False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._wakes.fileno(), warn_on_full_buffer=False)

    def until_forked(self) -> Callable[[], None] | None:
        """What a fork has to run, in each fork; None once the tests have ended."""
        while True:
            ready, _, _ = select.select([self._asked, self._wake], [], [])
            if self._wake in ready:
                with contextlib.suppress(BlockingIOError):
                    self._wake.recv(4096)
                self._reap()
            if self._asked in ready:
                asked, descriptors, _, _ = socket.recv_fds(self._asked, MAX_BYTES, 3)
                if not asked:
                    return None
                if (program := self._fork(asked, *descriptors)) is not None:
                    return program

    def _fork(
        self, asked: bytes, output: int, errors: int, tell_end: int
    ) -> Callable[[], None] | None:
        pid = os.fork()
        if pid == 0:
            # Before anybody knows of it: what it starts can be ended with its session.
            os.setsid()
            self._asked.send(str(os.getpid()).encode())
            self._leave()
            command, environment, cwd = json.loads(asked)
            return _become(command, environment, cwd, (output, errors))
        os.close(output)
        os.close(errors)
        self._ended[pid] = tell_end
        return None

    def _leave(self) -> None:
        """Let go of what is its parent's, whose descriptors a program closes with all others."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for each in (self._asked, self._wake, self._wakes):
            each.detach()

    def _reap(self) -> None:
        while self._ended:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return
            tell_end = self._ended.pop(pid)
            with contextlib.suppress(BrokenPipeError):
                os.write(tell_end, str(os.waitstatus_to_exitcode(status)).encode())
            os.close(tell_end)


def _become(
    command: list[str], environment: dict[str, str], cwd: str, outputs: tuple[int, int]
) -> Callable[[], None]:
    """Be a program from here on; what it runs."""
    nothing = os.open(os.devnull, os.O_RDONLY)
    for place, descriptor in enumerate((nothing, *outputs)):
        os.dup2(descriptor, place)
    os.closerange(3, MOST_DESCRIPTORS)
    os.environ.clear()
    os.environ.update(environment)
    time.tzset()
    os.chdir(cwd)
    sys.argv[:] = command
    main: Callable[[], None] = import_module(PROGRAMS[Path(command[0]).name]).main
    return main


def main() -> None:
    """Import both programs, then be whichever is asked for."""
    for module in IMPORTED:
        import_module(module)
    # What is shared with every fork is looked at by no collection, and so stays shared.
    gc.collect()
    gc.freeze()
    program = _Forking(socket.socket(fileno=int(sys.argv[1]))).until_forked()
    if program is not None:
        program()


if __name__ == "__main__":
    main()
