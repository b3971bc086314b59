"""What a route promises, declared once: it validates, authorizes and documents the endpoint."""

from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from pydantic import BaseModel

from schemas.http.problems import ProblemType
from schemas.resources.tokens import Scope

JSON = "application/json"
SMALL_BODY = 64 * 1024
FEW_VALUES = 100

_OF_NO_MACHINE = (None, Scope.TRAJECTORIES_READ, Scope.TRAJECTORIES_WRITE)

Handler = TypeVar("Handler", bound="PerformsEndpoints")
Parameters = ParamSpec("Parameters")


@dataclass(frozen=True)
class Endpoint:
    """One method of one route.

    ``path``, ``query``, ``headers`` and ``body`` are the models that the parts of a request
    must fit; the handler's method gets each as the argument of that name.  Where
    ``body_required`` is false, no body is as good as an empty object.  ``raw_body`` has the
    media types of a body that the handler reads itself; with ``lines`` as it comes, of any
    length: it is JSON lines, each of which fits that model, and the bounds of a body are those
    of a line.  ``max_body_values`` bounds how many JSON values a body may hold, which is what it
    costs to parse.  ``answers`` has the model of each successful status, None where there is no
    body.  Of a ``confidential`` body nothing is repeated in the answer, whatever is wrong with
    it: it may hold a password.  Where ``session`` is false, the console's cookie does not let in.
    ``for_bound`` says that the operation keeps tokens that are bound to pools within these by
    itself; where the path names a machine, that is done before it, and all else they may not do.
    The answer of an ``endless`` one is a stream, which ends with
    its reader or the server: a server that stops does not wait for it.
    """

    summary: str
    scope: Scope | None
    answers: Mapping[int, type[BaseModel] | None]
    description: str = ""
    path: type[BaseModel] | None = None
    query: type[BaseModel] | None = None
    headers: type[BaseModel] | None = None
    body: type[BaseModel] | None = None
    body_required: bool = True
    raw_body: tuple[str, ...] = ()
    lines: type[BaseModel] | None = None
    problems: tuple[ProblemType, ...] = ()
    max_body_bytes: int = SMALL_BODY
    max_body_values: int = FEW_VALUES
    public: bool = False
    confidential: bool = False
    endless: bool = False
    session: bool = True
    for_bound: bool = False
    media_type: str = JSON
    answer_headers: Mapping[str, str] = field(default_factory=dict)

    def __call__(
        self, function: Callable[Concatenate[Handler, Parameters], Coroutine[Any, Any, None]]
    ) -> Callable[Concatenate[Handler, ...], Coroutine[Any, Any, None]]:
        """Make a handler's method an endpoint, as a decorator."""

        @wraps(function)
        async def method(handler: Handler, **path: str) -> None:
            await handler.perform(self, function, path)

        method.endpoint = self  # type: ignore[attr-defined]
        return method

    @property
    def is_for_bound(self) -> bool:
        """Whether a token that is bound to pools may do it where its path names no machine."""
        return self.for_bound or self.scope in _OF_NO_MACHINE

    @property
    def takes_body(self) -> bool:
        """Whether it reads what a request sends behind its headers."""
        return self.body is not None or bool(self.raw_body)

    @property
    def media_types(self) -> tuple[str, ...]:
        """What a body may be."""
        return self.raw_body or (JSON,)


class PerformsEndpoints(Protocol):
    """A handler that keeps what its endpoints promise."""

    async def perform(
        self, endpoint: Endpoint, function: Callable[..., Awaitable[None]], path: Mapping[str, str]
    ) -> None:
        """Authorize, validate, and run the function with what the request gives it."""


def methods_of(handler: type[Any]) -> list[str]:
    """The HTTP methods that a handler class answers, in upper case; HEAD goes with GET."""
    names = [name.upper() for name in endpoints_of(handler)]
    return [*names, "HEAD"] if "GET" in names else names


def endpoints_of(handler: type[Any]) -> dict[str, Endpoint]:
    """The operations of a handler class by HTTP method, in lower case."""
    return {
        name: method.endpoint
        for name in ("get", "post", "patch", "put", "delete")
        if (method := getattr(handler, name, None)) is not None and hasattr(method, "endpoint")
    }
