"""Control leases: who alone may send inputs to a machine, and until when.

A lease is a part of its machine's document, so that whoever reads the machine reads it as well.
Its times are MongoDB's, which all nodes share.
"""

import hashlib
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from pymongo import ReturnDocument

from server.store.mongodb.database import Database
from server.store.mongodb.documents import Document, fields_of

LEASE_SECONDS: Final = 30.0
"""From its beginning, or from when it was renewed last."""

_IN_FORCE: Final[Document] = {"$gt": ["$control.expires_at", "$$NOW"]}
_KEEPS_OTHERS_OUT: Final[Document] = {"$ne": ["$control.yields", True]}
_END: Final[Document] = {"$add": ["$$NOW", int(LEASE_SECONDS * 1000)]}

MachineKey = tuple[UUID, str]


@dataclass(frozen=True)
class StoredControl:
    """A lease as it is stored; ``lease_hash`` stands for its id, which only its holder has.

    ``by`` is the holder's name.  ``session_hash`` is that of the console's session, where somebody
    took it who had signed in there.  ``private_since`` is since when nobody else may see anything
    of the machine; None is that everybody may.  ``hand`` is the newest hand that was opened with
    it, on whichever node.  ``is_run`` is whether a run has it, and ``yields`` whether whoever asks
    gets it: the run is halted.  ``is_confirmed`` is whether the machine has confirmed that nothing
    of whoever had it before runs or is held.
    """

    lease_hash: str
    by: str
    token_id: UUID
    session_hash: bytes | None
    since: datetime
    expires_at: datetime
    private_since: datetime | None = None
    hand: UUID | None = None
    is_run: bool = False
    yields: bool = False
    is_confirmed: bool = False

    @property
    def holder(self) -> str:
        """What stands for whoever has it, and may look at the machine while it is private."""
        return holder_of(self.token_id, self.session_hash)


@dataclass(frozen=True)
class NewControl:
    """A lease that somebody asks for; one that ``yields`` keeps only those away who ask for none.

    ``is_run`` is whether it is a run's.
    """

    lease_hash: str
    by: str
    token_id: UUID
    session_hash: bytes | None = None
    private: bool = False
    is_run: bool = False
    yields: bool = False


@dataclass(frozen=True)
class KeptTo:
    """What stands between callers and a machine, as its link keeps to it.

    ``lease_hash`` is of its control lease, where it has one.
    """

    paused: bool
    lease_hash: str | None
    private: bool


@dataclass(frozen=True)
class HeldMachine:
    """A machine with a lease; ``is_over`` is whether that has run out."""

    organization_id: UUID
    machine_id: str
    control: StoredControl
    is_over: bool


class ControlStore:
    """Takes, renews and ends leases."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._machines = database.collection("machines")

    async def take(
        self, organization_id: UUID, machine_id: str, new: NewControl, *, take_over: bool
    ) -> tuple[StoredControl, int] | None:
        """The lease that is in force after this: another's where somebody has the machine.

        With ``take_over`` it is always the new one.  With it comes the epoch of the machine's
        newest link: what links there are later was begun after this.  None where there is no such
        machine.  One's own begins anew.
        """
        is_others: Document = {"$ne": ["$control.lease_hash", new.lease_hash]}
        is_kept = False if take_over else {"$and": [is_others, _IN_FORCE, _KEEPS_OTHERS_OUT]}
        control = {
            "lease_hash": new.lease_hash,
            # In a pipeline a text that begins with $ would be read as a field of the document.
            "by": {"$literal": new.by},
            "token_id": new.token_id,
            "session_hash": new.session_hash,
            "is_run": new.is_run,
            "yields": new.yields,
            "is_confirmed": False,
            "since": "$$NOW",
            "expires_at": _END,
            "private_since": "$$NOW" if new.private else None,
        }
        change = {"$set": {"control": {"$cond": [is_kept, "$control", control]}}}
        wanted = {
            "organization_id": organization_id,
            "machine_id": machine_id,
            "deleted_at": None,
        }
        async with self._database.operation():
            found = await self._machines.find_one_and_update(
                wanted, [change], return_document=ReturnDocument.AFTER
            )
        return None if found is None else (control_from(found["control"]), found["epoch"])

    async def confirm(
        self, organization_id: UUID, machine_id: str, lease_hash: str, since: datetime
    ) -> None:
        """Note that the machine has confirmed the lease that began then, if it still has it."""
        wanted = {**_with(organization_id, machine_id, lease_hash), "control.since": since}
        async with self._database.operation():
            await self._machines.update_one(wanted, {"$set": {"control.is_confirmed": True}})

    async def renew(
        self, organization_id: UUID, machine_id: str, lease_hash: str
    ) -> StoredControl | None:
        """The lease with a later end; None where it is over."""
        wanted = {**_with(organization_id, machine_id, lease_hash), "$expr": _IN_FORCE}
        async with self._database.operation():
            found = await self._machines.find_one_and_update(
                wanted,
                [{"$set": {"control.expires_at": _END}}],
                return_document=ReturnDocument.AFTER,
            )
        return None if found is None else control_of(found)

    async def make_private(
        self, organization_id: UUID, machine_id: str, lease_hash: str, *, private: bool
    ) -> tuple[StoredControl, int, bool] | None:
        """Have a lease be private or open from now on; None where it is over.

        With it come the epoch of the machine's newest link, and whether this changed anything.
        """
        wanted = {**_with(organization_id, machine_id, lease_hash), "$expr": _IN_FORCE}
        since: Document = {"$ifNull": ["$control.private_since", "$$NOW"]}
        change = {"$set": {"control.private_since": since if private else None}}
        async with self._database.operation():
            before = await self._machines.find_one_and_update(wanted, [change])
            found = await self._machines.find_one(_with(organization_id, machine_id, lease_hash))
        if before is None or found is None:
            return None
        was_private = control_from(before["control"]).private_since is not None
        return control_from(found["control"]), found["epoch"], was_private != private

    async def open_hand(
        self, organization_id: UUID, machine_id: str, lease_hash: str, hand: UUID
    ) -> bool:
        """Note the newest hand of a lease; False where the lease is over."""
        wanted = {**_with(organization_id, machine_id, lease_hash), "$expr": _IN_FORCE}
        async with self._database.operation():
            result = await self._machines.update_one(wanted, {"$set": {"control.hand": hand}})
        return result.matched_count == 1

    async def end(
        self,
        organization_id: UUID,
        machine_id: str,
        lease_hash: str,
        since: datetime | None = None,
    ) -> bool:
        """End a lease, where given the one that began then; False where it was over.

        Who takes a lease again under the same hash gives when the one began that is to end: this
        may be carried out late, and then finds the next one.
        """
        began: Document = {} if since is None else {"control.since": since}
        return await self._end({**_with(organization_id, machine_id, lease_hash), **began})

    async def end_if_over(self, organization_id: UUID, machine_id: str, lease_hash: str) -> bool:
        """End a lease that has run out and was not renewed since; whether this did it."""
        is_over = {"$expr": {"$not": _IN_FORCE}}
        return await self._end({**_with(organization_id, machine_id, lease_hash), **is_over})

    async def all(self) -> list[HeldMachine]:
        """Every machine with a lease, of all organizations."""
        cursor = self._machines.find(
            {"control.expires_at": {"$exists": True}, "deleted_at": None},
            projection={
                **dict.fromkeys(("organization_id", "machine_id", "control"), 1),
                "is_over": {"$not": _IN_FORCE},
            },
        )
        return [
            HeldMachine(
                found["organization_id"],
                found["machine_id"],
                control_from(found["control"]),
                found["is_over"],
            )
            async for found in self._database.documents(cursor)
        ]

    async def restricted_of(self, node_id: UUID) -> dict[MachineKey, KeptTo]:
        """Which machines are paused or under control of those whose newest link a node holds."""
        cursor = self._machines.find(
            {
                "link.node_id": node_id,
                "deleted_at": None,
                "$or": [{"paused": True}, {"control.lease_hash": {"$exists": True}}],
            },
            projection=[
                *("organization_id", "machine_id", "paused"),
                *("control.lease_hash", "control.private_since"),
            ],
        )
        return {
            (found["organization_id"], found["machine_id"]): _kept_to(
                found["paused"], found.get("control") or {}
            )
            async for found in self._database.documents(cursor)
        }

    async def _end(self, wanted: Document) -> bool:
        async with self._database.operation():
            result = await self._machines.update_one(wanted, {"$unset": {"control": ""}})
        return result.modified_count == 1


def holder_of(token_id: UUID, session_hash: bytes | None) -> str:
    """What stands for one who may hold a lease: a token, or a session of the console."""
    own = token_id.bytes if session_hash is None else session_hash
    return hashlib.sha256(b"holder" + own).hexdigest()


def control_of(machine: Document) -> StoredControl | None:
    """The lease in a machine's document; None where nobody has taken one."""
    control = machine.get("control")
    return None if control is None else control_from(control)


def control_from(control: Document) -> StoredControl:
    """A lease as it is stored."""
    return StoredControl(**fields_of(StoredControl, control))


def _kept_to(paused: bool, control: Document) -> KeptTo:
    private = control.get("private_since") is not None
    return KeptTo(paused, control.get("lease_hash"), private)


def _with(organization_id: UUID, machine_id: str, lease_hash: str) -> Document:
    return {
        "organization_id": organization_id,
        "machine_id": machine_id,
        "deleted_at": None,
        "control.lease_hash": lease_hash,
    }
