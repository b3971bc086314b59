"""Leads the client library to the handlers of the node that it runs on, without a connection.

So what a tool does is checked, bounded, recorded and answered as it is for every other program:
by the same handlers, for the same token, from the same address.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import httpx
from tornado.httputil import (
    HTTPConnection,
    HTTPHeaders,
    HTTPServerConnectionDelegate,
    RequestStartLine,
    ResponseStartLine,
)

_HOP: Final = ("connection", "accept-encoding", "user-agent")
"""What httpx says of a connection that there is not."""

NEVER_SECONDS: Final = "999999999"
"""Longer than the library ever waits: it hands on the answer that it has."""


@dataclass(frozen=True)
class Caller:
    """Who called a tool: the token, what stands for it, and what of its request goes along.

    ``passed_on`` has the headers by which the caller's address and the request's id are known.
    Where the server ``is_ending``, no later try will be answered better.
    """

    token: str
    digest: bytes
    remote_ip: str
    protocol: str
    passed_on: Mapping[str, str]
    is_ending: Callable[[], bool]


class OwnHandlers(httpx.AsyncBaseTransport):
    """Answers requests by an application of this process."""

    def __init__(self, application: HTTPServerConnectionDelegate, caller: Caller) -> None:
        self._application = application
        self._caller = caller

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Run the handler of a request, and return its whole answer."""
        headers = HTTPHeaders()
        for name, value in request.headers.multi_items():
            if name not in _HOP:
                headers.add(name, value)
        for name, value in self._caller.passed_on.items():
            headers[name] = value
        connection = _Connection(self._caller)
        target = request.url.raw_path.decode("ascii")
        delegate = self._application.start_request(connection, connection)
        body = await request.aread()
        begun = delegate.headers_received(
            RequestStartLine(request.method, target, "HTTP/1.1"), headers
        )
        if begun is not None:
            await begun
        if body and (taken := delegate.data_received(body)) is not None:
            await taken
        delegate.finish()
        seconds = request.extensions.get("timeout", {}).get("read")
        try:
            async with asyncio.timeout(seconds):
                await connection.finished
        except TimeoutError:
            raise httpx.ReadTimeout("there was no answer in time", request=request) from None
        finally:
            connection.close()
        answered = httpx.Headers(connection.headers)
        if self._caller.is_ending():
            answered["Retry-After"] = NEVER_SECONDS
        content = httpx.ByteStream(bytes(connection.body))
        return httpx.Response(connection.status, headers=answered, stream=content)


class _Connection(HTTPConnection):
    """Takes the answer of one request, as a client's connection would."""

    def __init__(self, caller: Caller) -> None:
        # By these names Tornado asks for them.
        self.context = self
        self.remote_ip, self.protocol = caller.remote_ip, caller.protocol
        self.finished: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.status = 500
        self.headers: list[tuple[str, str]] = []
        self.body = bytearray()
        self._on_close: Callable[[], Any] | None = None

    def write_headers(
        self,
        start_line: RequestStartLine | ResponseStartLine,
        headers: HTTPHeaders,
        chunk: bytes | None = None,
    ) -> "asyncio.Future[None]":
        """Take the head of the answer."""
        assert isinstance(start_line, ResponseStartLine)  # noqa: S101 - a server's
        self.status = start_line.code
        self.headers = list(headers.get_all())
        return self.write(chunk or b"")

    def write(self, chunk: bytes) -> "asyncio.Future[None]":
        """Take a part of the body."""
        self.body += chunk
        written: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        written.set_result(None)
        return written

    def finish(self) -> None:
        """The answer is here."""
        if not self.finished.done():
            self.finished.set_result(None)

    def set_close_callback(self, callback: Callable[[], Any] | None) -> None:
        """Call something where nobody waits for the answer any more; None once it is here."""
        self._on_close = callback

    def close(self) -> None:
        """Tell the handler, unless it has answered, that nobody waits for it."""
        if self._on_close is not None:
            self._on_close()

    def set_max_body_size(self, size: int) -> None:
        """The body is here already."""
