"""TigerVNC's Xvnc for tests: a VNC server that is an X server too, which a witness can watch."""

import contextlib
import os
import random
import select
import socket
import subprocess
from collections.abc import Iterator

from tests.desktop import running
from tests.waiting import WAIT_SECONDS

NO_PASSWORD = ("-SecurityTypes", "None")


@contextlib.contextmanager
def xvnc(
    *options: str, port: int = 0, display: str = "", size: str = "1280x800"
) -> Iterator[tuple[str, int, subprocess.Popen[bytes]]]:
    """Start one; yields its X display, its TCP port and its process."""
    port = port or free_port()
    readable, writable = os.pipe()
    with contextlib.ExitStack() as stack:
        stack.callback(os.close, readable)
        try:
            process = stack.enter_context(
                running(
                    *("Xvnc", *((display,) if display else ()), "-displayfd", str(writable)),
                    *("-rfbport", str(port), "-localhost", "-geometry", size, "-depth", "24"),
                    # -r: as for the X server of the other tests.  Nobody is sent away for a
                    # password that was wrong several times: tests do that.
                    *("-nolisten", "tcp", "-noreset", "-r", "-BlacklistThreshold", "100000"),
                    *(options or NO_PASSWORD),
                    pass_fds=[writable],
                )
            )
        finally:
            os.close(writable)
        if not select.select([readable], [], [], WAIT_SECONDS)[0]:
            raise RuntimeError("Xvnc did not say its display in time")
        number = os.read(readable, 32).decode().strip()
        if not number:
            raise RuntimeError("Xvnc ended at once")
        yield f":{number}", port, process


def free_port() -> int:
    """A TCP port that nobody listens on at this moment."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
    return port


class UnsteadyXvnc:
    """One that a test ends, and starts again with the same display and port."""

    def __init__(self) -> None:
        self.display = f":{random.randint(10_000, 50_000)}"
        self.port = free_port()
        self._running = contextlib.ExitStack()
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Run it."""
        server = xvnc(port=self.port, display=self.display)
        _, _, self.process = self._running.enter_context(server)

    def kill(self) -> None:
        """End it as a crash does."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
        self._running.close()
