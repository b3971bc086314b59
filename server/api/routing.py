"""From an address to its handler, with each operation's own limits on bodies."""

import re
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tornado.httputil import HTTPMessageDelegate, HTTPServerRequest
from tornado.web import Application, RequestHandler, url

from schemas.problems import ProblemError
from schemas.wire import MAX_MESSAGE_BYTES
from server.api.access_log import AccessLog
from server.api.base import ApiHandler, UnknownAddressHandler
from server.api.bodies import Body
from server.api.operation import Operation, declared
from server.api.refused import RefusedHandler
from server.api.services import Services


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
        self._operations: dict[tuple[type[RequestHandler], str | None], Operation] = {
            (route.handler, method.upper()): operation
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

    def get_handler_delegate(  # type: ignore[override]
        self,
        request: HTTPServerRequest,
        target_class: type[RequestHandler],
        target_kwargs: dict[str, Any] | None = None,
        path_args: list[bytes] | None = None,
        path_kwargs: dict[str, bytes] | None = None,
    ) -> HTTPMessageDelegate:
        """Tornado's delegate for a request; behind a :class:`Body` where there is one."""
        headers = request.headers
        if headers.get("Content-Length", "0") == "0" and "Transfer-Encoding" not in headers:
            return super().get_handler_delegate(
                request, target_class, target_kwargs, path_args, path_kwargs
            )
        operation = self._operations.get((target_class, request.method))
        body = Body(self._services, request, operation, self._refuse)
        body.accepted = super().get_handler_delegate(
            request,
            target_class,
            {**(target_kwargs or {}), "body": body},
            path_args,
            path_kwargs,
        )
        self._services.body_room.arriving[body] = time.monotonic()
        return body

    def _refuse(
        self, request: HTTPServerRequest, problem: ProblemError, is_awaited: bool
    ) -> HTTPMessageDelegate:
        facts = {"services": self._services, "problem": problem, "is_awaited": is_awaited}
        return super().get_handler_delegate(request, RefusedHandler, facts)
