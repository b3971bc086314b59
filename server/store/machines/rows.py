"""What lists of machines are made of, and which of them have changed since.

MongoDB marks each change with its own clock and an id (`documents.noted`).  A change may be seen
later than others that began after it, and another member's clock may be behind: who asks for what
has changed since some moment goes back as far as that may be.  Nearly always it is `SOON`, so that
is how far to go back each time, and all the way now and then.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from server.store.machines.documents import Machine, machine_of
from server.store.machines.troubles import WITHOUT_TROUBLES
from server.store.mongodb.database import Database
from server.store.mongodb.documents import Document

LATEST: Final = timedelta(seconds=120)
"""Within which a change is seen: MongoDB gives a transaction up after 60 seconds, and the clocks of
its members may differ by as much."""

SOON: Final = timedelta(seconds=3)
"""Within which a change is seen that one member's clock marked as well as those before it, but
where its transaction takes longer."""

_MANY: Final = 5000
"""Changes in one batch: each is less than 200 bytes."""

_AT_ONCE: Final = 200
"""Machines in one batch: rows are made of them in some milliseconds, in which nobody else runs."""

# Displays are the larger part of a machine, and in no list's filter.
_PROJECTION: Final = {"client.displays": False, "control": False, **WITHOUT_TROUBLES}


@dataclass(frozen=True, slots=True)
class StoredRow:
    """A machine without its displays, or a removed one (None), and which change made it so."""

    machine_id: str
    machine: Machine | None
    changed_at: datetime
    change_id: int


Take = Callable[[Sequence[StoredRow]], None]


class MachineRowStore:
    """Every method sees the machines of the organization it is given, and no others."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._machines = database.collection("machines")

    async def all(self, organization_id: UUID, take: Take) -> None:
        """Have the organization's machines taken, as they are, some at a time."""
        await self._read({"organization_id": organization_id, "deleted_at": None}, take)

    async def some(self, organization_id: UUID, machine_ids: Sequence[str], take: Take) -> None:
        """Have those of these machines taken that are there, or were, some at a time."""
        wanted = {"organization_id": organization_id, "machine_id": {"$in": [*machine_ids]}}
        if machine_ids:
            await self._read(wanted, take)

    @property
    def clock(self) -> object:
        """Which member marks changes by its clock; None while nobody knows."""
        return self._database.primary

    async def changes(self, organization_id: UUID, since: datetime) -> Mapping[str, int]:
        """The last changes of the machines that changed since then, read from an index alone."""
        wanted = {"organization_id": organization_id, "changed_at": {"$gte": since}}
        cursor = self._machines.find(
            wanted,
            projection={"_id": False, "machine_id": True, "change_id": True},
            batch_size=_MANY,
        )
        changes: dict[str, int] = {}
        while batch := await self._database.batch(cursor):
            changes |= {each["machine_id"]: each["change_id"] for each in batch}
        return changes

    async def _read(self, wanted: Document, take: Take) -> None:
        cursor = self._machines.find(wanted, projection=_PROJECTION, batch_size=_AT_ONCE)
        while batch := await self._database.batch(cursor):
            take([_row(found) for found in batch])


def _row(document: Document) -> StoredRow:
    if document["client"] is not None:
        document["client"]["displays"] = ()
    machine = None if document["deleted_at"] is not None else machine_of(document)
    return StoredRow(document["machine_id"], machine, document["changed_at"], document["change_id"])
