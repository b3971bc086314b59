"""Reads what comes on a machine's websocket: which event of its link a frame is."""

from pydantic import ValidationError

from schemas.link.clipboard_messages import ClipboardRead
from schemas.link.messages import CLIENT_MESSAGES, Ack, Report
from schemas.values.foreign_texts import foreign_text
from schemas.values.validation_errors import entries_of, sentence
from server.machines.link import events

CHARACTERS_OF_A_FRAME = 512
"""A text counts as one frame more for each so many: reading it takes as long as reading them."""

LARGE_FRAME_BYTES = 8 * 1024
"""Frames of a picture that are so large are no more than the picture needs, and count as none."""


def events_of(frame: str | bytes) -> list[events.MachineEvent]:
    """What a frame is to its link: how much more than one it counts, and what it says."""
    if isinstance(frame, bytes):
        received = events.FrameReceived(frame)
        return (
            [events.FramesCounted(-1), received] if len(frame) >= LARGE_FRAME_BYTES else [received]
        )
    try:
        message = CLIENT_MESSAGES.validate_json(frame)
    except ValidationError as error:
        entries = entries_of(error.errors(include_url=False, include_input=False))
        return [events.UnreadableReceived(f"not a message: {foreign_text(sentence(entries[0]))}")]
    # An answer is as long as it must be; one to no question ends the link in any case.
    if isinstance(message, Ack | Report):
        return [events.MessageReceived(message)]
    if isinstance(message, ClipboardRead):
        return [events.FramesCounted(-1), events.MessageReceived(message)]
    return [
        events.FramesCounted(len(frame) // CHARACTERS_OF_A_FRAME),
        events.MessageReceived(message),
    ]
