"""Which key encrypts secrets; never the key itself."""

from collections.abc import Collection
from typing import Final

from server.store.mongodb.database import Database
from server.store.times import now

_KEY: Final = "secret key"


class SecretKeyStore:
    """The id of the key that all nodes encrypt with."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._facts = database.collection("installation")

    async def key_id(self) -> str | None:
        """The id of the key that encrypts; None where nothing was ever encrypted."""
        async with self._database.operation():
            found = await self._facts.find_one({"_id": _KEY})
        return None if found is None else str(found["key_id"])

    async def use_key(self, key_id: str, known: Collection[str]) -> bool:
        """Encrypt with a key from now on, in the place of a ``known`` one; whether it may be."""
        if await self.key_id() is None:
            async with self._database.operation():
                await self._facts.update_one(
                    {"_id": _KEY},
                    {"$setOnInsert": {"key_id": key_id, "created_at": now()}},
                    upsert=True,
                )
        async with self._database.operation():
            result = await self._facts.update_one(
                {"_id": _KEY, "key_id": {"$in": [*known]}}, {"$set": {"key_id": key_id}}
            )
        return result.matched_count == 1
