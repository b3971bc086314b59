"""What a link has asked about screen and clipboard, and what the answers mean for it."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from schemas.link.clipboard_messages import (
    ClipboardFailed,
    ClipboardNext,
    ClipboardQuery,
    ClipboardRead,
)
from schemas.link.messages import ScreenCredit
from server.machines.link.questions.clipboard import (
    ClipboardAnswer,
    ClipboardArrival,
    ClipboardLink,
)
from server.machines.link.questions.screen import (
    ScreenAnswer,
    ScreenArrival,
    ScreenLink,
    ScreenQuestion,
)

Answer = ScreenAnswer | ClipboardAnswer
Sent = ClipboardNext | ScreenCredit
Arrival = ScreenArrival | ClipboardArrival


class LinkQuestions:
    """Made when the first is asked: of most machines nothing ever is.

    Whatever it takes may raise PictureError and UnexpectedAnswerError.
    """

    __slots__ = ("_clipboard", "_screen")

    def __init__(self, largest_picture: int, server_time: Callable[[], int]) -> None:
        self._screen = ScreenLink(largest_picture, server_time)
        self._clipboard = ClipboardLink(server_time)

    def asked(self, question: ScreenQuestion | ClipboardQuery) -> None:
        """Note what is about to be sent."""
        if isinstance(question, ClipboardQuery):
            self._clipboard.asked(question)
        else:
            self._screen.asked(question)

    def sent(self, command_id: UUID, actions: list[dict[str, Any]]) -> None:
        """Note the actions of a command that is about to be sent."""
        self._screen.sent(command_id, actions)

    def ended(self, command_id: UUID) -> None:
        """Forget a command."""
        self._screen.ended(command_id)

    def answered(self, answer: Answer) -> list[Sent | Arrival]:
        """Take a text message; what is to be sent for it, and what has arrived with it."""
        if isinstance(answer, ClipboardRead | ClipboardFailed):
            return [self._clipboard.answered(answer)]
        return [*self._screen.answered(answer)]

    def frame_received(self, frame: bytes) -> list[Sent | Arrival]:
        """Take a part of a picture, as `answered` does."""
        return [*self._screen.frame_received(frame)]
