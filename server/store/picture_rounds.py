"""The rounds in which pictures are looked after: one node at a time, and where it left off."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from pymongo.errors import DuplicateKeyError

from server.store.mongodb.database import Database
from server.store.mongodb.documents import fields_of
from server.store.times import now

_ROUND: Final = "pictures"

LEASE: Final = timedelta(minutes=2)
"""After that another node may begin: whoever had it has ended, or does what makes no difference."""

NO_ROUND: Final = -1.0
"""The lifetime where no round was done yet: whatever is there was written by the present one."""


@dataclass(frozen=True)
class PictureRound:
    """What the last round left.

    ``lifetime`` is what was said of all trajectories, in seconds; None is for ever.  ``place`` is
    where the sweep goes on, ``told_at`` when the log was told last what goes.  ``size`` and
    ``going`` are what was counted, of all organizations together.
    """

    lifetime: float | None = NO_ROUND
    place: bytes = b""
    told_at: datetime | None = None
    size: int = 0
    going: int = 0


class PictureRounds:
    """Gives the round to one node."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._rounds = database.collection("rounds")

    async def last(self) -> PictureRound:
        """What the last round left."""
        async with self._database.operation():
            found = await self._rounds.find_one({"_id": _ROUND})
        return PictureRound(**fields_of(PictureRound, found or {}))

    async def take(self, node_id: UUID) -> bool:
        """Whether this node may begin a round, or goes on with its own."""
        moment = now()
        free = {"$or": [{"until": {"$lte": moment}}, {"by": node_id}]}
        fields = {"until": moment + LEASE, "by": node_id}
        async with self._database.operation():
            try:
                result = await self._rounds.update_one(
                    {"_id": _ROUND, **free}, {"$set": fields}, upsert=True
                )
            except DuplicateKeyError:
                return False
        return bool(result.matched_count or result.upserted_id)

    async def leave(self, node_id: UUID, left: PictureRound) -> None:
        """Write what a round left, and let the next node begin, where it is still this one's."""
        async with self._database.operation():
            await self._rounds.update_one(
                {"_id": _ROUND, "by": node_id}, {"$set": {**vars(left), "until": now()}}
            )
