"""Which texts a machine's screen shows."""

from typing import Final, Literal

from schemas.inputs.pictures import Area
from schemas.values.pictures import Region
from server.dispatch.questions.question import Look, Refusal, Reply
from server.dispatch.refusals import no_vision
from server.vision.findings import TextFound

ANSWER_SECONDS: Final = 150.0
"""For a picture to come, to wait for its turn, and to be read: all three are bounded themselves."""


class TextsRead(Reply):
    """The texts, from the top to the bottom, of a part of the desktop."""

    type: Literal["texts_read"] = "texts_read"
    texts: tuple[TextFound, ...]
    region: Region


class ReadTexts(Look[TextsRead]):
    """Which texts does the screen show now, in a part or all of it?"""

    answer_seconds = ANSWER_SECONDS

    type: Literal["read_texts"] = "read_texts"
    region: Area | None

    def lost(self) -> Refusal:
        """There may be some; nobody says which."""
        return no_vision("its node did not answer in time")
