"""Sessions: browsers that were signed in with a token.

In the database, so that any node knows them and a restarted server still does.  As with tokens,
only the SHA-256 of what the browser holds is stored.
"""

import builtins
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from pymongo import DESCENDING, WriteConcern

from schemas.http.queries import PageQuery
from server.store.identity.tokens import StoredToken, stored_token
from server.store.mongodb.database import Database
from server.store.mongodb.documents import Document, fields_of
from server.store.times import now

_NEWEST_FIRST = {"created_at": DESCENDING, "_id": DESCENDING}
MAX_FOR_A_TOKEN = 100
"""Sessions of one token; the oldest end when there are more."""


@dataclass(frozen=True)
class StoredSession:
    """A session as it is stored; ``token_hash`` leads to the token that it stands for."""

    hash: bytes
    token_hash: bytes
    organization_id: UUID
    created_at: datetime
    used_at: datetime
    expires_at: datetime
    user_agent: str | None = None

    @property
    def id(self) -> UUID:
        """By what it is shown and ended.

        Half of the hash: whoever knows it is as far from the secret as with all of it.
        """
        return UUID(bytes=self.hash[:16])

    def is_over(self, idle: timedelta, now: datetime) -> bool:
        """Whether it has had its time, or was not used for ``idle``."""
        return now >= min(self.expires_at, self.used_at + idle)


@dataclass(frozen=True)
class OpenSession:
    """A session that is good for something, and the token that it stands for."""

    session: StoredSession
    token: StoredToken


class SessionStore:
    """Makes, finds and ends sessions."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._sessions = database.collection("sessions")
        self._sessions_unhurried = self._sessions.with_options(write_concern=WriteConcern(1))

    async def create(
        self,
        secret_hash: bytes,
        token_hash: bytes,
        organization_id: UUID,
        expires_at: datetime,
        user_agent: str | None = None,
    ) -> StoredSession:
        """Store a new session until ``expires_at``."""
        created_at = now()
        session = StoredSession(
            hash=secret_hash,
            token_hash=token_hash,
            organization_id=organization_id,
            created_at=created_at,
            used_at=created_at,
            expires_at=expires_at,
            user_agent=user_agent,
        )
        document = vars(session).copy()
        document["_id"] = document.pop("hash")
        async with self._database.operation():
            await self._sessions.insert_one(document)
        await self._end_beyond_bound(token_hash)
        return session

    async def _end_beyond_bound(self, token_hash: bytes) -> None:
        cursor = self._sessions.find(
            {"token_hash": token_hash},
            projection={"_id": True},
            sort=[("created_at", DESCENDING), ("_id", DESCENDING)],
            skip=MAX_FOR_A_TOKEN,
            limit=MAX_FOR_A_TOKEN,
        )
        surplus = [found["_id"] async for found in self._database.documents(cursor)]
        if surplus:
            async with self._database.operation():
                await self._sessions.delete_many({"_id": {"$in": surplus}})

    async def find(self, secret_hash: bytes) -> StoredSession | None:
        """The session with this SHA-256, or None; the caller looks whether its time is over."""
        async with self._database.operation():
            found = await self._sessions.find_one({"_id": secret_hash})
        return None if found is None else _session(found)

    async def find_many(self, secret_hashes: Sequence[bytes]) -> dict[bytes, StoredSession]:
        """The sessions with these SHA-256, in one query; the caller looks at their times."""
        if len(secret_hashes) == 1:
            # Without a cursor, as nearly every request asks for one.
            found = await self.find(secret_hashes[0])
            return {} if found is None else {found.hash: found}
        cursor = self._sessions.find({"_id": {"$in": list(secret_hashes)}})
        return {each["_id"]: _session(each) async for each in self._database.documents(cursor)}

    async def touch(self, secret_hash: bytes, when: datetime) -> None:
        """Remember a use; an older one than the one remembered changes nothing."""
        async with self._database.operation():
            await self._sessions_unhurried.update_one(
                {"_id": secret_hash}, {"$max": {"used_at": when}}
            )

    async def delete(self, secret_hash: bytes) -> bool:
        """End a session; False where there is none."""
        async with self._database.operation():
            deleted = await self._sessions.delete_one({"_id": secret_hash})
        return deleted.deleted_count == 1

    async def list(
        self,
        organization_id: UUID,
        page: PageQuery,
        idle: timedelta,
        *,
        token_hash: bytes | None = None,
    ) -> tuple[builtins.list[OpenSession], int]:
        """One page of the sessions that are good for something, newest first, and how many in all.

        Not those that were unused for ``idle``; with ``token_hash`` those of that token alone.
        """
        wanted = _in_force(organization_id, idle)
        if token_hash is not None:
            wanted["token_hash"] = token_hash
        part = [{"$skip": page.skip}, {"$limit": page.limit}]
        # A token is looked up once for all of its sessions, of which it may have many.
        counted = [
            {"$match": wanted},
            {"$group": {"_id": "$token_hash", "sessions": {"$sum": 1}}},
            *_with_token("_id"),
            {"$group": {"_id": None, "sessions": {"$sum": "$sessions"}}},
        ]
        async with self._database.operation():
            total = await self._sessions.aggregate(counted).to_list(1)
            found = await self._sessions.aggregate(_newest(wanted) + part).to_list(page.limit)
        return [_open_session(each) for each in found], total[0]["sessions"] if total else 0

    async def get(
        self, organization_id: UUID, session_id: UUID, idle: timedelta
    ) -> OpenSession | None:
        """The organization's session with this id, if it is good for something, or None."""
        hashes = {"$gte": session_id.bytes + bytes(16), "$lte": session_id.bytes + b"\xff" * 16}
        wanted = {**_in_force(organization_id, idle), "_id": hashes}
        async with self._database.operation():
            found = await self._sessions.aggregate(_newest(wanted)).to_list(1)
        return _open_session(found[0]) if found else None


def _in_force(organization_id: UUID, idle: timedelta) -> Document:
    """A filter for the organization's sessions that have neither had their time nor been idle."""
    moment = now()
    return {
        "organization_id": organization_id,
        "expires_at": {"$gt": moment},
        "used_at": {"$gt": moment - idle},
    }


def _newest(wanted: Document) -> builtins.list[Document]:
    """Stages that find sessions with their tokens, newest first."""
    return [{"$match": wanted}, {"$sort": _NEWEST_FIRST}, *_with_token("token_hash")]


def _with_token(field: str) -> builtins.list[Document]:
    """Stages that add the token whose hash is in a field, and leave out what has none in force.

    A token that was revoked leaves its sessions behind, of which nobody can make anything.
    """
    of_token = {"from": "tokens", "localField": field, "foreignField": "hash"}
    return [
        {"$lookup": {**of_token, "as": "token"}},
        {"$unwind": "$token"},
        {"$match": {"token.revoked_at": None}},
    ]


def _open_session(found: Document) -> OpenSession:
    return OpenSession(_session(found), stored_token(found["token"]))


def _session(document: Document) -> StoredSession:
    return StoredSession(hash=document["_id"], **fields_of(StoredSession, document))
