"""Tokens: who may do what.  Only their hashes are stored."""

import builtins
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID, uuid4

from pymongo import ReturnDocument, UpdateOne, WriteConcern

from schemas.http.queries import PageQuery
from server.store.mongodb.batches import Batches
from server.store.mongodb.database import Database
from server.store.mongodb.documents import Document, fields_of
from server.store.times import now


@dataclass(frozen=True)
class StoredToken:
    """A token as it is stored: without the secret, which nobody can get back."""

    id: UUID
    hash: bytes
    name: str
    organization_id: UUID
    user_id: UUID | None
    scopes: tuple[str, ...]
    machine_id: str | None
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None
    revoked_at: datetime | None
    role: str | None = None
    pool_ids: tuple[UUID, ...] | None = None
    """The pools outside of which no machine exists for it; None is all machines."""
    makers: tuple[UUID, ...] = ()
    """The token that made it, the one that made that, and so on, and the users of these."""

    def is_usable(self, at: datetime) -> bool:
        """Whether it opens anything at that time."""
        return self.revoked_at is None and (self.expires_at is None or at < self.expires_at)


def new_token(
    organization_id: UUID,
    name: str,
    secret_hash: bytes,
    scopes: Iterable[str],
    *,
    role: str | None = None,
    user_id: UUID | None = None,
    machine_id: str | None = None,
    expires_at: datetime | None = None,
    token_id: UUID | None = None,
    pool_ids: Sequence[UUID] | None = None,
    makers: Iterable[UUID] = (),
) -> StoredToken:
    """A token as it is made now, by the SHA-256 of its secret; its id is random unless given."""
    return StoredToken(
        id=token_id or uuid4(),
        hash=secret_hash,
        name=name,
        organization_id=organization_id,
        user_id=user_id,
        scopes=tuple(scopes),
        machine_id=machine_id,
        created_at=now(),
        expires_at=expires_at,
        last_used_at=None,
        revoked_at=None,
        role=role,
        pool_ids=None if pool_ids is None else tuple(pool_ids),
        makers=tuple(makers),
    )


class TokenStore:
    """Stores, finds and revokes tokens."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._tokens = database.collection("tokens")
        # When a token was last used may get lost in a crash; waiting for it is not worth it.
        self._tokens_unhurried = self._tokens.with_options(write_concern=WriteConcern(1))
        self._used = Batches(self._touch, database.tasks, "note the last uses of tokens")

    async def insert(self, token: StoredToken) -> None:
        """Store a new token.  Raises AlreadyExists for a known hash, or a known id."""
        async with self._database.operation():
            await self._tokens.insert_one(token_document(token))

    async def any(self) -> bool:
        """Whether there is any token at all, of any organization."""
        async with self._database.operation():
            return await self._tokens.find_one({}, projection={"_id": True}) is not None

    async def find_by_hash(self, secret_hash: bytes) -> StoredToken | None:
        """The token with this SHA-256, usable or not, or None."""
        async with self._database.operation():
            found = await self._tokens.find_one({"hash": secret_hash})
        return None if found is None else stored_token(found)

    async def find_by_hashes(self, secret_hashes: Sequence[bytes]) -> dict[bytes, StoredToken]:
        """The tokens with these SHA-256, usable or not, in one query."""
        if len(secret_hashes) == 1:
            # Without a cursor, as nearly every request asks for one.
            found = await self.find_by_hash(secret_hashes[0])
            return {} if found is None else {found.hash: found}
        cursor = self._tokens.find({"hash": {"$in": list(secret_hashes)}})
        return {each["hash"]: stored_token(each) async for each in self._database.documents(cursor)}

    async def get(self, organization_id: UUID, token_id: UUID) -> StoredToken | None:
        """The organization's token, usable or not, or None."""
        async with self._database.operation():
            found = await self._tokens.find_one(
                {"_id": token_id, "organization_id": organization_id}
            )
        return None if found is None else stored_token(found)

    async def list(
        self,
        organization_id: UUID,
        page: PageQuery,
        within: Collection[UUID] | None = None,
        *,
        of_machines: bool | None = None,
    ) -> tuple[list[StoredToken], int]:
        """One page of the tokens that were not revoked, newest first, and how many in all.

        ``within`` leaves those alone that are bound to these pools, or some of them;
        ``of_machines`` those of machines, or all others.
        """
        wanted: Document = {"organization_id": organization_id, "revoked_at": None}
        if of_machines is not None:
            wanted["machine_id"] = {"$ne": None} if of_machines else None
        if within is not None:
            wanted["pool_ids"] = {
                "$type": "array",
                "$not": {"$elemMatch": {"$nin": [*within]}},
            }
        async with self._database.operation():
            total = await self._tokens.count_documents(wanted)
        cursor = self._tokens.find(
            wanted, sort=[("created_at", -1), ("_id", -1)], skip=page.skip, limit=page.limit
        )
        return [stored_token(found) async for found in self._database.documents(cursor)], total

    async def revoke(self, organization_id: UUID, token_id: UUID) -> StoredToken | None:
        """Make the token unusable for ever; None where the organization has no such token."""
        async with self._database.operation():
            found = await self._tokens.find_one_and_update(
                {"_id": token_id, "organization_id": organization_id},
                revoke_now(),
                return_document=ReturnDocument.AFTER,
            )
        return None if found is None else stored_token(found)

    async def revoke_of_machine(self, organization_id: UUID, machine_id: str) -> int:
        """Revoke every token bound to the machine; how many there were."""
        async with self._database.operation():
            result = await self._tokens.update_many(
                {"organization_id": organization_id, "machine_id": machine_id, "revoked_at": None},
                revoke_now(),
            )
        return result.modified_count

    async def touch(self, token_id: UUID, when: datetime) -> None:
        """Remember a use; an older one than the one remembered changes nothing.

        Goes together with others of the same moment.
        """
        await self._used.answer(UpdateOne({"_id": token_id}, {"$max": {"last_used_at": when}}))

    async def _touch(self, uses: Sequence[UpdateOne]) -> Sequence[None]:
        async with self._database.operation():
            await self._tokens_unhurried.bulk_write([*uses], ordered=False)
        return [None] * len(uses)

    async def revoked_within(self, seconds: float) -> set[UUID]:
        """Which tokens were revoked in the last seconds, by MongoDB's clock."""
        since = {"$subtract": ["$$NOW", int(seconds * 1000)]}
        cursor = self._tokens.find(
            {"$expr": {"$gt": ["$revoked_at", since]}}, projection={"_id": True}
        )
        return {document["_id"] async for document in self._database.documents(cursor)}

    async def usable(self, token_ids: Iterable[UUID]) -> set[UUID]:
        """Which of these tokens are neither revoked, expired nor unknown, in one query."""
        return {*await self.pools_of_usable(token_ids)}

    async def pools_of_usable(
        self, token_ids: Iterable[UUID]
    ) -> Mapping[UUID, builtins.list[UUID] | None]:
        """The same tokens, each with the pools that it is bound to, or None."""
        cursor = self._tokens.find(
            {
                "_id": {"$in": list(token_ids)},
                "revoked_at": None,
                "$or": [{"expires_at": None}, {"expires_at": {"$gt": now()}}],
            },
            projection={"pool_ids": True},
        )
        found = self._database.documents(cursor)
        return {document["_id"]: document.get("pool_ids") async for document in found}


def revoke_now() -> list[Document]:
    """The change that makes a token unusable for ever."""
    # A pipeline, so that revoking again keeps the first time: MongoDB's, which all nodes share.
    return [{"$set": {"revoked_at": {"$ifNull": ["$revoked_at", "$$NOW"]}}}]


def token_document(token: StoredToken) -> Document:
    """The document of the collection that a token is."""
    document = {**vars(token), "scopes": list(token.scopes)}
    if token.pool_ids is None:
        del document["pool_ids"]
    document["makers"] = list(token.makers)
    document["_id"] = document.pop("id")
    return document


def stored_token(document: Document) -> StoredToken:
    """The token that a document of the collection is."""
    fields = fields_of(StoredToken, document) | {"scopes": tuple(document["scopes"])}
    fields["makers"] = tuple(document.get("makers", ()))
    if (pool_ids := document.get("pool_ids")) is not None:
        fields["pool_ids"] = tuple(pool_ids)
    return StoredToken(id=document["_id"], **fields)
