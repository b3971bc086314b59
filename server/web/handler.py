"""What every handler shares: the way of a request from its headers to its answer."""

import logging
import re
import secrets
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from itertools import count, islice
from types import TracebackType
from typing import Any, ClassVar, TypeVar
from uuid import UUID

from pydantic import BaseModel, JsonValue, ValidationError
from pydantic_core import from_json, to_json
from tornado.httputil import HTTPInputError
from tornado.iostream import StreamClosedError
from tornado.web import HTTPError, RequestHandler

from schemas.http import problems
from schemas.http.problems import InvalidRequestError, ProblemError, ValidationErrorBody
from schemas.values.json_values import count_values
from schemas.values.validation_errors import (
    MAX_ECHO_CHARACTERS,
    MAX_ENTRIES,
    ValidationErrorEntry,
    echo,
    entries_of,
)
from server.errors import StoreUnavailable
from server.identity.addresses import caller_address
from server.identity.authentication import Principal
from server.process.error_frames import forget_frames
from server.process.throttle import BLOCKING_BYTES, BLOCKING_VALUES
from server.services import Services
from server.web.authorization import authorize, refuse_when_stopping, storage_unavailable
from server.web.bodies.incoming import Body, content_type_of, too_many_values, wrong_media_type
from server.web.endpoint import JSON, Endpoint, endpoints_of, methods_of

logger = logging.getLogger(__name__)

REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
Model = TypeVar("Model", bound=BaseModel)

# A control lease is the only secret that is in an address.
_SECRETS = re.compile(r"(?<=/control/)[^/]+")


def _numbered() -> Iterator[str]:
    """Unique as long as no two servers draw the same 64 bits; cheaper than a random id for each."""
    yield from map((secrets.token_hex(8) + "-{:x}").format, count())


_request_ids = _numbered()


def new_request_id() -> str:
    """An id for a request that came without one."""
    return next(_request_ids)


class ApiHandler(RequestHandler):
    """A handler whose methods are declared operations.

    Everything that is wrong with a request is answered here: as a validation error (``422``) or
    as a problem (RFC 9457), with the request's id in both the body and ``X-Request-Id``.
    ``answered`` are the errors that an operation may end with.
    """

    answered: ClassVar[tuple[type[Exception], ...]] = (
        InvalidRequestError,
        ProblemError,
        StoreUnavailable,
    )
    services: Services
    principal: Principal
    session_expires_at: datetime | None = None
    notes: Mapping[str, object] = {}

    def initialize(self, services: Services, body: Body | None = None) -> None:
        """Begin a request; ``body`` is how its body came, where it has one."""
        self.services = services
        self._body = body
        given = self.request.headers.get("X-Request-Id", "")
        self.request_id = given if REQUEST_ID.fullmatch(given) else new_request_id()
        self.set_header("X-Request-Id", self.request_id)
        if services.operation.leaving:
            # The next request is to find another node.
            self.set_header("Connection", "close")

    def set_default_headers(self) -> None:
        """Say nothing about what serves the page, and let nobody keep what was read.

        Only what was read can be kept at all (RFC 9111, section 3): answers to a POST are not.
        """
        self.clear_header("Server")
        if self.request.method in ("GET", "HEAD"):
            self.set_header("Cache-Control", "no-store")

    def compute_etag(self) -> None:
        """No hash over every answer: what changes has versions of its own."""

    async def perform(
        self,
        endpoint: Endpoint,
        function: Callable[..., Awaitable[None]],
        path: Mapping[str, str],
    ) -> None:
        """Authorize, validate, run the method, and answer what goes wrong on the way."""
        # A connection that was upgraded is no request any more: it ends with the link.
        counted = 101 not in endpoint.answers and not endpoint.endless
        self.services.operation.under_way += counted
        try:
            if not endpoint.public:
                refuse_when_stopping(self.services)
                await self.authorize(endpoint)
            await function(self, **await self._arguments(endpoint, path))
        except self.answered as error:
            forget_frames(error)
            await self.before_refusal()
            self.answer_refusal(error)
        finally:
            self.services.operation.under_way -= counted

    async def before_refusal(self) -> None:
        """Do what must be done before a refusal is answered: nothing, where the body is here."""

    def on_finish(self) -> None:
        """Give back the memory of the body, also where no operation was reached."""
        if self._body is not None:
            self._body.release()

    async def authorize(self, endpoint: Endpoint) -> None:
        """Find out who calls, and whether they may; what lasts asks again as it goes on."""
        caller = await authorize(self.services, self.request, endpoint)
        self.principal, self.session_expires_at = caller
        if self.principal.pools is not None:
            await self._check_pools(endpoint)

    async def _check_pools(self, endpoint: Endpoint) -> None:
        """Raise a problem where the caller's token is bound to pools that this is not within."""
        machine_id = self.path_kwargs.get("machine_id")
        if machine_id is not None:
            await self.services.machines.reach.check(self.principal, machine_id)
        elif not endpoint.is_for_bound:
            raise ProblemError(problems.FORBIDDEN, "a token that is bound to pools cannot do this")

    @property
    def organization_id(self) -> UUID:
        """Whose things the caller sees and changes: no others, wherever this is handed on."""
        return self.principal.organization_id

    @property
    def address(self) -> str:
        """Where the request comes from."""
        return caller_address(self.request, self.services.settings.trusted_proxies)

    async def head(self, **path: str) -> None:
        """Answer what GET would, but for the body, which Tornado leaves away."""
        if "get" not in endpoints_of(type(self)):
            raise HTTPError(405)
        if (getting := self.get(**path)) is not None:
            await getting

    async def finish_after_headers(self) -> None:
        """End an answer to HEAD whose length nobody knows beforehand."""
        with suppress(StreamClosedError):
            await self.flush()
        self.finish()

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

    @property
    def loggable_path(self) -> str:
        """The path without what nobody who reads the log may know."""
        return _SECRETS.sub("...", self.request.path)

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
                self.loggable_path,
                exc_info=value,
            )

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        """Answer what Tornado itself refuses, and what nobody foresaw."""
        error = kwargs.get("exc_info", (None, None))[1]
        if status_code == 404:
            self._answer_problem(ProblemError(problems.NOT_FOUND, "nothing has this address"))
        elif status_code == 405:
            allowed = ", ".join(methods_of(type(self)))
            self._answer_problem(
                ProblemError(
                    problems.METHOD_NOT_ALLOWED,
                    f"this address takes {allowed or 'no method'}",
                    headers={"Allow": allowed},
                )
            )
        elif isinstance(error, HTTPError) and status_code == 400:
            self._answer_problem(self._refused_by_tornado(error))
        else:
            self._answer_problem(
                ProblemError(problems.INTERNAL_ERROR, "the server made a mistake; it is in its log")
            )

    def _refused_by_tornado(self, error: HTTPError) -> ProblemError:
        """Before the handler sees them, Tornado parses forms and decodes what the path names."""
        if isinstance(error.__cause__, HTTPInputError):
            return ProblemError(
                problems.UNSUPPORTED_MEDIA_TYPE, f"send {JSON}: nothing here takes a form"
            )
        return ProblemError(problems.NOT_FOUND, "nothing has this address: it is not UTF-8")

    async def _arguments(self, endpoint: Endpoint, path: Mapping[str, str]) -> dict[str, BaseModel]:
        arguments: dict[str, BaseModel] = {}
        if endpoint.path is not None:
            arguments["path"] = self._validated(endpoint.path, path, "path")
        if endpoint.query is not None:
            arguments["query"] = self._validated(endpoint.query, self._query(), "query")
        elif self.request.query:
            name = next(iter(self.request.query_arguments), self.request.query)
            raise InvalidRequestError.single(
                ("query", name), "this operation takes no query parameters", "extra_forbidden"
            )
        if endpoint.headers is not None:
            arguments["headers"] = self.headers_as(endpoint.headers)
        if endpoint.body is not None:
            is_given = endpoint.body_required or self.request.body
            arguments["body"] = (
                await self._validated_body(endpoint.body, endpoint) if is_given else endpoint.body()
            )
        return arguments

    def headers_as(self, model: type[Model]) -> Model:
        """The request's headers.  Raises InvalidRequestError where they do not fit the model."""
        return self._validated(model, self._header_values(model), "header")

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

    async def _validated_body(self, model: type[Model], endpoint: Endpoint) -> Model:
        try:
            return await self._parsed_body(model, endpoint)
        finally:
            self.request.body = b""

    async def _parsed_body(self, model: type[Model], endpoint: Endpoint) -> Model:
        content, values, confidential = self.request.body, 1, endpoint.confidential
        if content_type_of(self.request.headers) not in endpoint.media_types:
            raise wrong_media_type(endpoint)
        if len(content) > 2 * MAX_ENTRIES:  # The shortest value and its comma are two bytes.
            values = self._count_values(endpoint, content)
        if len(content) < BLOCKING_BYTES and values < BLOCKING_VALUES:
            if values > MAX_ENTRIES:
                refuse_unknown_members(model, content, confidential)
            return validated_json(model, content, confidential)
        blocking_throttle = self.services.operation.blocking_throttle
        if values > MAX_ENTRIES:
            async with blocking_throttle.turn():
                refuse_unknown_members(model, content, confidential)
        async with blocking_throttle.turn():
            body = validated_json(model, content, confidential)
            content = self.request.body = b""  # What it says is kept once, not twice.
        return body

    def _count_values(self, endpoint: Endpoint, content: bytes) -> int:
        """How many values there are; a body that is not small was counted as it came."""
        counted = None if self._body is None else self._body.values
        values = count_values(content) if counted is None else counted
        if (problem := too_many_values(values, endpoint)) is not None:
            raise problem
        return values

    def answer_refusal(self, error: Exception) -> None:
        """Answer one of the errors that are ``answered``."""
        if isinstance(error, InvalidRequestError):
            body = ValidationErrorBody(detail=error.entries)
            self.answer_bytes(422, body.model_dump_json().encode())
        elif isinstance(error, ProblemError):
            self._answer_problem(error)
        else:
            logger.warning("request=%s the database does not answer: %s", self.request_id, error)
            self._answer_problem(storage_unavailable())

    def _answer_problem(self, problem: ProblemError) -> None:
        body = self.described(problem)
        self.answer_bytes(problem.problem_type.status, to_json(body), problems.MEDIA_TYPE)

    def described(self, problem: ProblemError) -> Mapping[str, JsonValue]:
        """The members of a problem's answer; its headers are set."""
        # Tornado clears all headers before it lets an error be written.
        self.set_header("X-Request-Id", self.request_id)
        self.set_header("Content-Type", problems.MEDIA_TYPE)
        for name, value in problem.headers.items():
            self.set_header(name, value)
        return problem.body(self.request_id)


def validated_json(model: type[Model], content: bytes, confidential: bool) -> Model:
    """What a body says, or what is wrong with it."""
    try:
        return model.model_validate_json(content)
    except ValidationError as error:
        wrong = error.errors(include_url=False, include_input=not confidential)
        raise InvalidRequestError(entries_of(wrong, "body")) from None


def refuse_unknown_members(model: type[BaseModel], content: bytes, confidential: bool) -> None:
    """Refuse an object with more members that its model does not know than are ever told.

    Pydantic cannot be told to stop at the first mistakes: it would collect, and then describe, a
    hundred thousand of them.
    """
    entries = _unknown_members(model, content, confidential)
    if len(entries) > MAX_ENTRIES:
        raise InvalidRequestError(entries[:MAX_ENTRIES])


def _unknown_members(
    model: type[BaseModel], content: bytes, confidential: bool
) -> list[ValidationErrorEntry]:
    """The first members that a model does not know: one more than are told, where there are.

    What was parsed ends with this call.  An error that is raised keeps what its frames know until
    the garbage collector comes by, and a sender of many such bodies would fill the memory.
    """
    try:
        # Names that nobody will see again are not worth a place in pydantic's memory.
        members = from_json(content, cache_strings="none")
    except ValueError:
        return []  # Its model says where that is no JSON.
    if not isinstance(members, dict):
        return []
    known = {field.alias or name for name, field in model.model_fields.items()}
    unknown = (name for name in members if name not in known)
    return [
        ValidationErrorEntry(
            loc=["body", name[:MAX_ECHO_CHARACTERS]],
            msg="Extra inputs are not permitted",
            type="extra_forbidden",
            input=None if confidential else echo(members[name]),
        )
        for name in islice(unknown, MAX_ENTRIES + 1)
    ]
