"""What an installation has once, whatever number of nodes it has and whenever they started."""

import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from server.store.errors import AlreadyExists, StoreUnavailable
from server.store.mongodb.database import Database
from server.store.times import now

SECRET_BYTES: Final = 32

EARLIER_RECORDS_LIVE: Final = timedelta(days=30)
"""After an upgrade: longer than ledger and journals keep what is final, with room for a machine
that was away and has yet to say how its last commands ended."""


@dataclass(frozen=True)
class Installation:
    """The facts of an installation.

    ``secret`` keys the fingerprints of requests.  ``upgraded_at`` is when a Farhand that named
    keyed requests in another way gave its place to one that names them as today; None where there
    never was such a one.
    """

    secret: bytes
    upgraded_at: datetime | None

    @property
    def has_earlier_records(self) -> bool:
        """Whether records may still live that name keyed requests in the earlier way."""
        return self.upgraded_at is not None and now() < self.upgraded_at + EARLIER_RECORDS_LIVE

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
            upgrade = await facts.find_one({"_id": "upgrade"})
        if made is None:
            raise StoreUnavailable("The secret of this installation could not be read back.")
        return cls(made["secret"], None if upgrade is None else upgrade["at"])
