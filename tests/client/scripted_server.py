"""A server that answers as a test says, byte for byte, and remembers what it was asked."""

import json
import re
import socket
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import IO, Any

GONE = b""
"""The answer of a server that closes the connection without one."""


@dataclass
class Asked:
    """A request that came."""

    method: str
    path: str
    headers: Mapping[str, str]
    """Their names in small letters."""
    body: bytes

    @property
    def key(self) -> str | None:
        return self.headers.get("idempotency-key")


@dataclass
class ScriptedServer:
    """Answers one request after another; the last answer is for all that come after it."""

    url: str
    answers: list[bytes]
    asked: list[Asked] = field(default_factory=list)

    @property
    def keys(self) -> list[str | None]:
        return [each.key for each in self.asked]

    def answer(self) -> bytes:
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


def answer(
    status: int, body: Any = b"", *, media: str = "application/json", **headers: str
) -> bytes:
    """An HTTP answer: a body that is no bytes is sent as JSON."""
    content = (
        body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
    )
    lines = [
        f"HTTP/1.1 {status} Said",
        f"Content-Length: {len(content)}",
        f"Content-Type: {media}",
        *(f"{name.replace('_', '-')}: {value}" for name, value in headers.items()),
    ]
    return "\r\n".join([*lines, "", ""]).encode() + content


def problem(name: str, status: int, *, retry_after: str = "0", **members: Any) -> bytes:
    """A problem as a Farhand server answers it."""
    body = {
        "type": f"/problems/{name}",
        "title": name,
        "status": status,
        "detail": f"{name} in detail",
        "instance": "request-1",
        **members,
    }
    return answer(status, body, media="application/problem+json", Retry_After=retry_after)


def result(**more: Any) -> dict[str, Any]:
    """The body of an input that was carried out."""
    return {
        "command_id": "0b1f3c5e-0000-4000-8000-000000000001",
        "machine_id": "reception",
        "operation": "mouse.click",
        "status": "completed",
        "accepted_at": "2026-11-21T09:30:00.120Z",
        "completed_at": "2026-11-21T09:30:00.124Z",
        "duration_ms": 0.4,
        "pointer": {"x": 640, "y": 360},
        **more,
    }


def is_whole(said: bytes) -> bool:
    """Whether an answer has as many bytes as it says: after one that has not, nothing can come."""
    head, _, body = said.partition(b"\r\n\r\n")
    length = re.search(rb"\r\nContent-Length: (\d+)", head)
    return length is not None and len(body) == int(length[1])


@contextmanager
def scripted_server(*answers: bytes, tls: ssl.SSLContext | None = None) -> Iterator[ScriptedServer]:
    """A server for the time of the block."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http{'s' if tls else ''}://127.0.0.1:{listener.getsockname()[1]}"
        server = ScriptedServer(url, [*answers])

        def serve() -> None:
            with suppress(OSError):
                while True:
                    connection = listener.accept()[0]
                    threading.Thread(target=_converse, args=(server, connection, tls)).start()

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield server
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join(10)


def _converse(
    server: ScriptedServer, connection: socket.socket, tls: ssl.SSLContext | None
) -> None:
    with suppress(OSError), connection:
        ours = tls.wrap_socket(connection, server_side=True) if tls else connection
        with ours, ours.makefile("rb") as incoming:
            _answer(server, ours, incoming)


def _answer(server: ScriptedServer, connection: socket.socket, incoming: IO[bytes]) -> None:
    with suppress(OSError):
        while line := incoming.readline():
            method, path, _ = line.decode().split(" ")
            headers: dict[str, str] = {}
            while (head := incoming.readline()) not in (b"\r\n", b""):
                name, _, value = head.decode().partition(":")
                headers[name.lower()] = value.strip()
            body = incoming.read(int(headers.get("content-length", 0)))
            server.asked.append(Asked(method, path, headers, body))
            said = server.answer()
            connection.sendall(said)
            if not is_whole(said):
                return
