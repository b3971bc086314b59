"""Invitations and the hosts that came with them; each becomes a machine once, or none."""

import builtins
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final
from uuid import UUID, uuid4

from schemas.http.queries import PageQuery
from schemas.resources.tokens import Scope
from server.errors import AlreadyExists
from server.store.identity.tokens import new_token, revoke_now, token_document
from server.store.machines.documents import NO_LABELS, JoinedWith, Labels, labels_of
from server.store.machines.machines import MachineStore
from server.store.mongodb.database import Database
from server.store.mongodb.documents import Document, fields_of
from server.store.mongodb.transactions import Session, in_transaction
from server.store.times import now

_NEWEST_FIRST: Final = [("created_at", -1), ("_id", -1)]


@dataclass(frozen=True)
class StoredInvitation:
    """An invitation as it is stored: by the SHA-256 of its code."""

    id: UUID
    hash: bytes
    organization_id: UUID
    name: str | None
    machine_id: str | None
    uses: int
    used: int
    approval: bool
    created_at: datetime
    created_by: str
    expires_at: datetime
    revoked_at: datetime | None = None
    replaces_tokens: bool = False
    """Whether the machine's other tokens fall when it joins."""
    labels: Labels = NO_LABELS
    """What each machine gets that joins."""
    within: Sequence[UUID] | None = None
    """The pools of the token that made it, if that is bound to any: a machine that it is for has to
    be in one of them when it joins, and a removed one whose id a host gets has to have been."""


@dataclass(frozen=True)
class StoredJoin:
    """A host that came with an invitation, by the SHA-256 of the token that it made."""

    id: UUID
    organization_id: UUID
    invitation_id: UUID
    token_hash: bytes
    host: str
    address: str
    state: str
    machine_id: str | None
    created_at: datetime
    is_new: bool = False
    """Whether it has just come; this is not stored."""


class InvitationStore:
    """Every method sees the invitations of the organization it is given, and no others."""

    def __init__(self, database: Database, machines: MachineStore) -> None:
        self._database = database
        self._machines = machines
        self._invitations = database.collection("invitations")
        self._joins = database.collection("machine_joins")
        self._tokens = database.collection("tokens")

    async def insert(self, invitation: StoredInvitation) -> None:
        """Store a new invitation."""
        document = {**vars(invitation), "_id": invitation.id, **_labels_document(invitation.labels)}
        del document["id"], document["labels"]
        async with self._database.operation():
            await self._invitations.insert_one(document)

    async def find_by_hashes(self, hashes: Sequence[bytes]) -> Mapping[bytes, StoredInvitation]:
        """The invitations with these SHA-256 of codes, usable or not, in one query."""
        cursor = self._invitations.find({"hash": {"$in": [*hashes]}})
        return {each["hash"]: _invitation(each) async for each in self._database.documents(cursor)}

    async def get(self, organization_id: UUID, invitation_id: UUID) -> StoredInvitation | None:
        """The invitation, usable or not, or None."""
        wanted = {"_id": invitation_id, "organization_id": organization_id}
        async with self._database.operation():
            found = await self._invitations.find_one(wanted)
        return None if found is None else _invitation(found)

    async def list(
        self, organization_id: UUID, page: PageQuery
    ) -> tuple[list[StoredInvitation], int]:
        """One page of those that can be used, newest first, and how many there are in all."""
        wanted = {"organization_id": organization_id, **_usable()}
        async with self._database.operation():
            total = await self._invitations.count_documents(wanted)
        cursor = self._invitations.find(
            wanted, sort=_NEWEST_FIRST, skip=page.skip, limit=page.limit
        )
        return [_invitation(found) async for found in self._database.documents(cursor)], total

    async def revoke(self, organization_id: UUID, invitation_id: UUID) -> StoredInvitation | None:
        """Let nobody else come with it; None where there is no such invitation."""
        wanted = {"_id": invitation_id, "organization_id": organization_id, "revoked_at": None}
        async with self._database.operation():
            found = await self._invitations.find_one_and_update(
                wanted, {"$set": {"revoked_at": now()}}
            )
        return None if found is None else _invitation(found)

    async def joins(
        self, organization_id: UUID, invitation_id: UUID, page: PageQuery
    ) -> tuple[builtins.list[StoredJoin], int]:
        """One page of the hosts that came with it, newest first, and how many there are in all."""
        wanted = {"organization_id": organization_id, "invitation_id": invitation_id}
        async with self._database.operation():
            total = await self._joins.count_documents(wanted)
        cursor = self._joins.find(wanted, sort=_NEWEST_FIRST, skip=page.skip, limit=page.limit)
        return [_join(found) async for found in self._database.documents(cursor)], total

    async def join(
        self, invitation: StoredInvitation, token_hash: bytes, host: str, address: str
    ) -> StoredJoin | None:
        """Take a host in, or let it wait for approval; None where no use of it is left.

        All of it happens, or nothing.  A host that came with it before is answered with the same
        again, for ever; one that waits with another invitation comes with this one instead.
        """
        join = StoredJoin(
            id=uuid4(),
            organization_id=invitation.organization_id,
            invitation_id=invitation.id,
            token_hash=token_hash,
            host=host,
            address=address,
            state="waiting",
            machine_id=None,
            created_at=now(),
        )

        async def work(session: Session) -> StoredJoin | None:
            known = await self._joins.find_one({"token_hash": token_hash}, session=session)
            if known is not None and known["invitation_id"] == invitation.id:
                return _join(known)
            if known is not None and known["state"] != "waiting":
                return None
            # What is a token already, whoever's, is none that this host has just made.
            if await self._tokens.find_one({"hash": token_hash}, session=session) is not None:
                return None
            if not await self._machine_is_there(invitation, session):
                return None
            left = {"_id": invitation.id, **_usable()}
            used = await self._invitations.update_one(left, {"$inc": {"used": 1}}, session=session)
            if used.modified_count == 0:
                return None
            if known is not None:
                await self._joins.delete_one({"_id": known["_id"]}, session=session)
            await self._joins.insert_one(_join_document(join), session=session)
            if invitation.approval:
                return replace(join, is_new=True)
            return await self._admit(join, invitation, session)

        return await self._with_free_name(work)

    async def decide(
        self, invitation: StoredInvitation, join_id: UUID, *, approved: bool
    ) -> StoredJoin | None:
        """Let a waiting host in, or refuse it; None where it does not wait."""

        async def work(session: Session) -> StoredJoin | None:
            wanted = {"_id": join_id, "invitation_id": invitation.id, "state": "waiting"}
            found = await self._joins.find_one_and_update(
                wanted, {"$set": {"state": "refused"}}, session=session
            )
            if found is None:
                return None
            join = _join(found)
            if not approved or not await self._machine_is_there(invitation, session):
                return replace(join, state="refused")
            return await self._admit(join, invitation, session)

        return await self._with_free_name(work)

    async def _admit(
        self, join: StoredJoin, invitation: StoredInvitation, session: Session
    ) -> StoredJoin:
        """Make a machine of a host, with the token that it made, in a transaction."""
        machine_id = invitation.machine_id
        if machine_id is None:
            machine_id = await self._free_id(join.host, invitation, session)
            await self._machines.insert_in(
                session,
                join.organization_id,
                machine_id,
                machine_id,
                within=invitation.within,
            )
        # A machine that only changes its token still came by what it came by.
        came_by = None
        if not invitation.replaces_tokens:
            came_by = JoinedWith(invitation.id, invitation.name)
        await self._machines.joined_in(
            session, join.organization_id, machine_id, invitation.labels, came_by
        )
        token = new_token(
            join.organization_id,
            f"machine {machine_id}",
            join.token_hash,
            [Scope.MACHINE_CONNECT],
            machine_id=machine_id,
        )
        await self._tokens.insert_one(token_document(token), session=session)
        if invitation.replaces_tokens:
            others = {
                "organization_id": join.organization_id,
                "machine_id": machine_id,
                "_id": {"$ne": token.id},
            }
            await self._tokens.update_many(others, revoke_now(), session=session)
        change = {"state": "joined", "machine_id": machine_id}
        await self._joins.update_one({"_id": join.id}, {"$set": change}, session=session)
        return replace(join, state="joined", machine_id=machine_id, is_new=True)

    async def _machine_is_there(self, invitation: StoredInvitation, session: Session) -> bool:
        """Whether the machine that it is for, if it is for one, has not been removed since.

        Nor may it have left the reach of the token that made the invitation.
        """
        if invitation.machine_id is None:
            return True
        return await self._machines.is_there_since(
            session,
            invitation.organization_id,
            invitation.machine_id,
            invitation.created_at,
            invitation.within,
        )

    async def _free_id(self, host: str, invitation: StoredInvitation, session: Session) -> str:
        """The host's name, with a number behind it where another machine has it."""
        pattern = f"^{re.escape(host)}(-[0-9]+)?$"
        taken = await self._machines.ids_like(
            invitation.organization_id, pattern, session, invitation.within
        )
        names = [host, *(f"{host}-{number}" for number in range(2, len(taken) + 2))]
        return next(name for name in names if name not in taken)

    async def _with_free_name(
        self, work: Callable[[Session], Awaitable[StoredJoin | None]]
    ) -> StoredJoin | None:
        """Do it again where another host of the same name was quicker."""
        while True:
            try:
                return await in_transaction(self._database, work)
            except AlreadyExists:
                continue


def _usable() -> Document:
    return {
        "revoked_at": None,
        "expires_at": {"$gt": now()},
        "$expr": {"$lt": ["$used", "$uses"]},
    }


def _invitation(document: Document) -> StoredInvitation:
    fields = fields_of(StoredInvitation, document)
    return StoredInvitation(id=document["_id"], labels=labels_of(document), **fields)


def _labels_document(labels: Labels) -> Document:
    return {"tags": [*labels.tags], "pools": [*labels.pools]}


def _join(document: Document) -> StoredJoin:
    return StoredJoin(id=document["_id"], **fields_of(StoredJoin, document))


def _join_document(join: StoredJoin) -> Document:
    document = {**vars(join)}
    document["_id"] = document.pop("id")
    del document["is_new"]
    return document
