"""Machines: who they are, and the state of their links."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from pymongo import ReturnDocument

from schemas.http.queries import PageQuery
from schemas.link.messages import Display
from server.store.errors import NotFound
from server.store.input_counts import InputCountStore
from server.store.mongodb.database import Database
from server.store.mongodb.documents import Document
from server.store.times import now

_OF_EARLIER_VERSIONS = ("journal", "inputs_completed", "inputs_failed", "last_input_at")
"""Fields that an older Farhand may still write, as long as it runs beside this one."""


@dataclass(frozen=True)
class ClientSummary:
    """What a machine client last said about itself."""

    platform: str
    client_version: str
    displays: tuple[Display, ...]


@dataclass(frozen=True)
class Machine:
    """A machine as it is stored.

    ``epoch`` counts its links.  ``connected_at`` and ``disconnected_at`` are of the newest link,
    whose end may be unknown where its node died; ``reason`` says why it ended.
    """

    organization_id: UUID
    machine_id: str
    name: str
    paused: bool
    paused_since: datetime | None
    created_at: datetime
    epoch: int
    connected_at: datetime | None
    disconnected_at: datetime | None
    state_since: datetime
    reason: str | None
    client: ClientSummary | None

    @property
    def why_offline(self) -> str:
        """For a person, why a machine without a link has none."""
        if self.reason is not None:
            return self.reason
        if self.connected_at is None:
            return "it has never connected"
        return "its last link ended with its server, and the next is not made yet"


class MachineStore:
    """Every method sees the machines of the organization it is given, and no others.

    A removed machine stays behind unseen, for its epoch: one that is added later under the same
    id goes on counting, so that no epoch ever means two links.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._machines = database.collection("machines")
        self._counts = InputCountStore(database)

    async def create(self, organization_id: UUID, machine_id: str, name: str) -> Machine:
        """Store a new machine.  Raises AlreadyExists where the organization has one of this id."""
        time = now()
        fresh = {
            "name": name,
            "paused": False,
            "paused_since": None,
            "created_at": time,
            "connected_at": None,
            "disconnected_at": None,
            "state_since": time,
            "reason": None,
            "client": None,
            "deleted_at": None,
        }
        async with self._database.operation():
            # Finds a removed one or none; a live one makes the upsert hit the unique index.
            stored = await self._machines.find_one_and_update(
                {
                    "organization_id": organization_id,
                    "machine_id": machine_id,
                    "deleted_at": {"$ne": None},
                },
                {"$set": fresh, "$setOnInsert": {"epoch": 0}},
                upsert=True,
                return_document=ReturnDocument.AFTER,
            )
        await self._counts.forget(organization_id, machine_id)
        return _machine(stored)

    async def get(self, organization_id: UUID, machine_id: str) -> Machine | None:
        """The machine, or None."""
        async with self._database.operation():
            found = await self._machines.find_one(_live(organization_id, machine_id))
        return None if found is None else _machine(found)

    async def list(self, organization_id: UUID, page: PageQuery) -> tuple[list[Machine], int]:
        """One page of the organization's machines, by id, and how many there are in all."""
        wanted = {"organization_id": organization_id, "deleted_at": None}
        async with self._database.operation():
            total = await self._machines.count_documents(wanted)
        cursor = self._machines.find(
            wanted, sort=[("machine_id", 1)], skip=page.skip, limit=page.limit
        )
        return [_machine(found) async for found in self._database.documents(cursor)], total

    async def delete(self, organization_id: UUID, machine_id: str) -> bool:
        """Remove the machine; False where there is none.  Its tokens are the caller's to revoke."""
        async with self._database.operation():
            result = await self._machines.update_one(
                _live(organization_id, machine_id), {"$set": {"deleted_at": now()}}
            )
        if result.modified_count == 0:
            return False
        await self._counts.forget(organization_id, machine_id)
        return True

    async def change(
        self,
        organization_id: UUID,
        machine_id: str,
        *,
        name: str | None = None,
        paused: bool | None = None,
    ) -> Machine | None:
        """Rename, pause or resume; None leaves as it is.  None where there is no such machine."""
        change: Document = {}
        if name is not None:
            # In a pipeline a text that begins with $ would be read as a field of the document.
            change["name"] = {"$literal": name}
        if paused is not None:
            # A pipeline, so that pausing again keeps the first time.
            since = {"$ifNull": ["$paused_since", now()]} if paused else None
            change |= {"paused": paused, "paused_since": since}
        if not change:
            return await self.get(organization_id, machine_id)
        return await self._update(_live(organization_id, machine_id), [{"$set": change}])

    async def begin_link(
        self, organization_id: UUID, machine_id: str, client: ClientSummary
    ) -> Machine:
        """Count a new link and remember when it began; the epoch is its number.

        Raises NotFound.
        """
        time = now()
        begun: Document = {
            "connected_at": time,
            "disconnected_at": None,
            "state_since": time,
            "reason": None,
            "client": _client_document(client),
        }
        machine = await self._update(
            _live(organization_id, machine_id), {"$inc": {"epoch": 1}, "$set": begun}
        )
        if machine is None:
            raise NotFound(f"There is no machine {machine_id}.")
        return machine

    async def end_link(
        self, organization_id: UUID, machine_id: str, epoch: int, reason: str
    ) -> bool:
        """Remember that this link ended and why; False where a newer one began since."""
        time = now()
        change = {"$set": {"disconnected_at": time, "state_since": time, "reason": reason}}
        wanted = {**_live(organization_id, machine_id), "epoch": epoch, "disconnected_at": None}
        return await self._update(wanted, change) is not None

    async def note_displays(
        self, organization_id: UUID, machine_id: str, epoch: int, displays: Sequence[Display]
    ) -> None:
        """Remember where the displays are now; nothing happens where a newer link began since."""
        wanted = {**_live(organization_id, machine_id), "epoch": epoch}
        change = {"$set": {"client.displays": _display_documents(displays)}}
        async with self._database.operation():
            await self._machines.update_one(wanted, change)

    async def _update(
        self, wanted: Document, change: Document | Sequence[Document]
    ) -> Machine | None:
        async with self._database.operation():
            found = await self._machines.find_one_and_update(
                wanted, change, return_document=ReturnDocument.AFTER
            )
        return None if found is None else _machine(found)


def _live(organization_id: UUID, machine_id: str) -> Document:
    return {"organization_id": organization_id, "machine_id": machine_id, "deleted_at": None}


def _client_document(client: ClientSummary) -> Document:
    return {
        "platform": client.platform,
        "client_version": client.client_version,
        "displays": _display_documents(client.displays),
    }


def _display_documents(displays: Sequence[Display]) -> Sequence[dict[str, Any]]:
    return [display.model_dump() for display in displays]


def _machine(document: Document) -> Machine:
    fields = dict(document)
    del fields["_id"], fields["deleted_at"]
    for name in _OF_EARLIER_VERSIONS:
        fields.pop(name, None)
    client = fields.pop("client")
    return Machine(
        client=client
        and ClientSummary(
            platform=client["platform"],
            client_version=client["client_version"],
            displays=tuple(Display.model_validate(display) for display in client["displays"]),
        ),
        **fields,
    )
