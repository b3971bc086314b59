"""A segment of a hand's work, as the audit has it: how much was done, and never what was typed."""

from dataclasses import dataclass
from typing import Final

from schemas.inputs import hand
from server.dispatch.hand.input_queue import QueuedInput
from server.dispatch.stretches import counted

REST_SECONDS: Final = 10.0
"""Without an event for so long, a segment of work is over."""


@dataclass(slots=True)
class Segment:
    """Counts what was carried out since it began."""

    moves: int = 0
    clicks: int = 0
    notches: int = 0
    keys: int = 0
    characters: int = 0
    refused: int = 0

    def did(self, queued: QueuedInput) -> None:
        """Count an input that was carried out; what went down is counted, and not what went up."""
        match queued.event:
            case hand.Moved():
                self.moves += 1 + len(queued.passed)
            case hand.ButtonChanged(down=down):
                self.clicks += down
            case hand.WheelTurned(amount=amount):
                self.notches += amount
            case hand.KeyChanged(down=down):
                self.keys += down
            case hand.TextComposed(text=text):
                self.characters += len(text)

    def in_words(self) -> str:
        """What was carried out, in words."""
        parts = [
            counted(self.moves, "move", "moves"),
            counted(self.clicks, "press of a button", "presses of buttons"),
            counted(self.notches, "notch of the wheel", "notches of the wheel"),
            counted(self.keys, "key", "keys"),
            counted(self.characters, "character of composed text", "characters of composed text"),
            counted(self.refused, "input refused", "inputs refused"),
        ]
        return ", ".join(part for part in parts if part) or "nothing"
