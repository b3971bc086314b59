"""Brings what an earlier Farhand stored to what this one expects.

Each step may be done again, after a start that was cut short, and by several nodes at once.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Final

import pymongo
from motor.motor_asyncio import AsyncIOMotorDatabase

from server.errors import StoreUnusable
from server.store.mongodb.documents import Document

Collections = AsyncIOMotorDatabase[Document]

SCHEMA_VERSION: Final = 1
"""Counted up by every change of what is stored that a start has to make."""

OLDEST_SCHEMA: Final = 1
"""Whose Farhand may still work on what this one stores, beside it or after it.

Raised to SCHEMA_VERSION by a change after which an earlier one could misread what is stored.
"""

STEPS: Final[Mapping[int, Callable[[Collections], Awaitable[None]]]] = {}
"""What makes of what the version before has stored what each version stores: none yet."""

STEP_SECONDS: Final = 3600.0


async def stored_schema(collections: Collections) -> int | None:
    """The schema version of what is stored; None in a new database.

    Raises StoreUnusable where a newer Farhand has been at work, beside which this one may not.
    """
    stored = await collections["schema"].find_one({"_id": "schema"})
    if stored is None:
        return None
    version: int = stored["version"]
    if stored["oldest"] > SCHEMA_VERSION:
        raise StoreUnusable(
            f"The database was prepared by a newer Farhand (schema {version}, "
            f"this one knows {SCHEMA_VERSION}): upgrade this server."
        )
    return version


async def note_schema(collections: Collections) -> None:
    """Write down that what is stored has this Farhand's schema."""
    await collections["schema"].update_one(
        {"_id": "schema"},
        {"$max": {"version": SCHEMA_VERSION, "oldest": OLDEST_SCHEMA}},
        upsert=True,
    )


async def migrate(collections: Collections, version: int) -> None:
    """Change what is stored since schema ``version``."""
    with pymongo.timeout(STEP_SECONDS):
        for reached in range(version + 1, SCHEMA_VERSION + 1):
            await STEPS[reached](collections)
