"""A network cable for tests: between a client and a server, to be cut, held and mended."""

import contextlib
import socket
import threading
from types import TracebackType
from urllib.parse import urlsplit


class Cable:
    """Carries TCP connections to a server's address.

    ``cut`` breaks what is connected and lets nobody in, ``hold`` keeps connections and carries
    nothing more, ``mend`` takes new connections again.
    """

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._target = (parts.hostname or "", parts.port or 80)
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        self._whole = True
        self._flowing = threading.Event()
        self._flowing.set()
        self._ends: set[socket.socket] = set()
        self._threads = [threading.Thread(target=self._accept, name="cable", daemon=True)]
        self._threads[0].start()

    def __enter__(self) -> "Cable":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self.cut()
        for thread in tuple(self._threads):
            thread.join(10)
        self._listening.close()

    def cut(self) -> None:
        """Break every connection, at once and for both sides."""
        self._whole = False
        for end in tuple(self._ends):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        self._flowing.set()

    def hold(self) -> None:
        """Carry nothing more, without telling anybody."""
        self._flowing.clear()

    def mend(self) -> None:
        """Take connections again."""
        self._whole = True

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                if not self._whole:
                    client.close()
                    continue
                try:
                    server = socket.create_connection(self._target, 10)
                except OSError:
                    client.close()
                    continue
                server.settimeout(None)
                self._ends |= {client, server}
                for source, sink in ((client, server), (server, client)):
                    thread = threading.Thread(target=self._carry, args=(source, sink), daemon=True)
                    self._threads.append(thread)
                    thread.start()

    def _carry(self, source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                self._flowing.wait()
                sink.sendall(data)
        with contextlib.suppress(OSError):
            sink.shutdown(socket.SHUT_RDWR)
        self._ends.discard(source)
        source.close()
