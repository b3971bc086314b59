"""Reads of a machine's clipboard, and who waits for them."""

import asyncio
from collections.abc import Callable

from schemas.inputs.clipboard_texts import Selection
from schemas.link.clipboard_messages import ClipboardQuery
from server.clock import server_time
from server.machines.link.errors import LinkBusyError, LinkDownError, LinkLostError
from server.machines.link.questions.clipboard import (
    ClipboardArrival,
    ClipboardArrived,
    ClipboardRefused,
)

MAX_OPEN_READS = 8
"""What one machine may owe at once."""


class ClipboardUnreadableError(Exception):
    """The machine could not read its clipboard; ``str()`` is its own reason, ``code`` its kind."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code


class MachineClipboard:
    """One machine's clipboard, by its link.

    ``ask`` sends a question on the link, ``is_up`` says whether the link takes any.
    """

    def __init__(self, ask: Callable[[ClipboardQuery], None], is_up: Callable[[], bool]) -> None:
        self._ask = ask
        self._is_up = is_up
        self._request = 0
        self._waiting: dict[int, asyncio.Future[str]] = {}

    async def read(self, selection: Selection, timeout: float) -> str:
        """What is in the clipboard, after all inputs that were sent before.

        Raises LinkDownError, LinkBusyError, LinkLostError, ClipboardUnreadableError, TimeoutError.
        """
        if not self._is_up():
            raise LinkDownError
        # One that was given up counts until the machine answers it.
        if len(self._waiting) >= MAX_OPEN_READS:
            raise LinkBusyError
        self._request += 1
        answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._waiting[self._request] = answer
        self._ask(
            ClipboardQuery(request=self._request, selection=selection, server_time=server_time())
        )
        async with asyncio.timeout(timeout):
            return await answer

    def arrived(self, arrival: ClipboardArrival) -> None:
        """Take what the machine sent."""
        match arrival:
            case ClipboardArrived(request, text):
                answer = self._waiting.pop(request)
                if not answer.done():
                    answer.set_result(text)
            case ClipboardRefused(request, code, reason):
                self._fail(request, ClipboardUnreadableError(code, reason))

    def over(self) -> None:
        """The link is closed: nothing more will come."""
        for request in tuple(self._waiting):
            self._fail(request, LinkLostError())

    def _fail(self, request: int, error: Exception) -> None:
        answer = self._waiting.pop(request)
        if not answer.done():
            answer.set_exception(error)
            answer.exception()
