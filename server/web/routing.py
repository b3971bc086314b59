"""From an address to its handler, with each operation's own limits on bodies."""

import re
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tornado.httputil import HTTPMessageDelegate, HTTPServerRequest
from tornado.web import Application, HTTPError, RequestHandler, url

from schemas.http.problems import ProblemError
from schemas.link.messages import MAX_MESSAGE_BYTES
from server.services import Services
from server.web.access_log import AccessLog
from server.web.bodies.incoming import Body
from server.web.bodies.lines import LineBody
from server.web.bodies.refused import RefusedHandler
from server.web.endpoint import Endpoint, endpoints_of
from server.web.handler import ApiHandler

# What every address of the API begins with, and no lease fits into.
_BEGINNING = re.compile(r"(?:/[a-z0-9_.-]{1,20}(?![^/])){1,2}")


class UnknownAddressHandler(ApiHandler):
    """Whatever no route names."""

    @property
    def loggable_path(self) -> str:
        """Where the path begins: a lease may stand behind it, however the rest is spelled."""
        path = self.request.path
        beginning = _BEGINNING.match(path)
        shown = "" if beginning is None else beginning.group()
        return shown if shown == path else f"{shown}/..."

    def prepare(self) -> None:
        raise HTTPError(404)


@dataclass(frozen=True)
class Route:
    """An address template such as ``/v1/trajectories/{trajectory_id}`` and its handler.

    What a parameter stands for has no slash in it; only the last one of a ``deep`` route may.
    """

    template: str
    handler: type[ApiHandler]
    deep: bool = False

    def specification(self, services: Services) -> url:
        """The same for Tornado."""
        template = re.sub(r"{(\w+)}$", r"(?P<\1>.+)", self.template) if self.deep else self.template
        pattern = re.sub(r"{(\w+)}", r"(?P<\1>[^/]+)", template)
        return url(pattern, self.handler, {"services": services})


class ApiApplication(Application):
    """Tornado's application, with body limits, problems and an access log of our own."""

    def __init__(self, routes: Iterable[Route], services: Services) -> None:
        self._services = services
        self.access_log = AccessLog()
        routes = tuple(routes)
        self._endpoints: dict[tuple[type[RequestHandler], str | None], Endpoint] = {
            (route.handler, method.upper()): endpoint
            for route in routes
            for method, endpoint in endpoints_of(route.handler).items()
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
        endpoint = self._endpoints.get((target_class, request.method))
        kind = LineBody if endpoint is not None and endpoint.lines else Body
        body = kind(self._services, request, endpoint, self._refuse)
        body.accepted = super().get_handler_delegate(
            request,
            target_class,
            {**(target_kwargs or {}), "body": body},
            path_args,
            path_kwargs,
        )
        self._services.operation.body_memory.receiving[body] = time.monotonic()
        return body

    def _refuse(
        self, request: HTTPServerRequest, problem: ProblemError, is_drained: bool
    ) -> HTTPMessageDelegate:
        facts = {"services": self._services, "problem": problem, "is_drained": is_drained}
        return super().get_handler_delegate(request, RefusedHandler, facts)
