"""What an installation has once, whatever number of nodes it has and whenever they started."""

import secrets
from dataclasses import dataclass
from typing import Final

from server.errors import AlreadyExists, StoreUnavailable
from server.store.mongodb.database import Database
from server.store.times import now

SECRET_BYTES: Final = 32


@dataclass(frozen=True)
class Installation:
    """The facts of an installation; ``secret`` keys the fingerprints of requests."""

    secret: bytes

    @classmethod
    async def open(cls, database: Database) -> "Installation":
        """Read the facts; of several nodes that start first, one makes the secret for all."""
        facts = database.collection("installation")
        try:
            async with database.operation():
                await facts.update_one(
                    {"_id": "fingerprints"},
                    {
                        "$setOnInsert": {
                            "secret": secrets.token_bytes(SECRET_BYTES),
                            "created_at": now(),
                        }
                    },
                    upsert=True,
                )
        except AlreadyExists:
            pass  # Another node was a little faster.
        async with database.operation():
            # Read back with a majority's eyes: what a node begins with must never be undone.
            made = await facts.find_one({"_id": "fingerprints"})
        if made is None:
            raise StoreUnavailable("The secret of this installation could not be read back.")
        return cls(made["secret"])
