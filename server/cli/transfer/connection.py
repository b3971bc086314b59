"""One connection to a server, for bodies and answers that are too long to be in memory."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import BinaryIO, Final, Self, TypeVar
from uuid import uuid4

import click

from farhand import FarhandError, NoAnswer, Reply
from server.cli.client import Api

CHUNK_BYTES: Final = 256 * 1024
SILENCE_SECONDS: Final = 120.0
"""A server that says nothing for longer than this is taken for one that is away."""

PAUSES: Final = (0.2, 1.0, 3.0, 6.0)
"""Seconds before each further try, while the server does not answer, or cannot do it now."""

_TRY_AGAIN: Final = (429, 503)

Got = TypeVar("Got")


class Transfer:
    """Requests one after another; each is tried again where that is safe, and all here are.

    They raise a FarhandError, which is a ClickException for whoever leaves the ``with`` statement,
    and at once where the server would say the same of any request.
    """

    def __init__(self, api: Api) -> None:
        self._api = api
        self._farhand = api.opened()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _kind: object, error: BaseException | None, _traceback: object) -> None:
        self._farhand.close()
        if isinstance(error, NoAnswer):
            raise click.ClickException(
                f"no server answers at {self._api.url}: {error.why} (farhand doctor on its host "
                "looks closer); what is done is kept: the same command goes on from there"
            ) from None
        if isinstance(error, FarhandError):
            raise self._api.failure(error) from None

    def send(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        """Send a request and return the answer; a POST is done once, however often it is tried."""
        given = {} if body is None else {"Content-Type": "application/json"}
        given.update(headers or {})
        if method == "POST":
            given.setdefault("Idempotency-Key", f"import-{uuid4()}")
        connection = self._farhand.connection

        def once() -> Reply:
            with connection.stream(
                method, path, content=body, headers=given, silence=SILENCE_SECONDS
            ) as response:
                reply = connection.read(response, timeout=SILENCE_SECONDS)
            if reply.body and not _is_json(reply.headers):
                raise connection.stranger(reply)
            return reply

        try:
            return self._persistently(once)
        except FarhandError as error:
            if error.status in (401, 403, *_TRY_AGAIN):
                raise self._api.failure(error) from None
            raise

    def download(self, path: str, file: BinaryIO) -> str:
        """Write a successful answer's body to an empty file; the answer's ETag."""

        def once() -> str:
            file.seek(0)
            file.truncate()
            with self.opened(path) as (tag, chunks):
                for chunk in chunks:
                    write(file, chunk)
                return tag

        return self._persistently(once)

    @contextmanager
    def opened(self, path: str) -> Iterator[tuple[str, Iterator[bytes]]]:
        """The ETag of a successful answer, which is asked for once, and its body as it comes."""
        connection = self._farhand.connection
        with connection.stream("GET", path, silence=SILENCE_SECONDS) as response:
            connection.check(response)
            if not _is_json(response.headers):
                raise connection.stranger(connection.read(response))
            yield response.headers.get("ETag", ""), response.iter_raw()

    def _persistently(self, once: Callable[[], Got]) -> Got:
        for pause in PAUSES:
            try:
                return once()
            except FarhandError as error:
                if not isinstance(error, NoAnswer) and error.status not in _TRY_AGAIN:
                    raise
            time.sleep(pause)
        return once()


def _is_json(headers: Mapping[str, str]) -> bool:
    """Whether it is what a server of ours says, and not a page that a network puts before it."""
    return "json" in headers.get("Content-Type", "")


def write(output: BinaryIO, chunk: bytes) -> None:
    """Write what came; raise a ClickException where it finds no room here.

    That is nothing of the network's: to try again would not help.
    """
    try:
        output.write(chunk)
    except OSError as error:
        raise click.ClickException(f"cannot write what comes: {error.strerror}") from None
