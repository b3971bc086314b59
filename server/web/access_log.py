"""One line for each request: its id, what was asked, how it ended; never a body or a query.

Lines gather for a moment and are written together, by the loop when it has time: a request does
not wait for the log.
"""

import asyncio
import logging
from collections.abc import Mapping
from typing import NamedTuple

from tornado.web import RequestHandler

from server.web.handler import ApiHandler

logger = logging.getLogger(__name__)

GATHER_SECONDS = 0.2
MAX_GATHERED = 1000


class _Ended(NamedTuple):
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
        self._ended: list[_Ended] = []

    def __call__(self, handler: RequestHandler) -> None:
        """Take note of a request that has ended."""
        if not isinstance(handler, ApiHandler) or not logger.isEnabledFor(logging.INFO):
            return
        request = handler.request
        self._ended.append(
            _Ended(
                handler.request_id,
                request.method or "",
                request.path,
                handler.get_status(),
                round(request.request_time() * 1000, 1),
                handler.notes,
            )
        )
        if len(self._ended) == 1:
            asyncio.get_running_loop().call_later(GATHER_SECONDS, self.flush)
        elif len(self._ended) >= MAX_GATHERED:
            self.flush()

    def flush(self) -> None:
        """Write what has gathered."""
        requests, self._ended = self._ended, []
        for ended in requests:
            facts = {**ended._asdict(), **ended.notes}
            del facts["notes"]
            notes = "".join(f" {name}={value}" for name, value in ended.notes.items())
            logger.info("request=%s %s %s %d %.1fms%s", *ended[:5], notes, extra={"facts": facts})
