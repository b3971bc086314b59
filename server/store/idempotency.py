"""What was done under an idempotency key, once, and what came of it.

The record is written in the transaction of what was done: after a crash there are both or neither.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256
from uuid import UUID

from server.errors import KeyReused, StoreError, StoreUnavailable
from server.store.mongodb.database import Database
from server.store.mongodb.documents import Document
from server.store.mongodb.transactions import Session, in_transaction
from server.store.times import now


@dataclass(frozen=True)
class KeyedRequest:
    """A request under a key; two with the same fingerprint are the same request."""

    organization_id: UUID
    key: str
    fingerprint: str

    @property
    def id(self) -> bytes:
        """The id of its key's record; each organization has keys of its own."""
        return self.organization_id.bytes + sha256(self.key.encode()).digest()


class IdempotencyStore:
    """Does what was asked for under a key once in the ``lifetime`` of the key."""

    def __init__(self, database: Database, lifetime: timedelta) -> None:
        self._database = database
        self._lifetime = lifetime
        self._keys = database.collection("idempotency_keys")

    async def once(
        self, request: KeyedRequest | None, work: Callable[[Session], Awaitable[Document]]
    ) -> tuple[Document, bool]:
        """What ``work`` returns, in a transaction, and whether an earlier request did it.

        Without a key it is done in any case.  What ``work`` raises is raised, and the key not used.
        Raises KeyReused where the key was used for another request.
        """
        if request is None:
            return await in_transaction(self._database, work), False
        known = await self._find(request)
        if known is None:
            try:
                return await self._first(request, work), False
            except StoreUnavailable:
                raise
            except StoreError:
                # Perhaps because of another one with this key, that was a little faster.
                known = await self._find(request)
                if known is None:
                    raise
        if known["fingerprint"] != request.fingerprint:
            raise KeyReused("The key was used for another request.")
        result: Document = known["result"]
        return result, True

    async def _find(self, request: KeyedRequest) -> Document | None:
        async with self._database.operation():
            return await self._keys.find_one({"_id": request.id, "delete_at": {"$gt": now()}})

    async def _first(
        self, request: KeyedRequest, work: Callable[[Session], Awaitable[Document]]
    ) -> Document:
        async def work_and_record(session: Session) -> Document:
            result, time = await work(session), now()
            record = {
                "_id": request.id,
                "fingerprint": request.fingerprint,
                "result": result,
                "delete_at": time + self._lifetime,
            }
            # Only one whose time is over is replaced; beside any other this fails as a duplicate.
            over = {"_id": request.id, "delete_at": {"$lte": time}}
            await self._keys.replace_one(over, record, upsert=True, session=session)
            return result

        return await in_transaction(self._database, work_and_record)
