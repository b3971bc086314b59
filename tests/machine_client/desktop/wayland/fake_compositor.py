"""A compositor that does what a test tells it, and what no real one does; it draws nothing.

It has its own reading of the protocol, and uses nothing of the code under test.
"""

import contextlib
import socket
import struct
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Final

GLOBALS: Final = (
    "wl_output",
    "wl_seat",
    "wl_shm",
    "zwlr_virtual_pointer_manager_v1",
    "zwp_virtual_keyboard_manager_v1",
    "zwlr_screencopy_manager_v1",
    "zwlr_data_control_manager_v1",
)
_DISPLAY, _REGISTRY = 1, 2


class FakeCompositor:
    """Answers every client of its socket; ``globals`` are its interfaces, numbered from 1."""

    def __init__(self, path: Path, offered: tuple[str, ...]) -> None:
        self.name = str(path)
        self.offered = offered
        self._clients: list[socket.socket] = []
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(self.name)
        self._socket.listen()
        self._is_over = False
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    def withdraw(self, interface: str) -> None:
        """Tell every client that a global is gone."""
        number = self.offered.index(interface) + 1
        self.tell(_REGISTRY, 1, struct.pack("=I", number))

    def refuse(self, reason: str) -> None:
        """Tell every client that it made a mistake, which ends it."""
        self.tell(_DISPLAY, 0, struct.pack("=II", _REGISTRY, 7) + _text(reason))

    def tell(self, target: int, event: int, body: bytes = b"") -> None:
        """Send an event to every client that is still there."""
        for client in self._clients:
            with contextlib.suppress(BrokenPipeError):
                _send(client, target, event, body)

    def send(self, data: bytes) -> None:
        """Send what may be no event."""
        for client in self._clients:
            client.sendall(data)

    def close(self) -> None:
        self._is_over = True
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        for client in self._clients:
            with contextlib.suppress(OSError):
                client.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(10)
        for each in (self._socket, *self._clients):
            each.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while not self._is_over:
                client, _ = self._socket.accept()
                self._clients.append(client)
                thread = threading.Thread(target=self._serve, args=(client,), daemon=True)
                self._threads.append(thread)
                thread.start()

    def _serve(self, client: socket.socket) -> None:
        received = b""
        with contextlib.suppress(OSError):
            while True:
                # Descriptors are dropped.
                data, _, _, _ = client.recvmsg(65536)
                if not data:
                    return
                received += data
                while len(received) >= 8:
                    target, number, size = struct.unpack_from("=IHH", received)
                    if len(received) < size:
                        break
                    self._asked(client, target, number, received[8:size])
                    received = received[size:]

    def _asked(self, client: socket.socket, target: int, number: int, body: bytes) -> None:
        if (target, number) == (_DISPLAY, 0):
            (callback,) = struct.unpack("=I", body)
            _send(client, callback, 0, struct.pack("=I", 0))
            _send(client, _DISPLAY, 1, body)
        elif (target, number) == (_DISPLAY, 1):
            for place, interface in enumerate(self.offered, 1):
                content = struct.pack("=I", place) + _text(interface) + struct.pack("=I", 1)
                _send(client, _REGISTRY, 0, content)
        elif target == _REGISTRY:
            (bound,) = struct.unpack_from("=I", body)
            if self.offered[bound - 1] == "wl_output":
                (output,) = struct.unpack("=I", body[-4:])
                _send(client, output, 1, struct.pack("=Iiii", 1, 800, 600, 60000))


def _send(client: socket.socket, target: int, event: int, body: bytes) -> None:
    client.sendall(struct.pack("=IHH", target, event, 8 + len(body)) + body)


def _text(text: str) -> bytes:
    content = text.encode() + b"\0"
    return struct.pack("=I", len(content)) + content + bytes(-len(content) % 4)


@contextlib.contextmanager
def fake_compositor(path: Path, *lacking: str) -> Iterator[FakeCompositor]:
    """One that offers all that is needed but what it is ``lacking``."""
    compositor = FakeCompositor(path, tuple(each for each in GLOBALS if each not in lacking))
    with contextlib.closing(compositor):
        yield compositor
