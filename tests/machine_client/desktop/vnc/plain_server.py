"""A VNC server of a few lines, with nothing beyond RFC 6143, which can also behave badly.

It answers every FramebufferUpdateRequest with ``answers``, one after another, and then with one
black pixel; ``said`` has what its clients have said, each message whole.
"""

import contextlib
import socket
import struct
import threading
from collections.abc import Callable, Iterator

PIXEL_FORMAT = struct.pack(">BBBBHHHBBBxxx", 32, 24, 0, 1, 255, 255, 255, 16, 8, 0)
ONE_PIXEL = struct.pack(">BxHHHHHi", 0, 1, 0, 0, 1, 1, 0) + bytes(4)

Talk = Callable[[socket.socket], None]


def server_init(width: int = 64, height: int = 48, name: bytes = b"plain") -> bytes:
    return struct.pack(">HH", width, height) + PIXEL_FORMAT + struct.pack(">I", len(name)) + name


def rectangle(x: int, y: int, width: int, height: int, encoding: int, data: bytes) -> bytes:
    """A FramebufferUpdate of one rectangle."""
    return struct.pack(">BxHHHHHi", 0, 1, x, y, width, height, encoding) + data


class PlainServer:
    """Listens on ``port`` until it is closed; ``talk`` replaces everything after the connection."""

    def __init__(self, *answers: bytes, init: bytes = b"", talk: Talk | None = None) -> None:
        self.said: list[bytes] = []
        self.changed = threading.Condition()
        self.heard: Callable[[bytes], None] = lambda _: None
        """What is done with each message before it is answered."""
        self._answers = list(answers)
        self._init = init or server_init()
        self._talk = talk or self._speak
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._connections: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    def close(self) -> None:
        for each in (self._listener, *self._connections):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()
        for thread in self._threads:
            thread.join(10)

    def until_said(self, is_it: Callable[[list[bytes]], bool]) -> list[bytes]:
        """Wait until the clients have said something; returns all of it."""
        with self.changed:
            assert self.changed.wait_for(lambda: is_it(self.said), 10), self.said
            return list(self.said)

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                self._connections.append(connection)
                thread = threading.Thread(target=self._serve, args=(connection,), daemon=True)
                self._threads.append(thread)
                thread.start()

    def _serve(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError), connection:
            self._talk(connection)

    def _speak(self, connection: socket.socket) -> None:
        shake_hands(connection, self._init)
        while True:
            message = next_message(connection)
            with self.changed:
                self.said.append(message)
                self.changed.notify_all()
            self.heard(message)
            if message[0] == 3:
                connection.sendall(self._answers.pop(0) if self._answers else ONE_PIXEL)


def shake_hands(connection: socket.socket, init: bytes = b"") -> None:
    """Let a client in without a password."""
    connection.sendall(b"RFB 003.008\n")
    exactly(connection, 12)
    connection.sendall(b"\x01\x01")
    exactly(connection, 1)
    connection.sendall(bytes(4))
    exactly(connection, 1)
    connection.sendall(init or server_init())


def next_message(connection: socket.socket) -> bytes:
    """The next whole message of a client."""
    kind = exactly(connection, 1)
    rest = {0: 19, 2: 3, 3: 9, 4: 7, 5: 5, 6: 7, 248: 8}[kind[0]]
    head = kind + exactly(connection, rest)
    more = 0
    if kind[0] == 2:
        more = 4 * struct.unpack(">H", head[2:])[0]
    elif kind[0] == 6:
        more = abs(struct.unpack(">i", head[4:])[0])
    elif kind[0] == 248:
        more = head[8]
    return head + exactly(connection, more)


def exactly(connection: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        part = connection.recv(count - len(data))
        if not part:
            raise ConnectionError
        data += part
    return data


@contextlib.contextmanager
def plain_server(
    *answers: bytes, init: bytes = b"", talk: Talk | None = None
) -> Iterator[PlainServer]:
    """One that runs as long as the block."""
    with contextlib.closing(PlainServer(*answers, init=init, talk=talk)) as server:
        yield server
