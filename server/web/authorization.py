"""Who asks, and whether they may: known from a request's headers, before its body is read."""

from datetime import datetime
from typing import NamedTuple

from tornado.httputil import HTTPServerRequest

from schemas.http import problems
from schemas.http.problems import ProblemError
from server.errors import StoreUnavailable
from server.identity.addresses import caller_address
from server.identity.authentication import Principal
from server.identity.sessions import COOKIE, check_own_request
from server.services import Services
from server.web.endpoint import Endpoint

RETRY_AFTER_SECONDS = "1"


class Caller(NamedTuple):
    """Who asks; and, for a session of the console, until when it lasts."""

    principal: Principal
    session_expires_at: datetime | None


async def authorize(services: Services, request: HTTPServerRequest, endpoint: Endpoint) -> Caller:
    """Find out who calls an operation that is not public; a problem says why they may not."""
    authorization = request.headers.get("Authorization")
    address = caller_address(request, services.settings.trusted_proxies)
    cookie = request.cookies.get(COOKIE) if endpoint.session else None
    if authorization is None and cookie is not None:
        check_own_request(request)
        caller = Caller(*await services.access.sessions.principal(cookie.value, address))
    else:
        principal = await services.access.authenticator.principal(authorization, address)
        caller = Caller(principal, None)
    if endpoint.scope is not None:
        caller.principal.require(endpoint.scope)
    return caller


async def refusal(
    services: Services, request: HTTPServerRequest, endpoint: Endpoint
) -> ProblemError | None:
    """Why a request's body need not be read: who sends it may not, or not now."""
    if endpoint.public:
        return None
    try:
        refuse_when_stopping(services)
        await authorize(services, request, endpoint)
    except ProblemError as problem:
        return problem
    except StoreUnavailable:
        return storage_unavailable()
    return None


def refuse_when_stopping(services: Services) -> None:
    """Raise a problem where the server takes no new requests."""
    if services.operation.stopping:
        raise server_stopping()


def server_stopping() -> ProblemError:
    """The problem of a request that comes when the server ends."""
    return ProblemError(
        problems.SERVER_STOPPING,
        "the server is stopping; nothing was done",
        headers={"Retry-After": RETRY_AFTER_SECONDS, "Connection": "close"},
    )


def storage_unavailable() -> ProblemError:
    """The problem of a request that the database does not answer in time."""
    return ProblemError(
        problems.STORAGE_UNAVAILABLE,
        "the database does not answer; nothing that was not confirmed is lost",
        headers={"Retry-After": RETRY_AFTER_SECONDS},
    )
