"""One connection to a server, for bodies and answers that are too long to be in memory."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, BinaryIO, Final, Self
from uuid import uuid4

import click

from server.cli.client import Api
from server.client.replies import Reply

if TYPE_CHECKING:
    from httpx import Response

CHUNK_BYTES: Final = 256 * 1024
SILENCE_SECONDS: Final = 120.0
"""A server that says nothing for longer than this is taken for one that is away."""

PAUSES: Final = (0.2, 1.0, 3.0, 6.0)
"""Seconds before each further try, while the server does not answer, or cannot do it now."""

_TRY_AGAIN: Final = (429, 503)


class Transfer:
    """Requests one after another; each is tried again where that is safe, and all here are.

    Raises a ClickException where the server stays away, or says what it will say of any request.
    What is sent on its ``connection`` is sent once.
    """

    def __init__(self, api: Api) -> None:
        # Imported late, for the reason that stands there.
        from server.client.connections import Connection  # noqa: PLC0415

        self._api = api
        try:
            self.connection = Connection(api.url, api.token, SILENCE_SECONDS)
        except ConnectionError as error:
            raise self.gone(error) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.connection.close()

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
            with self.connection.opened(method, path, body, given) as response:
                return self.reply(response)

        return checked(self._persistently(once))

    def download(self, path: str, file: BinaryIO) -> Reply:
        """Write a successful answer's body to an empty file; the answer, without it."""

        def once() -> Reply:
            file.seek(0)
            file.truncate()
            with self.connection.opened("GET", path) as response:
                if response.status_code != 200:
                    return self.reply(response)
                for chunk in chunks(response):
                    write(file, chunk)
                return Reply(response.status_code, response.headers, b"")

        return self._persistently(once)

    def _persistently(self, once: Callable[[], Reply]) -> Reply:
        for pause in PAUSES:
            with suppress(ConnectionError, TimeoutError):
                reply = once()
                if reply.status not in _TRY_AGAIN:
                    return reply
            time.sleep(pause)
        try:
            return once()
        except (ConnectionError, TimeoutError) as error:
            raise self.gone(error) from None

    def reply(self, response: "Response") -> Reply:
        """The answer as a whole.  Raises ConnectionError where it does not end."""
        from server.client.connections import reply_of  # noqa: PLC0415

        return reply_of(response, SILENCE_SECONDS)

    def gone(self, error: Exception) -> click.ClickException:
        """What to say of a server that does not answer."""
        return click.ClickException(
            f"no server answers at {self._api.url}: {error} (farhand "
            "doctor on its host looks closer); what is done is kept: the same command goes on from "
            "there"
        )


def checked(reply: Reply) -> Reply:
    """Raise a ClickException for an answer that says nothing of the request in particular."""
    if reply.status in (401, 403, *_TRY_AGAIN):
        raise click.ClickException(reply.refusal)
    return reply


def write(output: BinaryIO, chunk: bytes) -> None:
    """Write what came; raise a ClickException where it finds no room here.

    That is nothing of the network's: to try again would not help.
    """
    try:
        output.write(chunk)
    except OSError as error:
        raise click.ClickException(f"cannot write what comes: {error.strerror}") from None


def chunks(response: "Response") -> Iterator[bytes]:
    """The body as it comes."""
    return response.iter_raw()
