"""How many inputs each machine was sent, and how they ended.

A machine's count is spread over several documents, and each writing chooses one at random.  Where a
server dies inside a transaction, MongoDB keeps what that has written locked for up to a minute:
the next try takes another document.  For the same reason none of this is in the machine's own
document, which a machine that connects has to write.
"""

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from pymongo import UpdateOne

from server.store.mongodb.batches import Batches
from server.store.mongodb.database import Database
from server.store.mongodb.documents import by_organization, shard_id
from server.store.mongodb.transactions import Session

SHARDS: Final = 4
"""Over how many documents a machine's count is spread."""


@dataclass(frozen=True)
class EndedInput:
    """What the counts need to know of an input that has ended, or of several as one."""

    organization_id: UUID
    machine_id: str
    is_completed: bool
    accepted_at: datetime
    count: int = 1


@dataclass(frozen=True)
class InputCount:
    """A machine's inputs that ended, and when the last of them was accepted."""

    completed: int = 0
    failed: int = 0
    last_at: datetime | None = None

    def __add__(self, other: "InputCount") -> "InputCount":
        """The sum of two counts."""
        times = [time for time in (self.last_at, other.last_at) if time is not None]
        return InputCount(
            self.completed + other.completed, self.failed + other.failed, max(times, default=None)
        )


class InputCountStore:
    """Counts since a machine was added; what is written late about a removed one is dropped."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._counts = database.collection("input_counts")
        self._together = Batches(self._of_each, database.tasks, "read input counts")

    async def add(self, session: Session, ended: Iterable[EndedInput]) -> None:
        """Count inputs, in a transaction."""
        changes = _changes(ended, random.randrange(SHARDS))  # noqa: S311  no secret
        if changes:
            await self._counts.bulk_write(changes, ordered=False, session=session)

    async def of(
        self, organization_id: UUID, machine_ids: Sequence[str]
    ) -> Mapping[str, InputCount]:
        """The counts of these machines."""
        counts = dict.fromkeys(machine_ids, InputCount())
        if not counts:
            return counts
        wanted = {"_id": {"$in": _ids(organization_id, machine_ids)}}
        cursor = self._counts.find(wanted)
        async for found in self._database.documents(cursor):
            counts[found["machine_id"]] += InputCount(
                found["completed"], found["failed"], found["last_at"]
            )
        return counts

    async def of_one(self, organization_id: UUID, machine_id: str) -> InputCount:
        """The count of a machine, in one query with others who ask at the same time."""
        return await self._together.answer((organization_id, machine_id))

    async def _of_each(self, machines: Sequence[tuple[UUID, str]]) -> Sequence[InputCount]:
        counts = {
            organization_id: await self.of(organization_id, machine_ids)
            for organization_id, machine_ids in by_organization(machines).items()
        }
        return [counts[organization_id][machine_id] for organization_id, machine_id in machines]

    async def forget(self, organization_id: UUID, machine_id: str) -> None:
        """Begin at zero: the machine was removed, or is new."""
        async with self._database.operation():
            await self._counts.delete_many({"_id": {"$in": _ids(organization_id, [machine_id])}})


def _ids(organization_id: UUID, machine_ids: Iterable[str]) -> list[bytes]:
    return [
        shard_id(organization_id, machine_id, shard)
        for machine_id in machine_ids
        for shard in range(SHARDS)
    ]


def _changes(ended: Iterable[EndedInput], shard: int) -> list[UpdateOne]:
    """The updates of the counts, one for each machine."""
    counts: Counter[tuple[UUID, str, bool]] = Counter()
    last: dict[tuple[UUID, str], datetime] = {}
    for one in ended:
        machine = one.organization_id, one.machine_id
        counts[*machine, one.is_completed] += one.count
        last[machine] = max(last.get(machine, one.accepted_at), one.accepted_at)
    return [
        UpdateOne(
            {"_id": shard_id(*machine, shard)},
            {
                "$setOnInsert": {"machine_id": machine[1]},
                "$inc": {
                    "completed": counts[*machine, True],
                    "failed": counts[*machine, False],
                },
                "$max": {"last_at": newest},
            },
            upsert=True,
        )
        for machine, newest in last.items()
    ]
