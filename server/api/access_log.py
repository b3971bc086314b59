"""One line for each request: its id, what was asked, how it ended; never a body or a query.

Lines gather for a moment and are written together, by the loop when it has time: a request does
not wait for the log.
"""

import asyncio
import logging

from tornado.web import RequestHandler

from server.api.base import ApiHandler

logger = logging.getLogger(__name__)

GATHER_SECONDS = 0.2
MAX_GATHERED = 1000


class AccessLog:
    """Tornado's ``log_function``."""

    def __init__(self) -> None:
        self._lines: list[str] = []

    def __call__(self, handler: RequestHandler) -> None:
        """Take note of a request that has ended."""
        if not isinstance(handler, ApiHandler) or not logger.isEnabledFor(logging.INFO):
            return
        request = handler.request
        self._lines.append(
            f"request={handler.request_id} {request.method} {request.path} "
            f"{handler.get_status()} {request.request_time() * 1000:.1f}ms{handler.notes}"
        )
        if len(self._lines) == 1:
            asyncio.get_running_loop().call_later(GATHER_SECONDS, self.flush)
        elif len(self._lines) >= MAX_GATHERED:
            self.flush()

    def flush(self) -> None:
        """Write what has gathered."""
        lines, self._lines = self._lines, []
        for line in lines:
            logger.info("%s", line)
