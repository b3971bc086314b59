"""What a route promises, declared once: it validates, authorizes and documents the operation."""

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from pydantic import BaseModel

from schemas.problems import ProblemType
from schemas.tokens import Scope

if TYPE_CHECKING:
    from server.api.base import ApiHandler

SMALL_BODY = 64 * 1024

Handler = TypeVar("Handler", bound="ApiHandler")
Parameters = ParamSpec("Parameters")


@dataclass(frozen=True)
class Operation:
    """One method of one route.

    ``path``, ``query``, ``headers`` and ``body`` are the models that the parts of a request must
    fit; the handler's method gets each as the argument of that name.  Where ``body_required`` is
    false, no body is as good as an empty object.  ``raw_body`` has the media types of a body that
    the handler reads itself.  ``answers`` has the model of each successful status, None where there
    is no body.  An ``endless`` one is a stream that ends with its reader or the server, which
    therefore does not wait for it when it stops.
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
    problems: tuple[ProblemType, ...] = ()
    max_body_bytes: int = SMALL_BODY
    public: bool = False
    endless: bool = False
    media_type: str = "application/json"
    answer_headers: Mapping[str, str] = field(default_factory=dict)


def operation(
    declaration: Operation,
) -> Callable[
    [Callable[Concatenate[Handler, Parameters], Coroutine[Any, Any, None]]],
    Callable[Concatenate[Handler, ...], Coroutine[Any, Any, None]],
]:
    """Make a handler's method keep what ``declaration`` says."""

    def decorate(
        function: Callable[Concatenate[Handler, Parameters], Coroutine[Any, Any, None]],
    ) -> Callable[Concatenate[Handler, ...], Coroutine[Any, Any, None]]:
        @wraps(function)
        async def method(handler: Handler, **path: str) -> None:
            await handler.perform(declaration, function, path)

        method.operation = declaration  # type: ignore[attr-defined]
        return method

    return decorate


def declared(handler: type[Any]) -> dict[str, Operation]:
    """The operations of a handler class by HTTP method, in lower case."""
    return {
        name: method.operation
        for name in ("get", "post", "patch", "put", "delete")
        if (method := getattr(handler, name, None)) is not None and hasattr(method, "operation")
    }
