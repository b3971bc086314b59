"""Answers that are written piece by piece, no faster than they are read."""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing, suppress
from typing import Any, Final

from tornado.iostream import StreamClosedError

from schemas.http import problems
from schemas.http.problems import ProblemError
from server.errors import StoreError
from server.process.long_answers import MOST_OF_A_CALLER, TooManyLongAnswersError
from server.web.closing import close_connection
from server.web.endpoint import Endpoint
from server.web.handler import ApiHandler

logger = logging.getLogger(__name__)

CHUNK_BYTES = 64 * 1024
RETRY_SECONDS: Final = "5"


class StreamingHandler(ApiHandler):
    """A handler whose answers can be larger than what should be in memory.

    What it reads and writes for a GET has one of a few places, from before anything is read until
    the last byte is taken; a reader that takes nothing for too long is cut off, and so is one whose
    token was revoked meanwhile.
    """

    _endpoint: Endpoint

    async def perform(
        self,
        endpoint: Endpoint,
        function: Callable[..., Awaitable[None]],
        path: Mapping[str, str],
    ) -> None:
        """See `ApiHandler.perform`."""
        self._endpoint = endpoint
        reads = self.request.method in ("GET", "HEAD")
        await super().perform(endpoint, _in_a_place(function) if reads else function, path)

    async def stream(self, pieces: AsyncGenerator[bytes, None]) -> None:
        """Write pieces as they come, and wait whenever the reader is slower than the database.

        Raises a StoreError of the pieces only while nothing is written; later, the answer is cut
        off, so that half of it does not look like all of it.
        """
        if self.request.method == "HEAD":
            await pieces.aclose()
            await self.finish_after_headers()
            return
        # A reader who goes away in the middle cannot be answered.
        with suppress(StreamClosedError):
            await self._write_all(pieces)

    async def _write_all(self, pieces: AsyncGenerator[bytes, None]) -> None:
        waiting, is_begun = 0, False
        look_at = time.monotonic() + self.services.settings.token_check
        async with aclosing(pieces) as stream:
            try:
                async for piece in stream:
                    self.write(piece)
                    waiting += len(piece)
                    if waiting >= CHUNK_BYTES:
                        waiting, is_begun = 0, True
                        await self._written(self.flush())
                        if time.monotonic() >= look_at:
                            await self._still_allowed()
                            look_at = time.monotonic() + self.services.settings.token_check
            except StoreError:
                if not is_begun:
                    self.clear()
                    raise
                logger.exception("request=%s an answer broke off", self.request_id)
                close_connection(self.request)
                return
        await self._written(self.finish())

    async def _still_allowed(self) -> None:
        """Cut off whoever may not read any more: an answer lasts as long as its reader likes."""
        try:
            await self.authorize(self._endpoint)
        except ProblemError as problem:
            logger.info("request=%s closing: %s", self.request_id, problem)
            close_connection(self.request)
            raise StreamClosedError from None

    async def _written(self, writing: Awaitable[None]) -> None:
        """Wait until everything so far is on its way; cut off whoever does not read it."""
        try:
            async with asyncio.timeout(self.services.settings.body_timeout):
                await writing
        except TimeoutError:
            logger.info("request=%s closing, as its answer is not read", self.request_id)
            close_connection(self.request)
            raise StreamClosedError from None


async def cut(content: bytes) -> AsyncGenerator[bytes, None]:
    """The pieces of what is in memory already, so that none of it is there twice."""
    for start in range(0, len(content), CHUNK_BYTES):
        yield content[start : start + CHUNK_BYTES]


def _in_a_place(function: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    async def read(handler: StreamingHandler, **arguments: Any) -> None:
        try:
            async with handler.services.operation.long_answers.place(handler.principal.token_id):
                await function(handler, **arguments)
        except TooManyLongAnswersError:
            raise ProblemError(
                problems.TOO_MANY_STREAMS,
                f"this token, which may have {MOST_OF_A_CALLER} long answers open, or all together "
                "have as many open as may be: read them to their end",
                headers={"Retry-After": RETRY_SECONDS},
            ) from None

    return read
