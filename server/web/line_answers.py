"""Operations whose body is lines, each of which is answered by a line while others still come.

Many clients read no answer before they have sent everything.  So answers that are not read do not
hold up what is still to come, up to a bound; a client that sends more than that has to read
meanwhile, and is cut off where it does not.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing, suppress
from typing import Final

from tornado.iostream import StreamClosedError

from schemas.http import problems
from schemas.http.problems import ProblemError
from schemas.values.json_values import count_values
from schemas.values.validation_errors import MAX_ENTRIES
from server.errors import StoreError
from server.process.throttle import BLOCKING_BYTES, BLOCKING_VALUES
from server.web.bodies.incoming import content_type_of, wrong_media_type
from server.web.bodies.line_splitter import Line
from server.web.bodies.lines import LineBody, SenderGoneError
from server.web.closing import close_connection
from server.web.endpoint import Endpoint
from server.web.handler import Model, refuse_unknown_members, validated_json
from server.web.streaming import CHUNK_BYTES, StreamingHandler

logger = logging.getLogger(__name__)

NDJSON: Final = "application/x-ndjson"
LINES_MEDIA_TYPES: Final = (NDJSON, "application/jsonl")

MANY_VALUES: Final = 200
"""Up to so many mistakes a line may have before it is worth to look for the first ones alone."""

MAX_UNREAD_BYTES: Final = 4 * 1024 * 1024
"""So much of the answers may wait for a client that goes on sending."""

AnswersOf = Callable[[Sequence[Line]], Awaitable[bytes]]
"""Carries out some lines, and says of each in its turn what became of it."""


class LinesHandler(StreamingHandler):
    """A handler that takes a body line by line, and answers so."""

    async def answer_lines(self, answers_of: AnswersOf, endpoint: Endpoint) -> None:
        """Answer the body's lines, some at once.

        Where that cannot go on, a refusal is raised if nothing is answered yet; later the answer is
        cut off, so that a part of it does not look like all of it.
        """
        if content_type_of(self.request.headers) not in LINES_MEDIA_TYPES:
            raise wrong_media_type(endpoint)
        self.set_header("Content-Type", NDJSON)
        sender = _Sender(self)
        try:
            await self._answer_all(answers_of, sender, endpoint)
        except (StreamClosedError, SenderGoneError):
            logger.info("request=%s the sender of lines went away", self.request_id)
        except TimeoutError:
            logger.info("request=%s closing, as its answers are not read", self.request_id)
            close_connection(self.request)
        except (ProblemError, StoreError) as error:
            if not sender.has_begun:
                self.clear()
                raise
            logger.warning("request=%s answers to lines break off: %s", self.request_id, error)
            with suppress(StreamClosedError, TimeoutError):
                await sender.wait(0)
            close_connection(self.request)
        except Exception:
            if sender.has_begun:
                close_connection(self.request)
            raise
        else:
            self.finish()
        finally:
            sender.close()

    async def _answer_all(
        self, answers_of: AnswersOf, sender: "_Sender", endpoint: Endpoint
    ) -> None:
        if isinstance(self._body, LineBody):
            async with aclosing(self._body.batches()) as batches:
                async for batch in batches:
                    # The token may have been revoked while the body came.
                    await self.authorize(endpoint)
                    await sender.send(await answers_of(batch))
        await sender.wait(0)

    async def before_refusal(self) -> None:
        """Let a client send all of it that reads no answer before."""
        if isinstance(self._body, LineBody) and not self.services.operation.stopping:
            await self._body.drain()

    async def parsed_line(self, model: type[Model], line: Line, endpoint: Endpoint) -> Model:
        """What a line says.  Raises a refusal where that is not right."""
        most = endpoint.max_body_values
        if line.text is None:
            raise ProblemError(
                problems.TOO_LARGE,
                f"the line may have at most {endpoint.max_body_bytes} bytes",
                members={"max_bytes": endpoint.max_body_bytes},
            )
        # The shortest value and its comma are two bytes.
        values = count_values(line.text) if len(line.text) > 2 * MAX_ENTRIES else 1
        if values > most:
            raise ProblemError(
                problems.TOO_LARGE,
                f"the line may hold at most {most} JSON values, and it holds {values}",
                members={"max_values": most, "values": values},
            )
        if len(line.text) < BLOCKING_BYTES and values < BLOCKING_VALUES:
            return _parsed(model, line.text, values)
        async with self.services.operation.blocking_throttle.turn():
            return _parsed(model, line.text, values)


def _parsed(model: type[Model], text: bytes, values: int) -> Model:
    if values > MANY_VALUES:
        refuse_unknown_members(model, text, confidential=False)
    return validated_json(model, text, confidential=False)


class _Sender:
    """The answers on their way to the client, which reads them when it likes.

    What waits counts as what is kept of bodies: all of both together have a bound.
    """

    def __init__(self, handler: LinesHandler) -> None:
        self.has_begun = False
        self._handler = handler
        self._services = handler.services
        self._unread: deque[bytes] = deque()
        self._unread_bytes = 0
        self._is_gone = False
        self._writing: asyncio.Task[None] | None = None
        self._progress = asyncio.Event()

    async def send(self, answers: bytes) -> None:
        """Send answers; wait where too many of them are not read."""
        memory = self._services.operation.body_memory
        has_room = memory.fits(len(answers))
        self._unread.extend(
            answers[start : start + CHUNK_BYTES] for start in range(0, len(answers), CHUNK_BYTES)
        )
        self._unread_bytes += len(answers)
        memory.used += len(answers)
        if self._unread and (self._writing is None or self._writing.done()):
            self.has_begun = True
            self._writing = self._services.background.start(self._write(), "answer lines")
        await self.wait(MAX_UNREAD_BYTES if has_room else 0)

    async def wait(self, most: int) -> None:
        """Wait until no more than so many bytes are not read.

        Raises StreamClosedError where the client is gone, TimeoutError where it reads nothing.
        """
        while self._unread_bytes > most and not self._is_gone:
            self._progress.clear()
            async with asyncio.timeout(self._services.settings.body_timeout):
                await self._progress.wait()
        if self._is_gone:
            raise StreamClosedError

    def close(self) -> None:
        """Send nothing more."""
        if self._writing is not None:
            # Of a connection that ends while it is read, Tornado never ends the writing.
            self._writing.cancel()
        self._unread.clear()
        self._forget(self._unread_bytes)

    async def _write(self) -> None:
        try:
            while self._unread:
                self._handler.write(self._unread[0])
                await self._handler.flush()
                self._forget(len(self._unread.popleft()))
                self._progress.set()
        except StreamClosedError:
            self._is_gone = True
            self._progress.set()

    def _forget(self, size: int) -> None:
        self._unread_bytes -= size
        self._services.operation.body_memory.used -= size
