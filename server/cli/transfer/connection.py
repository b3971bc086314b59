"""One connection to a server, for bodies and answers that are too long to be in memory."""

import http.client
import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from email.message import Message
from typing import Any, BinaryIO, Final, Self
from urllib.parse import urlsplit
from uuid import uuid4

import click
from pydantic import ValidationError

from schemas.http.problems import ValidationErrorBody, sentence
from server.cli.client import Api

CHUNK_BYTES: Final = 256 * 1024
SILENCE_SECONDS: Final = 120.0
"""A server that says nothing for longer than this is taken for one that is away."""

PAUSES: Final = (0.2, 1.0, 3.0, 6.0)
"""Seconds before each further try, while the server does not answer, or cannot do it now."""

_TRY_AGAIN: Final = (429, 503)


@dataclass(frozen=True)
class Reply:
    """The whole of a short answer."""

    status: int
    headers: Message
    body: bytes

    @property
    def tag(self) -> str:
        """What names the version that was answered."""
        return self.headers["ETag"] or ""

    @property
    def json(self) -> Any:
        """The body, decoded."""
        return json.loads(self.body)

    def is_problem(self, name: str) -> bool:
        """Whether this is the problem of that name."""
        try:
            return bool(self.json["type"] == f"/problems/{name}")
        except (ValueError, KeyError, TypeError):
            return False

    @property
    def refusal(self) -> str:
        """What an error answer says, as a sentence."""
        try:
            if self.status == 422:
                entries = ValidationErrorBody.model_validate(self.json).detail
                return "; ".join(map(sentence, entries))
            return f"{self.json['title']}: {self.json['detail']}"
        except (ValueError, KeyError, TypeError, ValidationError):
            return f"the server answered HTTP {self.status}"


class Transfer:
    """Requests one after another; each is tried again where that is safe, and all here are.

    Raises a ClickException where the server stays away, or says what it will say of any request.
    """

    def __init__(self, api: Api) -> None:
        self._api = api
        address = urlsplit(api.url.rstrip("/"))
        self._path = address.path
        kind = (
            http.client.HTTPSConnection if address.scheme == "https" else http.client.HTTPConnection
        )
        self._connection = kind(address.netloc, timeout=SILENCE_SECONDS)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def send(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        """Send a request and return the answer; a POST is done once, however often it is tried."""
        given = dict(headers or {})
        if method == "POST":
            given.setdefault("Idempotency-Key", f"import-{uuid4()}")

        def once() -> Reply:
            with self.opened(method, path, body, given) as response:
                return reply_of(response)

        return checked(self._persistently(once))

    def download(self, path: str, file: BinaryIO) -> Reply:
        """Write a successful answer's body to an empty file; the answer, without it."""

        def once() -> Reply:
            file.seek(0)
            file.truncate()
            with self.opened("GET", path) as response:
                if response.status != 200:
                    return reply_of(response)
                file.writelines(chunks(response))
                return reply_of(response, b"")

        return self._persistently(once)

    def _persistently(self, once: Callable[[], Reply]) -> Reply:
        for pause in PAUSES:
            with suppress(OSError, http.client.HTTPException):
                reply = once()
                if reply.status not in _TRY_AGAIN:
                    return reply
            time.sleep(pause)
        try:
            return once()
        except (OSError, http.client.HTTPException) as error:
            raise self.gone(error) from None

    @contextmanager
    def opened(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Iterator[http.client.HTTPResponse]:
        """Send a request, once, and read its answer as it comes.

        Raises an OSError or HTTPException where it does not come, or not to its end.
        """
        try:
            self._connection.request(
                method,
                self._path + path,
                body,
                {
                    "Authorization": f"Bearer {self._api.token}",
                    **({} if body is None else {"Content-Type": "application/json"}),
                    **(headers or {}),
                },
            )
            response = self._connection.getresponse()
            yield response
            if not response.isclosed():
                self._connection.close()
        except BaseException:
            self._connection.close()
            raise

    def gone(self, error: Exception) -> click.ClickException:
        """What to say of a server that does not answer."""
        return click.ClickException(
            f"no server answers at {self._api.url}: {error or type(error).__name__} (farhand "
            "doctor on its host looks closer); what is done is kept: the same command goes on from "
            "there"
        )


def reply_of(response: http.client.HTTPResponse, body: bytes | None = None) -> Reply:
    """A response as a whole, with this body, or its own."""
    content = response.read() if body is None else body
    return Reply(response.status, response.headers, content)


def checked(reply: Reply) -> Reply:
    """Raise a ClickException for an answer that says nothing of the request in particular."""
    if reply.status in (401, 403, *_TRY_AGAIN):
        raise click.ClickException(reply.refusal)
    return reply


def chunks(response: http.client.HTTPResponse) -> Iterator[bytes]:
    """The body as it comes."""
    while chunk := response.read(CHUNK_BYTES):
        yield chunk
