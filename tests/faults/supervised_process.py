"""A process that is started again whenever it ends, as a supervisor on a real host does."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path

from server.programs import die_with_parent
from tests.processes import Process

RESTART_SECONDS = 0.1
CLOSE_SECONDS = 60.0


@dataclass
class SupervisedProcess:
    """Keeps one process running, by a thread that starts it and waits for its end.

    ``run`` starts the process and yields once it is of use; it ends it with the block.  A start
    that fails with AssertionError or OSError is tried again.  The thread outlives every process
    that it starts, which the kernel's signal at a parent's death needs.
    """

    name: str
    run: Callable[[], AbstractContextManager[Process]]
    starts: int = 0
    exit_codes: list[int] = field(default_factory=list)
    failed_starts: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._process: Process | None = None
        self._closing = threading.Event()
        self._may_start = threading.Event()
        self._may_start.set()
        self._changed = threading.Condition()
        self._thread = threading.Thread(
            target=self._supervise, name=f"supervise {self.name}", daemon=True
        )

    def start(self) -> None:
        """Begin to supervise it; returns at once."""
        self._thread.start()

    @property
    def runs(self) -> bool:
        """Whether it has started, and not ended since."""
        process = self._process
        return process is not None and process.poll() is None

    @property
    def is_stopped(self) -> bool:
        """Whether it stands still, as after SIGSTOP."""
        process = self._process
        if process is None:
            return False
        with contextlib.suppress(OSError):
            text = Path(f"/proc/{process.pid}/stat").read_text()
            # The name in parentheses may hold anything; the state is the first word behind it.
            return text.rpartition(")")[2].split()[0] == "T"
        return False

    def kill(self) -> bool:
        """SIGKILL; False where it does not run."""
        return self.signal(signal.SIGKILL)

    def signal(self, number: signal.Signals) -> bool:
        """Send a signal; False where it does not run."""
        with self._changed:
            if self._process is None or self._process.poll() is not None:
                return False
            # It may end here, and be waited for by the thread: then there is nobody to signal.
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._process.pid, number)
                return True
            return False

    def disable_restart(self) -> None:
        """Do not start it again until `enable_restart`."""
        self._may_start.clear()

    def enable_restart(self) -> None:
        """Let it be started again."""
        self._may_start.set()

    def wait_for_start(self, number: int, seconds: float) -> bool:
        """Wait until it has started this often in all; False where that takes too long."""
        with self._changed:
            return self._changed.wait_for(lambda: self.starts >= number, seconds)

    def wait_for_end(self, number: int, seconds: float) -> bool:
        """Wait until it has ended this often in all; False where that takes too long."""
        with self._changed:
            return self._changed.wait_for(lambda: len(self.exit_codes) >= number, seconds)

    def close(self, *, gracefully: bool = False) -> None:
        """End it for good: kill it, or ``gracefully`` let it end in its own way."""
        self._closing.set()
        self._may_start.set()
        deadline = time.monotonic() + CLOSE_SECONDS
        while self._thread.is_alive() and time.monotonic() < deadline:
            self.signal(signal.SIGTERM if gracefully else signal.SIGKILL)
            self._thread.join(2.0 if gracefully else 0.1)
        assert not self._thread.is_alive(), f"{self.name} could not be ended"

    def _supervise(self) -> None:
        while self._may_start.wait() and not self._closing.is_set():
            try:
                with self.run() as process:
                    self._started(process)
                    self._ended(process.wait())
            except (AssertionError, OSError) as failure:
                self.failed_starts.append(str(failure)[-2000:])
            self._closing.wait(RESTART_SECONDS)

    def _started(self, process: Process) -> None:
        with self._changed:
            self._process = process
            self.starts += 1
            self._changed.notify_all()

    def _ended(self, code: int) -> None:
        with self._changed:
            self._process = None
            if not self._closing.is_set():
                self.exit_codes.append(code)
            self._changed.notify_all()


@contextlib.contextmanager
def child(log: Path, *command: str) -> Iterator[subprocess.Popen[bytes]]:
    """A program that ends with the block, and with the thread that has started it."""
    launcher = [sys.executable, "-I", "-S", str(Path(die_with_parent.__file__).absolute())]
    with log.open("ab") as output:
        process = subprocess.Popen(
            [*launcher, str(os.getpid()), *command],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        process.kill()
        process.wait()
