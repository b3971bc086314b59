"""Pauses that end by themselves.  Their times are MongoDB's, which all nodes share."""

from dataclasses import dataclass
from typing import Final
from uuid import UUID

from server.store.machines.documents import RESUMED, PauseDetails, noted, pause_of
from server.store.mongodb.database import Database
from server.store.mongodb.documents import Document

# The index has those that have an end, and is used where the query says so, too.
_WITH_END: Final[Document] = {"pause.until": {"$type": "date"}, "deleted_at": None}


@dataclass(frozen=True)
class EndingPause:
    """A pause with an end, ``seconds_left`` before it; that is not above zero once it is over."""

    organization_id: UUID
    machine_id: str
    details: PauseDetails
    seconds_left: float


class PauseStore:
    """Finds the pauses of all organizations that end, and ends them."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._machines = database.collection("machines")

    async def first_to_end(self) -> EndingPause | None:
        """The one whose end comes, or came, before the others'; None where none has an end."""
        fields = dict.fromkeys(("organization_id", "machine_id", "pause"), 1)
        left = {"$subtract": ["$pause.until", "$$NOW"]}
        async with self._database.operation():
            found = await self._machines.find_one(
                _WITH_END, projection={**fields, "left": left}, sort=[("pause.until", 1)]
            )
        if found is None:
            return None
        return EndingPause(
            found["organization_id"], found["machine_id"], pause_of(found), found["left"] / 1000
        )

    async def end_if_over(self, organization_id: UUID, machine_id: str) -> bool:
        """End a machine's pause whose time is over, as it is now; whether this did it."""
        over = {
            **_WITH_END,
            "organization_id": organization_id,
            "machine_id": machine_id,
            "$expr": {"$lte": ["$pause.until", "$$NOW"]},
        }
        async with self._database.operation():
            result = await self._machines.update_one(over, noted({"$set": RESUMED}))
        return result.modified_count == 1
