"""A segment of a hand's work, as the audit has it: how much was done, and never what was typed."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from schemas.inputs import hand
from server.dispatch.hand.input_queue import QueuedInput

REST_SECONDS: Final = 10.0
"""Without an event for so long, a segment of work is over."""


@dataclass(slots=True)
class Segment:
    """Counts what was carried out since ``began_at``."""

    began_at: datetime
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

    def note(self, ended_at: datetime) -> str:
        """The segment in words."""
        seconds = max(0, round((ended_at - self.began_at).total_seconds()))
        parts = [
            _counted(self.moves, "move", "moves"),
            _counted(self.clicks, "press of a button", "presses of buttons"),
            _counted(self.notches, "notch of the wheel", "notches of the wheel"),
            _counted(self.keys, "key", "keys"),
            _counted(self.characters, "character of composed text", "characters of composed text"),
            _counted(self.refused, "input refused", "inputs refused"),
        ]
        done = ", ".join(part for part in parts if part) or "nothing"
        return f"{done}, in {_counted(seconds, 'second', 'seconds') or 'less than a second'}"


def _counted(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}" if count else ""
