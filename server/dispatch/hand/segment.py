"""A segment of a hand's work, as the audit has it: how much was done, and never what was typed."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import uuid4

from schemas.inputs import hand
from server.dispatch.command import Sender
from server.dispatch.hand.input_queue import QueuedInput
from server.store.audit import COMPLETED, FAILED, AuditedInput, AuditEntry

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
            case hand.KeyChanged(key=key, down=down) if len(key) == 1 or key == "space":
                self.characters += down
            case hand.KeyChanged(down=down):
                self.keys += down
            case hand.TextComposed(text=text):
                self.characters += len(text)

    @property
    def inputs(self) -> int:
        """How many they are among a machine's inputs; moves would drown all others."""
        return self.clicks + self.characters + self.keys + self.notches

    def note(self, ended_at: datetime) -> str:
        """The segment in words."""
        parts = [
            _counted(self.clicks, "click"),
            _counted(self.characters, "character"),
            _counted(self.keys, "key"),
            _counted(self.notches, "wheel notch", "wheel notches"),
        ]
        done = ", ".join(filter(None, parts)) or ("pointer moved" if self.moves else "nothing done")
        refused = f", {self.refused} refused" if self.refused else ""
        seconds = max(1, round((ended_at - self.began_at).total_seconds()))
        took = f"{seconds} s" if seconds < 120 else f"{round(seconds / 60)} min"
        return f"{done}{refused}, in {took}"

    def entry(self, sender: Sender, machine_id: str, ended_at: datetime) -> AuditEntry:
        """What the audit says of it."""
        return AuditEntry(
            id=uuid4().bytes,
            organization_id=sender.organization_id,
            created_at=self.began_at,
            action="control.worked",
            token_id=sender.token_id,
            token_name=sender.token_name,
            target=machine_id,
            machine_id=machine_id,
            request_id=sender.request_id,
            note=self.note(ended_at),
            input=AuditedInput(
                outcome=COMPLETED if self.inputs or not self.refused else FAILED,
                code=None,
                duration_ms=None,
                completed_at=ended_at,
                count=self.inputs,
            ),
        )


def _counted(count: int, one: str, many: str = "") -> str:
    return f"{count} {one if count == 1 else many or one + 's'}" if count else ""
