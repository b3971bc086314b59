"""Encrypted secrets, and which key encrypts them; never the key itself."""

from collections.abc import Collection
from typing import Final
from uuid import UUID

from server.store.mongodb.database import Database
from server.store.times import now

_KEY: Final = "secret key"


class SealedSecretStore:
    """What is sealed, by the id of whatever has it, such as a run."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._sealed = database.collection("sealed_secrets")
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

    async def put(self, owner: UUID, key_id: str, content: bytes) -> None:
        """Keep what is sealed for its owner, in the place of what was."""
        document = {"key_id": key_id, "content": content, "created_at": now()}
        async with self._database.operation():
            await self._sealed.replace_one({"_id": owner}, document, upsert=True)

    async def get(self, owner: UUID) -> tuple[str, bytes] | None:
        """The id of the key and what is sealed; None where there is nothing, or it was erased."""
        async with self._database.operation():
            found = await self._sealed.find_one({"_id": owner})
        return None if found is None else (str(found["key_id"]), bytes(found["content"]))

    async def erase(self, owner: UUID) -> None:
        """Keep nothing of its owner any more."""
        async with self._database.operation():
            await self._sealed.delete_one({"_id": owner})
