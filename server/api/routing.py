"""From an address to its handler, with each operation's own limit on bodies."""

import re
from collections.abc import Awaitable, Iterable
from dataclasses import dataclass
from typing import Any

from tornado.httputil import (
    HTTPHeaders,
    HTTPMessageDelegate,
    HTTPServerRequest,
    RequestStartLine,
    ResponseStartLine,
)
from tornado.web import Application, RequestHandler, url

from schemas.wire import MAX_MESSAGE_BYTES
from server.api.access_log import AccessLog
from server.api.base import ApiHandler, BodyTooLargeHandler, UnknownAddressHandler
from server.api.operation import SMALL_BODY, declared
from server.api.services import Services

MAX_DRAINED_BYTES = 64 * 1024 * 1024
"""The largest body that is read to its end, to answer 413, rather than cut off."""


@dataclass(frozen=True)
class Route:
    """An address template such as ``/v1/trajectories/{trajectory_id}`` and its handler."""

    template: str
    handler: type[ApiHandler]

    def specification(self, services: Services) -> url:
        """The same for Tornado."""
        pattern = re.sub(r"{(\w+)}", r"(?P<\1>[^/]+)", self.template)
        return url(pattern, self.handler, {"services": services})


class ApiApplication(Application):
    """Tornado's application, with body limits, problems and an access log of our own."""

    def __init__(self, routes: Iterable[Route], services: Services) -> None:
        self._services = services
        self.access_log = AccessLog()
        routes = tuple(routes)
        self._limits: dict[tuple[type[RequestHandler], str | None], int] = {
            (route.handler, method.upper()): operation.max_body_bytes
            for route in routes
            for method, operation in declared(route.handler).items()
        }
        super().__init__(
            [route.specification(services) for route in routes],
            default_handler_class=UnknownAddressHandler,
            default_handler_args={"services": services},
            log_function=self.access_log,
            websocket_max_message_size=MAX_MESSAGE_BYTES,
        )

    def find_handler(  # type: ignore[override]
        self, request: HTTPServerRequest, **kwargs: Any
    ) -> HTTPMessageDelegate:
        """Tornado's delegate for a request; with a guard where the body may be too large."""
        delegate = super().find_handler(request, **kwargs)
        limit = self._limits.get((delegate.handler_class, request.method), SMALL_BODY)
        if _is_surely_within(request.headers, limit):
            return delegate
        refusal = self.get_handler_delegate(
            request, BodyTooLargeHandler, {"services": self._services, "max_bytes": limit}
        )
        return _BodyGuard(delegate, refusal, limit)


def _is_surely_within(headers: HTTPHeaders, limit: int) -> bool:
    if "Transfer-Encoding" in headers:
        return False
    length = headers.get("Content-Length", "0")
    return length.isdecimal() and len(length) < 20 and int(length) <= limit


class _BodyGuard(HTTPMessageDelegate):
    """Passes a body on up to its limit; a longer one is dropped as it comes, then refused."""

    def __init__(
        self, accepted: HTTPMessageDelegate, refused: HTTPMessageDelegate, limit: int
    ) -> None:
        self._delegate = accepted
        self._refused = refused
        self._left = limit

    def headers_received(
        self, start_line: RequestStartLine | ResponseStartLine, headers: HTTPHeaders
    ) -> Awaitable[None] | None:
        return self._delegate.headers_received(start_line, headers)

    def data_received(self, chunk: bytes) -> Awaitable[None] | None:
        self._left -= len(chunk)
        if self._left >= 0:
            return self._delegate.data_received(chunk)
        if self._delegate is not self._refused:
            self._delegate.on_connection_close()
            self._delegate = self._refused
        return None

    def finish(self) -> None:
        self._delegate.finish()

    def on_connection_close(self) -> None:
        self._delegate.on_connection_close()
