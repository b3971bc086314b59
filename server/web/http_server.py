"""Tornado's HTTP server, whose own refusals are problems too.

Tornado answers what is not HTTP with a bare 400, and what has too long headers not at all.  It has
no hook for either, so the stream that it writes to puts another response in their place.
"""

import asyncio
import socket
import sys
from contextlib import suppress
from typing import Any, Final

from pydantic_core import to_json
from tornado.httpserver import HTTPServer
from tornado.httputil import HTTPInputError
from tornado.iostream import IOStream, UnsatisfiableReadError
from tornado.web import Application

from schemas.http import problems
from schemas.http.problems import ProblemError
from server.tasks import Tasks
from server.web.handler import new_request_id

MAX_HEADER_BYTES: Final = 32 * 1024
TORNADOS_REFUSAL: Final = b"HTTP/1.1 400 Bad Request\r\n\r\n"
MAX_REASON_CHARACTERS: Final = 200

LINGER_SECONDS: Final = 2.0
MAX_LINGERED_BYTES: Final = 4 * 1024 * 1024
MAX_LINGERING: Final = 100
"""Connections that are kept open until their client has read why they end."""


class ApiServer(HTTPServer):
    """An HTTP server that says why, whatever it refuses."""

    def initialize(  # type: ignore[override]
        self, request_callback: Application, *, background: Tasks, **options: Any
    ) -> None:
        """Prepare; ``options`` are Tornado's."""
        super().initialize(request_callback, max_header_size=MAX_HEADER_BYTES, **options)
        self._lingering = _Lingering(background)

    def handle_stream(self, stream: IOStream, address: tuple[Any, ...]) -> None:
        """Serve a connection."""
        ours = _ClientStream(
            stream.socket,
            self._lingering,
            max_buffer_size=stream.max_buffer_size,
            read_chunk_size=stream.read_chunk_size,
        )
        super().handle_stream(ours, address)


class _ClientStream(IOStream):
    """A client's connection."""

    def __init__(self, connection: socket.socket, lingering: "_Lingering", **sizes: int) -> None:
        super().__init__(connection, **sizes)
        self._linger = lingering

    def write(self, data: bytes | memoryview) -> "asyncio.Future[None]":
        """Write; and in the place of Tornado's bare refusal, one that says why."""
        if data == TORNADOS_REFUSAL:
            data = malformed_request(sys.exc_info()[1])
        return super().write(data)

    def close(self, exc_info: Any = False) -> None:
        """Close; and tell a client whose headers did not end in time why."""
        if isinstance(exc_info, UnsatisfiableReadError) and not self.closed():
            # Without a file descriptor for it, there is no response.
            with suppress(OSError):
                self._linger.respond(self.socket.dup(), headers_too_large())
        super().close(exc_info)


class _Lingering:
    """Connections that end with a response: were they closed at once, the client could lose it."""

    def __init__(self, background: Tasks) -> None:
        self._background = background
        self._open = 0

    def respond(self, connection: socket.socket, response: bytes) -> None:
        """Write a response, and close the connection when the client does, or soon."""
        if self._open >= MAX_LINGERING:
            connection.close()
            return
        self._open += 1
        self._background.start_and_report(self._end(connection, response), "end a connection")

    async def _end(self, connection: socket.socket, response: bytes) -> None:
        loop = asyncio.get_running_loop()
        try:
            with suppress(OSError, TimeoutError):
                async with asyncio.timeout(LINGER_SECONDS):
                    await loop.sock_sendall(connection, response)
                    connection.shutdown(socket.SHUT_WR)
                    left = MAX_LINGERED_BYTES
                    while left > 0 and (received := await loop.sock_recv(connection, 65536)):
                        left -= len(received)
        finally:
            self._open -= 1
            connection.close()


def malformed_request(error: BaseException | None) -> bytes:
    """The whole answer to what is not HTTP; Tornado's error says what was wrong."""
    reason = str(error) if isinstance(error, HTTPInputError) else "it is not HTTP/1.1"
    return _whole_answer(
        "400 Bad Request",
        ProblemError(
            problems.MALFORMED_REQUEST,
            f"the request cannot be read: {reason[:MAX_REASON_CHARACTERS]}",
        ),
    )


def headers_too_large() -> bytes:
    """The whole answer to a request whose headers do not end in time."""
    return _whole_answer(
        "431 Request Header Fields Too Large",
        ProblemError(
            problems.HEADERS_TOO_LARGE,
            f"the request line and the headers may have at most {MAX_HEADER_BYTES} bytes together",
            members={"max_bytes": MAX_HEADER_BYTES},
        ),
    )


def _whole_answer(status: str, problem: ProblemError) -> bytes:
    request_id = new_request_id()
    content = to_json(problem.body(request_id))
    head = (
        f"HTTP/1.1 {status}\r\nContent-Type: {problems.MEDIA_TYPE}\r\n"
        f"Content-Length: {len(content)}\r\nX-Request-Id: {request_id}\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + content
