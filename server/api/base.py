"""What every handler shares: the way of a request from its headers to its answer."""

import logging
import re
import secrets
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from itertools import count
from types import TracebackType
from typing import Any, TypeVar

from pydantic import BaseModel, JsonValue, ValidationError
from pydantic_core import to_json
from tornado.web import HTTPError, RequestHandler

from schemas import problems
from schemas.problems import InvalidRequestError, ProblemError, ValidationErrorBody, entries_of
from server.api.authentication import Principal
from server.api.operation import Operation, declared
from server.api.services import Services
from server.api.sessions import COOKIE, check_own_request
from server.store.errors import StoreUnavailable

logger = logging.getLogger(__name__)

REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
RETRY_AFTER_SECONDS = "1"

Model = TypeVar("Model", bound=BaseModel)

# Unique as long as no two servers draw the same 64 bits; cheaper than a random id for each.
_request_ids = map((secrets.token_hex(8) + "-{:x}").format, count())


class ApiHandler(RequestHandler):
    """A handler whose methods are declared operations.

    Everything that is wrong with a request is answered here: as a validation error (``422``) or
    as a problem (RFC 9457), with the request's id in both the body and ``X-Request-Id``.
    """

    services: Services
    principal: Principal
    session_expires_at: datetime | None = None
    notes: Mapping[str, object] = {}

    def initialize(self, services: Services) -> None:
        self.services = services
        given = self.request.headers.get("X-Request-Id", "")
        self.request_id = given if REQUEST_ID.fullmatch(given) else next(_request_ids)
        self.set_header("X-Request-Id", self.request_id)

    def set_default_headers(self) -> None:
        """Say nothing about what serves the page, and let nobody keep what was read.

        Only what was read can be kept at all (RFC 9111, section 3): answers to a POST are not.
        """
        self.clear_header("Server")
        if self.request.method == "GET":
            self.set_header("Cache-Control", "no-store")

    def compute_etag(self) -> None:
        """No hash over every answer: what changes has versions of its own."""

    async def perform(
        self,
        operation: Operation,
        function: Callable[..., Awaitable[None]],
        path: Mapping[str, str],
    ) -> None:
        """Authorize, validate, run the method, and answer what goes wrong on the way."""
        # A connection that was upgraded is no request any more: it ends with the link.
        counted = 101 not in operation.answers and not operation.endless
        self.services.under_way += counted
        try:
            if not operation.public:
                self._refuse_when_stopping()
                await self.authorize(operation)
            await function(self, **self._arguments(operation, path))
        except InvalidRequestError as error:
            self._refuse(error)
        except ProblemError as problem:
            self._answer_problem(problem)
        except StoreUnavailable as error:
            logger.warning("request=%s the database does not answer: %s", self.request_id, error)
            self._answer_problem(
                ProblemError(
                    problems.STORAGE_UNAVAILABLE,
                    "the database does not answer; nothing that was not confirmed is lost",
                    headers={"Retry-After": RETRY_AFTER_SECONDS},
                )
            )
        finally:
            self.services.under_way -= counted

    def _refuse_when_stopping(self) -> None:
        if self.services.stopping:
            raise ProblemError(
                problems.SERVER_STOPPING,
                "the server is stopping; nothing was done",
                headers={"Retry-After": RETRY_AFTER_SECONDS, "Connection": "close"},
            )

    async def authorize(self, operation: Operation) -> None:
        """Find out who calls, and whether they may."""
        authorization = self.request.headers.get("Authorization")
        if authorization is None and (secret := self.get_cookie(COOKIE)) is not None:
            check_own_request(self.request)
            found = await self.services.sessions.principal(secret)
            self.principal, self.session_expires_at = found
        else:
            self.principal = await self.services.authenticator.principal(authorization)
        if operation.scope is not None:
            self.principal.require(operation.scope)

    def answer(self, status: int, content: BaseModel | None = None) -> None:
        """Send a successful answer."""
        self.set_status(status)
        if content is None:
            self.clear_header("Content-Type")
            self.finish()
        else:
            self.answer_bytes(status, content.model_dump_json().encode())

    def answer_bytes(
        self, status: int, body: bytes, media_type: str | None = "application/json"
    ) -> None:
        """Send a body as it is; None is no media type, for no body."""
        self.set_status(status)
        if media_type is None:
            self.clear_header("Content-Type")
        else:
            self.set_header("Content-Type", media_type)
        # Tornado takes even an empty body for one that 204 may not have.
        self.finish(body or None)

    def note(self, **facts: object) -> None:
        """Add facts to this request's line in the log."""
        self.notes = {**self.notes, **facts}

    def log_exception(
        self,
        typ: type[BaseException] | None,
        value: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        """Log under the request's id what nobody foresaw; Tornado's own line has the query."""
        if value is not None and not isinstance(value, HTTPError):
            request = self.request
            logger.error(
                "request=%s %s %s failed",
                self.request_id,
                request.method,
                request.path,
                exc_info=value,
            )

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        """Answer what Tornado itself refuses, and what nobody foresaw."""
        error = kwargs.get("exc_info", (None, None))[1]
        if status_code == 404:
            self._answer_problem(ProblemError(problems.NOT_FOUND, "nothing has this address"))
        elif status_code == 405:
            allowed = ", ".join(name.upper() for name in declared(type(self)))
            self._answer_problem(
                ProblemError(
                    problems.METHOD_NOT_ALLOWED,
                    f"this address takes {allowed or 'no method'}",
                    headers={"Allow": allowed},
                )
            )
        elif isinstance(error, HTTPError) and status_code == 400:
            self._answer_problem(self._refused_by_tornado())
        else:
            self._answer_problem(
                ProblemError(problems.INTERNAL_ERROR, "the server made a mistake; it is in its log")
            )

    def _refused_by_tornado(self) -> ProblemError:
        """Before the handler sees them, Tornado parses forms and decodes what the path names."""
        if self.request.headers.get("Content-Type", "").startswith("application/json"):
            return ProblemError(problems.NOT_FOUND, "nothing has this address: it is not UTF-8")
        return _not_json()

    def _arguments(self, operation: Operation, path: Mapping[str, str]) -> dict[str, BaseModel]:
        arguments: dict[str, BaseModel] = {}
        if operation.path is not None:
            arguments["path"] = self._validated(operation.path, path, "path")
        if operation.query is not None:
            arguments["query"] = self._validated(operation.query, self._query(), "query")
        elif self.request.query:
            name = next(iter(self.request.query_arguments), self.request.query)
            raise InvalidRequestError.single(
                ("query", name), "this operation takes no query parameters", "extra_forbidden"
            )
        if operation.headers is not None:
            arguments["headers"] = self._validated(
                operation.headers, self._header_values(operation.headers), "header"
            )
        if operation.body is not None:
            is_given = operation.body_required or self.request.body
            arguments["body"] = self._body(operation.body) if is_given else operation.body()
        return arguments

    def _validated(self, model: type[Model], values: Mapping[str, Any], part: str) -> Model:
        try:
            return model.model_validate(values)
        except ValidationError as error:
            raise InvalidRequestError(entries_of(error.errors(include_url=False), part)) from None

    def _query(self) -> dict[str, str]:
        values = {}
        for name, given in self.request.query_arguments.items():
            if len(given) > 1:
                raise InvalidRequestError.single(
                    ("query", name), "this parameter may be given only once", "repeated"
                )
            try:
                values[name] = given[0].decode()
            except UnicodeDecodeError:
                raise InvalidRequestError.single(
                    ("query", name), "must be percent-encoded UTF-8", "string_unicode"
                ) from None
        return values

    def _header_values(self, model: type[BaseModel]) -> dict[str, str]:
        values = {}
        for field in model.model_fields.values():
            name = field.alias or ""
            given = self.request.headers.get_list(name)
            if len(given) > 1:
                raise InvalidRequestError.single(
                    ("header", name), "this header may be given only once", "repeated"
                )
            if given:
                values[name] = given[0]
        return values

    def _body(self, model: type[Model]) -> Model:
        media_type = self.request.headers.get("Content-Type", "").partition(";")[0].strip()
        if media_type.lower() != "application/json":
            raise _not_json()
        try:
            return model.model_validate_json(self.request.body)
        except ValidationError as error:
            raise InvalidRequestError(entries_of(error.errors(include_url=False), "body")) from None

    def _refuse(self, error: InvalidRequestError) -> None:
        body = ValidationErrorBody(detail=error.entries)
        self.answer_bytes(422, body.model_dump_json().encode())

    def _answer_problem(self, problem: ProblemError) -> None:
        # Tornado clears all headers before it lets an error be written.
        self.set_header("X-Request-Id", self.request_id)
        for name, value in problem.headers.items():
            self.set_header(name, value)
        body: Mapping[str, JsonValue] = problem.body(self.request_id)
        self.answer_bytes(problem.problem_type.status, to_json(body), problems.MEDIA_TYPE)


class UnknownAddressHandler(ApiHandler):
    """Whatever no route names."""

    def prepare(self) -> None:
        raise HTTPError(404)


class BodyTooLargeHandler(ApiHandler):
    """Answers for a handler whose body limit a request exceeds."""

    def initialize(self, services: Services, max_bytes: int = 0) -> None:
        super().initialize(services)
        self._max_bytes = max_bytes

    def prepare(self) -> None:
        self.set_header("Connection", "close")
        self._answer_problem(
            ProblemError(
                problems.TOO_LARGE,
                f"the body may have at most {self._max_bytes} bytes here",
                members={"max_bytes": self._max_bytes},
            )
        )


def _not_json() -> ProblemError:
    return ProblemError(
        problems.UNSUPPORTED_MEDIA_TYPE, "send JSON with Content-Type: application/json"
    )
