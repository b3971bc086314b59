# Made of farhand/_async by client/unasync.py: change it there.
"""Requests to one server: each is sent until there is a final answer, or its time is over."""

import json as json_
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar
from urllib.parse import urlencode

import httpx
from pydantic import ValidationError

from farhand._answers import Reply
from farhand._retrying import FIRST_CONTACT_SECONDS, Tries
from farhand._settings import CONNECT_SECONDS, MAX_ANSWER_BYTES, Server, system_trust
from farhand._waiting import sleep
from farhand.errors import FarhandError, NoAnswer, NotFarhand, Refused
from farhand.types import Answer

Model = TypeVar("Model", bound=Answer)

_IDEMPOTENT = ("GET", "HEAD", "PUT", "DELETE")


class Connection:
    """What all parts of a client send their requests by."""

    def __init__(
        self,
        server: Server,
        *,
        timeout: float,
        wait_for_machine: bool,
        retry: bool = True,
        transport: httpx.BaseTransport | None = None,
        **options: Any,
    ) -> None:
        self.url = server.url
        self.timeout = timeout
        self._waits_for_machine = wait_for_machine
        self._retries = retry
        self._was_there = False
        options.setdefault("verify", system_trust(is_needed=server.url.startswith("https:")))
        self._client = httpx.Client(
            base_url=server.url, headers=server.headers, transport=transport, **options
        )

    def close(self) -> None:
        """Close all connections; nothing can be sent any more."""
        self._client.close()

    def send(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        json: Any = None,
        content: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        key: str | None = None,
        is_repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Reply:
        """Send a request until there is a final answer, and return it if it is a success.

        ``timeout`` is in seconds, for all tries together.  Raises a FarhandError.
        """
        given = dict(headers or {})
        if json is not None:
            content = json_.dumps(json, separators=(",", ":")).encode()
            given["Content-Type"] = "application/json"
        if key is not None:
            given["Idempotency-Key"] = key
        if is_repeatable is None:
            is_repeatable = key is not None or method in _IDEMPOTENT
        seconds = self.timeout if timeout is None else timeout
        tries = Tries(is_repeatable, self._waits_for_machine, seconds, not self._retries)
        request = method, path_with(path, query), content, given
        may_have_happened = False
        while True:
            began_at = time.monotonic()
            try:
                reply = self._once(*request, seconds=tries.left)
            except (httpx.HTTPError, httpx.InvalidURL) as error:
                was_sent = not isinstance(error, _NOT_SENT)
                # What is at a wrong address drops a request at once.
                waited = time.monotonic() - began_at
                self._was_there |= was_sent and waited > FIRST_CONTACT_SECONDS
                may_have_happened |= was_sent and method != "GET"
                pause = tries.pause_after_none(was_sent=was_sent)
                is_new = not self._was_there and seconds - tries.left > FIRST_CONTACT_SECONDS
                if pause is None or is_new or not _is_worth_trying(error):
                    raise self._no_answer(error, key, may_have_happened) from None
            else:
                refusal = None if reply.is_success else reply.refusal(key)
                self._was_there |= reply.is_success or refusal is not None
                if (pause := tries.pause_after(reply, refusal)) is None:
                    if reply.is_success:
                        return reply
                    raise self._refused(reply, refusal, key, may_have_happened)
                is_nothing = refusal is not None and not refusal.may_have_happened
                may_have_happened |= method != "GET" and not is_nothing
            sleep(pause)

    def _once(
        self,
        method: str,
        path: str,
        content: bytes | None,
        headers: Mapping[str, str],
        *,
        seconds: float,
    ) -> Reply:
        if self._client.is_closed:
            raise FarhandError("this client is closed: make a new one")
        ends_at = time.monotonic() + seconds
        with self._client.stream(
            method, path, content=content, headers=headers, timeout=_timeout(seconds)
        ) as response:
            return self._whole(response, ends_at)

    def _whole(self, response: httpx.Response, ends_at: float) -> Reply:
        if response.is_stream_consumed:
            # Of a transport that has all of it at once, such as httpx's mock.
            return Reply(response.status_code, response.headers, response.content)
        body = bytearray()
        for piece in response.iter_raw():
            body += piece
            if len(body) > MAX_ANSWER_BYTES:
                raise NotFarhand(f"the answer of {self.url} does not end")
            if time.monotonic() > ends_at:
                raise httpx.TimeoutException("the answer did not end in time")
        return Reply(response.status_code, response.headers, bytes(body))

    @contextmanager
    def stream(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        content: Any = None,
        headers: Mapping[str, str] | None = None,
        silence: float = 120.0,
    ) -> Iterator[httpx.Response]:
        """Send a request once, and read its answer as it comes, whatever its status.

        ``silence`` is how many seconds the server may say nothing.  Raises a FarhandError.
        """
        try:
            with self._client.stream(
                method,
                path_with(path, query),
                content=content,
                headers=headers,
                timeout=_timeout(silence),
            ) as response:
                self._was_there = True
                yield response
        except httpx.ReadTimeout:
            silent = httpx.ReadTimeout(f"nothing came for {silence:g} s")
            raise self._no_answer(silent, None, method != "GET") from None
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            was_sent = method != "GET" and not isinstance(error, _NOT_SENT)
            raise self._no_answer(error, None, was_sent) from None

    def check(self, response: httpx.Response) -> None:
        """Read an answer to :meth:`stream` and raise what it says, unless it is a success."""
        if response.status_code >= 300:
            self.read(response)

    def read(self, response: httpx.Response, *, timeout: float = 120.0) -> Reply:
        """Read all of an answer to :meth:`stream` that is a success; raise what another says.

        ``timeout`` is how many seconds it may take.
        """
        reply = self._whole(response, time.monotonic() + timeout)
        if reply.is_success:
            return reply
        raise reply.refusal() or self.stranger(reply)

    def call(
        self,
        model: type[Model],
        method: str,
        path: str,
        json: Any = None,
        *,
        is_repeatable: bool | None = None,
    ) -> Model:
        """Send a request, as :meth:`send` does, and return what its answer says."""
        reply = self.send(method, path, json=json, is_repeatable=is_repeatable)
        return self.parsed(model, reply)

    def parsed(self, model: type[Model], reply: Reply, key: str | None = None) -> Model:
        """What an answer says.  Raises NotFarhand where no Farhand server says so."""
        try:
            return model.model_validate_json(reply.body)
        except ValidationError:
            raise self.stranger(reply, key) from None

    def checked(self, model: type[Model], item: Any) -> Model:
        """One item of a list.  Raises NotFarhand where no Farhand server lists such."""
        try:
            return model.model_validate(item)
        except ValidationError:
            raise NotFarhand(
                f"what answers at {self.url} is no Farhand server, or not it alone: its list has "
                "what this library does not know"
            ) from None

    def stranger(self, reply: Reply, key: str | None = None) -> NotFarhand:
        """The error for an answer that is no Farhand server's."""
        error = reply.stranger(self.url)
        error.key = key
        error.may_have_happened = key is not None
        return error

    def _refused(
        self, reply: Reply, refusal: Refused | None, key: str | None, may_have_happened: bool
    ) -> FarhandError:
        """The error of an answer; an earlier try may be on its way yet, unless this is final."""
        error = refusal or self.stranger(reply, key)
        error.may_have_happened |= may_have_happened and not (refusal and refusal.final)
        return error

    def _no_answer(self, error: Exception, key: str | None, may_have_happened: bool) -> NoAnswer:
        why = str(error).rstrip(".") or type(error).__name__
        if self._was_there or may_have_happened:
            said = f"{self.url} gave no final answer in time: {why}"
        else:
            said = (
                f"no server answers at {self.url}: {why}; look whether farhand serve runs there, "
                "and what farhand doctor says on its host"
            )
        failed = NoAnswer(said)
        failed.why = why
        failed.key, failed.may_have_happened = key, may_have_happened
        return failed


_NOT_SENT = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    httpx.ProxyError,
    httpx.UnsupportedProtocol,
    httpx.InvalidURL,
)
"""Errors before the first byte of a request."""


def _is_worth_trying(error: Exception) -> bool:
    """Whether it can become better: not a wrong certificate, nor an address that is none."""
    is_certificate = "CERTIFICATE_VERIFY_FAILED" in str(error)
    return not (is_certificate or isinstance(error, httpx.InvalidURL | httpx.UnsupportedProtocol))


def _timeout(seconds: float) -> httpx.Timeout:
    seconds = max(seconds, 0.001)
    return httpx.Timeout(seconds, connect=min(seconds, CONNECT_SECONDS))


def path_with(path: str, query: Mapping[str, Any] | None) -> str:
    """An address with a query: what is None is left out, and booleans are as the API has them."""
    given = {
        name: str(value).lower() if isinstance(value, bool) else value
        for name, value in (query or {}).items()
        if value is not None
    }
    return f"{path}?{urlencode(given)}" if given else path
