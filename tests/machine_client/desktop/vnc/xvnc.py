"""TigerVNC's Xvnc for tests: a VNC server that is an X server too, which a witness can watch."""

import contextlib
import os
import random
import select
import socket
import struct
import subprocess
from collections.abc import Callable, Iterator, Set

from tests.desktop import running
from tests.processes import free_port
from tests.waiting import WAIT_SECONDS, eventually

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


def keeps_buttons(port: int, held: Callable[[], Set[str]]) -> bool:
    """Whether a button stays down when its client has gone, as it does until TigerVNC 1.13.

    ``held`` says what is down.
    """
    with _connected(port) as client:
        client.sendall(struct.pack(">BBHH", 5, 1, 0, 0))
        eventually(lambda: held() or None, "the button is down")
    # By the time that a second client is served the first has been seen to go.
    with _connected(port) as client:
        keeps = bool(held())
        client.sendall(struct.pack(">BBHH", 5, 0, 0, 0))
        eventually(lambda: not held() or None, "the button is up")
    return keeps


@contextlib.contextmanager
def _connected(port: int) -> Iterator[socket.socket]:
    """A client that has shaken hands as RFC 6143 says, without a password."""
    with socket.create_connection(("127.0.0.1", port), WAIT_SECONDS) as client:
        client.sendall(client.recv(12, socket.MSG_WAITALL))
        client.recv(client.recv(1)[0], socket.MSG_WAITALL)
        client.sendall(b"\1")
        client.recv(4, socket.MSG_WAITALL)
        client.sendall(b"\1")
        *_, name_length = client.recv(24, socket.MSG_WAITALL)
        client.recv(name_length, socket.MSG_WAITALL)
        yield client


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
