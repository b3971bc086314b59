"""Brings what an older Farhand stored to what this one expects.

Each step may be done again, after a start that was cut short, and by several nodes at once.
"""

from typing import Final

import pymongo
from motor.motor_asyncio import AsyncIOMotorDatabase

from server.store.errors import StoreUnusable
from server.store.mongodb.documents import Document, shard_id

Collections = AsyncIOMotorDatabase[Document]

SCHEMA_VERSION: Final = 3
"""Counted up by every change of what is stored that a start has to make."""

OLDEST_SCHEMA: Final = 3
"""Whose Farhand may still work on what this one stores, beside it or after it.

Raised to SCHEMA_VERSION by a change after which an older one could misread what is stored.
"""

STEP_SECONDS: Final = 3600.0


async def stored_schema(collections: Collections) -> int | None:
    """The schema version of what is stored; None in a new database.

    Raises StoreUnusable where a newer Farhand has been at work, beside which this one may not.
    """
    stored = await collections["schema"].find_one({"_id": "schema"})
    if stored is None:
        return None
    version: int = stored["version"]
    if stored.get("oldest", version) > SCHEMA_VERSION:
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
        if version < 2:
            await _mark_unindexed(collections)
        if version < 3:
            await _give_organizations_a_parent(collections)
            await _move_input_counts(collections)


async def _mark_unindexed(collections: Collections) -> None:
    """Since schema 2 a trajectory outside the list index has a mark; older ones are all outside."""
    await collections["trajectories"].update_many(
        {"uncatalogued": {"$exists": False}}, {"$set": {"uncatalogued": "new"}}
    )


async def _give_organizations_a_parent(collections: Collections) -> None:
    """Since schema 3 an organization knows from which one it was made; older ones are default's.

    Nobody wrote down who made those.  The default organization is where every installation begins,
    so its administrator keeps the way to all of them, and nobody else gets one.
    """
    organizations = collections["organizations"]
    default = await organizations.find_one({"is_default": True})
    if default is not None:
        await organizations.update_many(
            {"parent_id": {"$exists": False}, "is_default": {"$ne": True}},
            {"$set": {"parent_id": default["_id"]}},
        )


async def _move_input_counts(collections: Collections) -> None:
    """Since schema 3 inputs are counted beside their machine: `InputCountStore`."""
    machines, counts = collections["machines"], collections["input_counts"]
    counted = {"inputs_completed": {"$exists": True}}
    async for found in machines.find({**counted, "deleted_at": None}):
        moved = {
            "machine_id": found["machine_id"],
            "completed": found["inputs_completed"],
            "failed": found["inputs_failed"],
            "last_at": found["last_input_at"],
        }
        identifier = shard_id(found["organization_id"], found["machine_id"], 0)
        await counts.update_one({"_id": identifier}, {"$setOnInsert": moved}, upsert=True)
    fields = ("inputs_completed", "inputs_failed", "last_input_at")
    await machines.update_many(counted, {"$unset": dict.fromkeys(fields, "")})
