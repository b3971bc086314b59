"""What was wrong with machines, in their own documents: the last of it, for a while.

That a machine was offline is noted by the very update with which its next link begins, which finds
in the document when the last one ended, and why: so it takes no operation of its own.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from schemas.resources.troubles import TroubleKind
from server.store.machines.documents import existing
from server.store.mongodb.database import Database
from server.store.mongodb.documents import Document, fields_of
from server.store.times import now

KEPT: Final = timedelta(days=30)
MOST: Final = 100
"""Of one machine; earlier ones are forgotten before their time."""

TAKEN_OVER: Final = (
    "a newer connection with this machine's token took over; every machine needs a token of its own"
)
"""Why a link ends that gives way: the machine is not away then, unless the newer one fails."""

_TAKING_OVER: Final = timedelta(minutes=1)
_LONGEST_REASON: Final = 200

WITHOUT_TROUBLES: Final = {"troubles": False}
"""A projection of machines: nobody reads what was, but who asks for it."""


@dataclass(frozen=True)
class StoredTrouble:
    """A time in which something was wrong; ``reason`` None is not known."""

    kind: TroubleKind
    reason: str | None
    since: datetime
    until: datetime


def with_offline_time(at: datetime) -> Document:
    """The troubles of a machine whose link begins, for a pipeline: its time offline is one more."""
    known = {"$ifNull": ["$troubles", []]}
    reason = {"$substrCP": ["$reason", 0, _LONGEST_REASON]}
    offline = {"kind": "offline", "reason": reason, "since": "$disconnected_at", "until": at}
    lately = {
        "$filter": {
            "input": {"$concatArrays": [known, [offline]]},
            "cond": {"$gte": ["$$this.until", at - KEPT]},
        }
    }
    # The end of a link that is replaced may be noted before the beginning of the next, or never.
    was_away = {
        "$and": [
            {"$gt": ["$disconnected_at", None]},
            {
                "$or": [
                    {"$ne": ["$reason", TAKEN_OVER]},
                    {"$lt": ["$disconnected_at", at - _TAKING_OVER]},
                ]
            },
        ]
    }
    return {"$cond": [was_away, {"$slice": [lately, -MOST]}, known]}


class TroubleStore:
    """Every method sees the machines of the organization it is given, and no others."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._machines = database.collection("machines")

    async def add(self, organization_id: UUID, machine_id: str, trouble: StoredTrouble) -> None:
        """Note what is over; nothing happens where there is no such machine."""
        document = {**vars(trouble), "reason": (trouble.reason or "")[:_LONGEST_REASON]}
        change = {"$push": {"troubles": {"$each": [document], "$slice": -MOST}}}
        async with self._database.operation():
            await self._machines.update_one(existing(organization_id, machine_id), change)

    async def of(self, organization_id: UUID, machine_id: str) -> list[StoredTrouble]:
        """What is over of a machine, the latest first."""
        async with self._database.operation():
            found = await self._machines.find_one(
                existing(organization_id, machine_id), projection=["troubles"]
            )
        documents = (found or {}).get("troubles", ())
        troubles = [StoredTrouble(**fields_of(StoredTrouble, each)) for each in documents]
        kept = [each for each in troubles if each.until >= now() - KEPT]
        return sorted(kept, key=lambda each: each.since, reverse=True)
