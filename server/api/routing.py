"""From an address to its handler, with each operation's own limit on bodies."""

import logging
import re
import time
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

logger = logging.getLogger(__name__)

MAX_LENGTH_DIGITS = 20
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
        self.bodies: dict[_BodyGuard, float] = {}
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
        """Tornado's delegate for a request; with a guard where there is a body."""
        delegate = super().find_handler(request, **kwargs)
        headers = request.headers
        if headers.get("Content-Length", "0") == "0" and "Transfer-Encoding" not in headers:
            return delegate
        return _BodyGuard(self, delegate, request)

    def refusal(self, request: HTTPServerRequest, limit: int) -> HTTPMessageDelegate:
        """What answers a request whose body is longer than its handler takes."""
        return self.get_handler_delegate(
            request, BodyTooLargeHandler, {"services": self._services, "max_bytes": limit}
        )

    def limit_for(self, handler: type[RequestHandler], method: str | None) -> int:
        """How many bytes of body this method of a handler takes."""
        return self._limits.get((handler, method), SMALL_BODY)

    def close_overdue(self) -> None:
        """Close the connections whose bodies do not come; call about once a second.

        Tornado's own timeout for bodies would set and cancel a timer for each request, also for
        those whose body came together with the headers, which is nearly all.
        """
        too_old = time.monotonic() - self._services.settings.body_timeout
        # In the order of their beginning, so the first that is not overdue ends the search.
        for guard, began_at in tuple(self.bodies.items()):
            if began_at > too_old:
                break
            guard.close()


class _BodyGuard(HTTPMessageDelegate):
    """Passes a body on up to its limit; a longer one is dropped as it comes, then refused."""

    def __init__(
        self, application: ApiApplication, accepted: Any, request: HTTPServerRequest
    ) -> None:
        self._application = application
        self._delegate: HTTPMessageDelegate = accepted
        self._request = request
        self._limit = application.limit_for(accepted.handler_class, request.method)
        self._left = self._limit
        application.bodies[self] = time.monotonic()

    def headers_received(
        self, start_line: RequestStartLine | ResponseStartLine, headers: HTTPHeaders
    ) -> Awaitable[None] | None:
        length = headers.get("Content-Length", "")
        promised = int(length) if length.isdecimal() and len(length) < MAX_LENGTH_DIGITS else 0
        if promised > MAX_DRAINED_BYTES:
            self._refuse_at_once(promised)
            return None
        return self._delegate.headers_received(start_line, headers)

    def _refuse_at_once(self, length: int) -> None:
        """Answer before the body comes; Tornado reads past it only until the answer is written."""
        self._request.connection.set_max_body_size(length)  # type: ignore[union-attr]
        self._delegate = self._application.refusal(self._request, self._limit)
        self.finish()

    def data_received(self, chunk: bytes) -> Awaitable[None] | None:
        was_within = self._left >= 0
        self._left -= len(chunk)
        if self._left >= 0:
            return self._delegate.data_received(chunk)
        if was_within:
            self._delegate.on_connection_close()
            self._delegate = self._application.refusal(self._request, self._limit)
        return None

    def finish(self) -> None:
        self._application.bodies.pop(self, None)
        self._delegate.finish()

    def on_connection_close(self) -> None:
        self._application.bodies.pop(self, None)
        self._delegate.on_connection_close()

    def close(self) -> None:
        """Close the connection that the body should have come on."""
        logger.info("closing a connection whose request body did not come in time")
        self._request.connection.stream.close()  # type: ignore[union-attr]
