"""Answers a request whose body is not read."""

from collections.abc import Awaitable

from pydantic_core import to_json
from tornado.web import stream_request_body

from schemas.http.problems import ProblemError
from server.services import Services
from server.web.handler import ApiHandler


@stream_request_body
class RefusedHandler(ApiHandler):
    """Writes a problem as soon as the headers are there, and ends when the body has come.

    Were the connection closed before, its client could lose the answer: it may still be sending,
    and what arrives at a closed connection resets it.
    """

    def initialize(  # type: ignore[override]
        self, services: Services, problem: ProblemError, is_drained: bool
    ) -> None:
        """Begin; where the body is not drained, the connection ends with the answer."""
        super().initialize(services)
        self._problem = problem
        self._is_drained = is_drained
        self._is_logged = False

    async def prepare(self) -> None:
        """Answer; the end of the body, and with it of the request, may be still to come."""
        self.set_status(self._problem.problem_type.status)
        content = to_json(self.described(self._problem))
        self.set_header("Content-Length", len(content))
        self.write(content)
        if self._is_drained:
            await self.flush()
        else:
            self.set_header("Connection", "close")
            await self._end()

    def data_received(self, chunk: bytes) -> Awaitable[None] | None:
        """Drop what still comes."""

    async def _end(self, **_path: str) -> None:
        self._is_logged = True
        self.finish()

    head = get = post = put = patch = delete = _end

    def on_connection_close(self) -> None:
        """Most clients close when they have the answer, which is logged all the same."""
        super().on_connection_close()
        if not self._is_logged:
            self._is_logged = True
            self.application.log_request(self)
