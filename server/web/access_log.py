"""One line for each request: its id, what was asked, how it ended; never a body or a query.

Lines are buffered for a moment and written together, by the loop when it has time: a request does
not wait for the log.
"""

import asyncio
import logging
from collections.abc import Mapping
from typing import NamedTuple

from tornado.web import RequestHandler

from server.web.handler import ApiHandler

logger = logging.getLogger(__name__)

FLUSH_SECONDS = 0.2
MAX_BUFFERED = 1000


class _AnsweredRequest(NamedTuple):
    """A request that was answered, by the names that a log in JSON gives its facts."""

    request: str
    method: str
    path: str
    status: int
    took_ms: float
    notes: Mapping[str, object]


class AccessLog:
    """Tornado's ``log_function``."""

    def __init__(self) -> None:
        self._buffer: list[_AnsweredRequest] = []

    def __call__(self, handler: RequestHandler) -> None:
        """Add a request that was answered to the buffer."""
        if not isinstance(handler, ApiHandler) or not logger.isEnabledFor(logging.INFO):
            return
        request = handler.request
        self._buffer.append(
            _AnsweredRequest(
                handler.request_id,
                request.method or "",
                handler.loggable_path,
                handler.get_status(),
                round(request.request_time() * 1000, 1),
                handler.notes,
            )
        )
        if len(self._buffer) == 1:
            asyncio.get_running_loop().call_later(FLUSH_SECONDS, self.flush)
        elif len(self._buffer) >= MAX_BUFFERED:
            self.flush()

    def flush(self) -> None:
        """Write what is in the buffer."""
        requests, self._buffer = self._buffer, []
        for ended in requests:
            facts = {**ended._asdict(), **ended.notes}
            del facts["notes"]
            notes = "".join(f" {name}={value}" for name, value in ended.notes.items())
            logger.info("request=%s %s %s %d %.1fms%s", *ended[:5], notes, extra={"facts": facts})
