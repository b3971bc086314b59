"""A segment of a hand's work, as the audit has it: how much was done, and never what was typed."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from schemas.inputs import hand
from server.dispatch.hand.input_queue import QueuedInput
from server.dispatch.stretches import counted
from server.store.audit import COMPLETED, FAILED, PENDING, AuditedInput

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
            case hand.KeyChanged(key=key, down=down) if len(key) == 1 or key == "space":
                self.characters += down
            case hand.KeyChanged(down=down):
                self.keys += down
            case hand.TextComposed(text=text):
                self.characters += len(text)

    def in_words(self) -> str:
        """What was carried out, in words."""
        parts = [
            counted(self.clicks, "click", "clicks"),
            counted(self.characters, "character", "characters"),
            counted(self.keys, "key", "keys"),
            counted(self.notches, "wheel notch", "wheel notches"),
        ]
        done = ", ".join(filter(None, parts)) or ("pointer moved" if self.moves else "nothing done")
        return f"{done}, {self.refused} refused" if self.refused else done

    @property
    def inputs(self) -> int:
        """How many they are among a machine's inputs; moves would drown all others."""
        return self.clicks + self.characters + self.keys + self.notches

    def became(self, ended_at: datetime | None) -> AuditedInput:
        """What became of it, as of an input: it is pending until it has ended."""
        outcome = COMPLETED if self.inputs or not self.refused else FAILED
        return AuditedInput(
            outcome=outcome if ended_at else PENDING,
            code=None,
            duration_ms=None,
            completed_at=ended_at,
            count=self.inputs,
        )
