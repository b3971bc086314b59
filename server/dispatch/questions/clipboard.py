"""What is in a machine's clipboard."""

from typing import Final, Literal, Self

from schemas.inputs.clipboard_texts import Selection
from server.dispatch.questions.question import Look, Refusal, ReplyWithContent
from server.dispatch.refusals import no_clipboard

ANSWER_SECONDS: Final = 30.0
"""For a machine to answer: inputs that came before go first, and programs may be slow to say."""


class TextRead(ReplyWithContent):
    """A text; as UTF-8 it is the content."""

    type: Literal["text_read"] = "text_read"

    @classmethod
    def of(cls, text: str) -> Self:
        """The reply that brings a text."""
        return cls(content=text.encode())

    @property
    def text(self) -> str:
        """The text that it brings."""
        return self.content.decode()


class ReadClipboard(Look[TextRead]):
    """What was copied last on the machine, after all inputs that it has got?

    It may be read while the machine is paused and while somebody has control, like its screen,
    unless that is private.
    """

    answer_seconds = ANSWER_SECONDS + 1.0

    type: Literal["read_clipboard"] = "read_clipboard"
    selection: Selection

    def lost(self) -> Refusal:
        """It may be readable; nobody says what is in it."""
        return no_clipboard("its node did not answer in time", None)
