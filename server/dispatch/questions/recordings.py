"""Recordings of a machine: that there are others than before, and that one ends."""

from typing import Literal
from uuid import UUID

from server.dispatch.questions.question import Done, LinkQuestion


class RecordingsChanged(LinkQuestion[Done]):
    """Somebody records the machine, or does no more; the database says who does.

    It is done when every input from then on is recorded, and the screen is seen, if it can be.
    """

    answer_seconds = 7.0

    type: Literal["recordings_changed"] = "recordings_changed"


class FinishRecording(LinkQuestion[Done]):
    """A recording ends: have all written that was noted for it."""

    answer_seconds = 16.0

    type: Literal["finish_recording"] = "finish_recording"
    recording_id: UUID
