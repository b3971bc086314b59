"""Takes in the bodies of requests: from whom may send one, as much as may be, and no more.

A small body that comes with its headers is taken as it is: that is nearly every request, and an
input must not wait for more than it needs.  For any other, who asks is known before a byte of it
is kept, its JSON values are counted as it comes, and all bodies together have a bound.  A body
that is refused is answered at once; what still comes of it is drained: read and dropped, as most
clients read no answer before they have sent everything.
"""

import logging
from collections.abc import Awaitable
from io import BytesIO
from typing import Final, Protocol

from tornado.httputil import (
    HTTPHeaders,
    HTTPMessageDelegate,
    HTTPServerRequest,
    RequestStartLine,
    ResponseStartLine,
)

from schemas.http import problems
from schemas.http.problems import ProblemError
from schemas.values.json_values import ValueCounter
from server.services import Services
from server.web.authorization import RETRY_AFTER_SECONDS, refusal
from server.web.closing import close_connection
from server.web.endpoint import Endpoint

logger = logging.getLogger(__name__)

SMALL_BYTES: Final = 4096
"""A body that costs about as much as its headers, and is treated like them."""

MAX_LENGTH_DIGITS: Final = 20
MAX_DRAINED_BYTES: Final = 32 * 1024 * 1024
"""So much of a refused body is read, for its sender to come to the answer; then it is cut off."""


class Refuse(Protocol):
    """Makes what answers a request with a problem."""

    def __call__(
        self, request: HTTPServerRequest, problem: ProblemError, is_drained: bool, /
    ) -> HTTPMessageDelegate: ...


class HandlerDelegate(Protocol):
    """What runs a request with its body: Tornado's delegate for a handler."""

    def execute(self) -> object: ...


class Body(HTTPMessageDelegate):
    """The body of one request, on its way from the connection to its handler.

    ``values`` is how many JSON values were counted in it, None where it is small; ``release``
    gives back the memory that it used, which its handler calls in the end.
    """

    accepted: HandlerDelegate
    """What takes the request where it is not refused."""

    def __init__(
        self,
        services: Services,
        request: HTTPServerRequest,
        endpoint: Endpoint | None,
        refuse: Refuse,
    ) -> None:
        self._services = services
        self._request = request
        self._endpoint = endpoint
        self._refuse_with = refuse
        self._refused: HTTPMessageDelegate | None = None
        self._is_small = False
        self._received = 0
        self._memory_used = 0
        self._content = BytesIO()
        self._counter = ValueCounter()

    @property
    def values(self) -> int | None:
        """How many JSON values it holds; None where it is too small to be counted as it comes."""
        return None if self._is_small else self._counter.values

    def headers_received(
        self, start_line: RequestStartLine | ResponseStartLine, headers: HTTPHeaders
    ) -> Awaitable[None] | None:
        endpoint, length = self._endpoint, declared_length(headers)
        self._is_small = (
            length is not None
            and length <= SMALL_BYTES
            and endpoint is not None
            and length <= endpoint.max_body_bytes
            and content_type_of(headers) in endpoint.media_types
            and "Expect" not in headers
        )
        if self._is_small:
            return None
        return self._check_headers(length, headers)

    async def _check_headers(self, length: int | None, headers: HTTPHeaders) -> None:
        if length is not None and length > MAX_DRAINED_BYTES:
            # Tornado would close the connection without a word.
            self._request.connection.set_max_body_size(length)  # type: ignore[union-attr]
        endpoint = self._endpoint
        if endpoint is None:
            # Nothing has this address, or not with this method: that is said at the end.
            return
        problem = await refusal(self._services, self._request, endpoint)
        problem = problem or self._problem_with_headers(endpoint, length, headers)
        if problem is not None:
            await self._refuse(problem, is_drained=_can_be_drained(length, headers))

    def _problem_with_headers(
        self, endpoint: Endpoint, length: int | None, headers: HTTPHeaders
    ) -> ProblemError | None:
        """Why a body will not do, as far as the headers tell."""
        # A body in chunks may turn out to be empty, which is none and needs no media type; where
        # there may be none, the handler looks.
        may_be_none = length is None and not endpoint.body_required
        is_named = "Content-Type" in headers or length is not None
        if (
            endpoint.takes_body
            and is_named
            and not may_be_none
            and content_type_of(headers) not in endpoint.media_types
        ):
            return wrong_media_type(endpoint)
        return self._problem_with_length(endpoint, length or 0)

    def _problem_with_length(self, endpoint: Endpoint, length: int) -> ProblemError | None:
        if length > endpoint.max_body_bytes:
            return too_many_bytes(endpoint)
        if endpoint.takes_body and not self._services.operation.body_memory.fits(length):
            return too_many_bodies()
        return None

    def data_received(self, chunk: bytes) -> Awaitable[None] | None:
        self._received += len(chunk)
        endpoint = self._endpoint
        if self._refused is not None or endpoint is None:
            if self._received > MAX_DRAINED_BYTES:
                self._execute()
        elif self._is_small:
            self._content.write(chunk)
        elif (problem := self._problem_with_chunk(chunk, endpoint)) is not None:
            return self._refuse(problem)
        elif endpoint.takes_body:
            self._content.write(chunk)
        return None

    def _problem_with_chunk(self, chunk: bytes, endpoint: Endpoint) -> ProblemError | None:
        if self._received > endpoint.max_body_bytes:
            return too_many_bytes(endpoint)
        if not endpoint.takes_body:
            return None
        memory = self._services.operation.body_memory
        if not memory.fits(len(chunk)):
            return too_many_bodies()
        memory.used += len(chunk)
        self._memory_used += len(chunk)
        if endpoint.body is None:
            return None
        return too_many_values(self._counter.add(chunk), endpoint)

    async def _refuse(self, problem: ProblemError, *, is_drained: bool = True) -> None:
        """Answer now, and drop what still comes of the body; unless drained, end there."""
        self.release()
        self._content = BytesIO()
        # A client that waits for 100 Continue has sent nothing that would have to be drained.
        is_drained = is_drained and "Expect" not in self._request.headers
        self._refused = self._refuse_with(self._request, problem, is_drained)
        start = RequestStartLine(self._request.method or "", self._request.uri or "", "HTTP/1.1")
        answering = self._refused.headers_received(start, self._request.headers)
        if answering is not None:
            await answering

    def finish(self) -> None:
        self._services.operation.body_memory.receiving.pop(self, None)
        self._execute()

    def _execute(self) -> None:
        if self._refused is not None:
            self._refused.finish()
        else:
            # Tornado's own delegate would keep a second copy; getvalue of a BytesIO makes none.
            self._request.body, self._content = self._content.getvalue(), BytesIO()
            self.accepted.execute()

    def on_connection_close(self) -> None:
        self._services.operation.body_memory.receiving.pop(self, None)
        self.release()
        self._content = BytesIO()
        if self._refused is not None:
            self._refused.on_connection_close()

    def release(self) -> None:
        """Give back the memory that it used."""
        self._services.operation.body_memory.used -= self._memory_used
        self._memory_used = 0

    def close(self) -> None:
        """Close the connection that the body should have come on."""
        logger.info("closing a connection whose request body did not come in time")
        close_connection(self._request)


def declared_length(headers: HTTPHeaders) -> int | None:
    """How long a body will be; None where that is not said, or not in a way that can be."""
    length = headers.get("Content-Length", "")
    if length.isascii() and length.isdecimal() and len(length) < MAX_LENGTH_DIGITS:
        return int(length)
    return None


def _can_be_drained(length: int | None, headers: HTTPHeaders) -> bool:
    """Whether a body is short enough to be read to its end, only to be dropped."""
    if length is None:
        return "Content-Length" not in headers
    return length <= MAX_DRAINED_BYTES


def content_type_of(headers: HTTPHeaders) -> str:
    """What a body is, in lower case and without parameters."""
    return headers.get("Content-Type", "").partition(";")[0].strip().lower()


def wrong_media_type(endpoint: Endpoint) -> ProblemError:
    """The problem of a body that is something else than the operation reads."""
    what = "JSON lines" if endpoint.lines else "a picture" if endpoint.raw_body else "JSON"
    return ProblemError(
        problems.UNSUPPORTED_MEDIA_TYPE,
        f"send {what} with Content-Type: {' or '.join(endpoint.media_types)}",
    )


def too_many_bytes(endpoint: Endpoint) -> ProblemError:
    """The problem of a body that is longer than the operation reads."""
    most = endpoint.max_body_bytes
    return ProblemError(
        problems.TOO_LARGE,
        f"the body may have at most {most} bytes here",
        members={"max_bytes": most},
    )


def too_many_values(values: int, endpoint: Endpoint) -> ProblemError | None:
    """The problem of a body that holds more JSON values than the operation parses, if it does."""
    most = endpoint.max_body_values
    if values <= most:
        return None
    return ProblemError(
        problems.TOO_LARGE,
        f"the body may hold at most {most} JSON values here, and {values} were counted before the "
        "rest was left unread",
        members={"max_values": most, "values": values},
    )


def too_many_bodies() -> ProblemError:
    """The problem of a body for which the others leave no memory."""
    return ProblemError(
        problems.SERVER_BUSY,
        "the server holds as many request bodies as it may; nothing was done",
        headers={"Retry-After": RETRY_AFTER_SECONDS},
    )
