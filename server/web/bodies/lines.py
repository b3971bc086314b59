"""Bodies of any length that are read line by line, as they come.

The handler runs from the beginning, and takes the lines that wait: as many as there are, so that
a fast sender's lines come in batches and a slow sender's at once.  Where enough of them wait, no
more is read from the connection.
"""

import asyncio
import sys
import time
from collections import deque
from collections.abc import AsyncGenerator, Awaitable
from typing import Final

from tornado.httputil import HTTPHeaders, RequestStartLine, ResponseStartLine

from schemas.http.problems import ProblemError
from server.tasks import at_most
from server.web.authorization import refuse_when_stopping
from server.web.bodies.incoming import (
    MAX_DRAINED_BYTES,
    Body,
    declared_length,
    too_many_bodies,
)
from server.web.bodies.line_splitter import Line, LineSplitter
from server.web.endpoint import Endpoint

BATCH_LINES: Final = 250
BATCH_BYTES: Final = 1024 * 1024
"""A batch takes one more line while it has fewer."""

STOP_POLL_SECONDS: Final = 0.5
"""How soon a server that stops ends a body whose sender is silent."""

WAITING_BYTES: Final = BATCH_BYTES
WAITING_LINES: Final = 4 * BATCH_LINES
"""With so many that wait, reading rests."""


class SenderGoneError(Exception):
    """The connection ended before the body did."""


class LineBody(Body):
    """A body whose handler takes its lines while they come."""

    _endpoint: Endpoint

    def headers_received(
        self, start_line: RequestStartLine | ResponseStartLine, headers: HTTPHeaders
    ) -> Awaitable[None] | None:
        self._splitter = LineSplitter(self._endpoint.max_body_bytes)
        self._lines: deque[Line] = deque()
        self._waiting_bytes = self._taken_bytes = 0
        self._has_ended = self._is_gone = self._is_dropped = False
        self._problem: ProblemError | None = None
        self._changed = asyncio.Event()
        self._room: asyncio.Future[None] | None = None
        return self._begin(headers)

    async def _begin(self, headers: HTTPHeaders) -> None:
        await self._check_headers(declared_length(headers), headers)
        if self._refused is None:
            # Tornado would end the connection at the length that other bodies may have.
            self._request.connection.set_max_body_size(sys.maxsize)  # type: ignore[union-attr]
            self.accepted.execute()

    def _problem_with_length(self, endpoint: Endpoint, length: int) -> ProblemError | None:
        return None if self._services.operation.body_memory.fits(1) else too_many_bodies()

    def data_received(self, chunk: bytes) -> Awaitable[None] | None:
        if self._refused is not None:
            return super().data_received(chunk)
        if self._is_dropped:
            self._received += len(chunk)
            self._changed.set()
            return None
        ended = list(self._splitter.add(chunk))
        self._lines.extend(ended)
        self._waiting_bytes += sum(line.size for line in ended)
        self._note_memory()
        self._changed.set()
        if self._waiting_bytes < WAITING_BYTES and len(self._lines) < WAITING_LINES:
            self._expect_more()
            return None
        # What is not read cannot be late.
        self._services.operation.body_memory.receiving.pop(self, None)
        self._room = asyncio.get_running_loop().create_future()
        return self._room

    def _expect_more(self) -> None:
        """The time that a body may take is, of one without end, that for its next piece."""
        receiving = self._services.operation.body_memory.receiving
        receiving.pop(self, None)
        receiving[self] = time.monotonic()

    def _note_memory(self) -> None:
        """Count what is kept now; where it is more than all bodies may have, it ends here."""
        if self._is_gone:
            return
        memory = self._services.operation.body_memory
        kept = self._waiting_bytes + self._taken_bytes + self._splitter.size
        if kept > self._memory_used and not memory.fits(kept - self._memory_used):
            self._problem = too_many_bodies()
        memory.used += kept - self._memory_used
        self._memory_used = kept

    def finish(self) -> None:
        if self._refused is not None:
            super().finish()
            return
        self._services.operation.body_memory.receiving.pop(self, None)
        self._lines.extend(self._splitter.end())
        self._has_ended = True
        self._changed.set()

    def on_connection_close(self) -> None:
        super().on_connection_close()
        self._is_gone = True
        self._let_come()
        self._changed.set()

    async def batches(self) -> AsyncGenerator[list[Line], None]:
        """The lines that are not blank, as they come, some at once.

        Raises SenderGoneError where the connection ends, and a problem where all bodies together
        leave no memory for this one, or the server stops.
        """
        try:
            while True:
                if self._is_gone:
                    raise SenderGoneError
                if self._problem is not None:
                    raise self._problem
                if self._has_ended and not self._lines:
                    return
                refuse_when_stopping(self._services)
                if batch := self._batch():
                    yield batch
                    continue
                self._changed.clear()
                await at_most(STOP_POLL_SECONDS, self._changed.wait())
        finally:
            # Nobody takes the rest: it must not hold up the connection, be that only for its end.
            self._drop()

    async def drain(self) -> None:
        """Read the rest and drop it, for its sender to come to the answer; but not for ever."""
        self._drop()
        while not (self._has_ended or self._is_gone or self._received > MAX_DRAINED_BYTES):
            self._changed.clear()
            await self._changed.wait()

    def _batch(self) -> list[Line]:
        batch: list[Line] = []
        size = 0
        while self._lines and len(batch) < BATCH_LINES and size < BATCH_BYTES:
            batch.append(self._lines.popleft())
            size += batch[-1].size
        self._waiting_bytes -= size
        self._taken_bytes = size
        self._note_memory()
        self._let_come()
        return batch

    def _drop(self) -> None:
        self._is_dropped = True
        self._lines.clear()
        self._splitter = LineSplitter(0)
        self._waiting_bytes = self._taken_bytes = 0
        self._note_memory()
        self._let_come()

    def _let_come(self) -> None:
        """Let reading go on, where it rests and there is room again."""
        if self._room is None or (
            len(self._lines) >= BATCH_LINES or self._waiting_bytes >= BATCH_BYTES
        ):
            return
        room, self._room = self._room, None
        if not self._is_gone:
            self._expect_more()
        room.set_result(None)
