"""Answers that are written piece by piece, no faster than they are read."""

import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress

from tornado.iostream import StreamClosedError

from server.store.errors import StoreError
from server.web.closing import close_connection
from server.web.handler import ApiHandler

logger = logging.getLogger(__name__)

CHUNK_BYTES = 64 * 1024


class StreamingHandler(ApiHandler):
    """A handler whose answers can be larger than what should be in memory."""

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
        async with aclosing(pieces) as stream:
            try:
                async for piece in stream:
                    self.write(piece)
                    waiting += len(piece)
                    if waiting >= CHUNK_BYTES:
                        waiting, is_begun = 0, True
                        await self.flush()
            except StoreError:
                if not is_begun:
                    self.clear()
                    raise
                logger.exception("request=%s an answer broke off", self.request_id)
                close_connection(self.request)
                return
        self.finish()
