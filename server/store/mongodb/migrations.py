"""Brings what an older Farhand stored to what this one expects.

Each step may be done again, after a start that was cut short, and by several nodes at once.
"""

from datetime import datetime
from typing import TYPE_CHECKING, Final

import pymongo

from server.store.input_counts import shard_id

if TYPE_CHECKING:
    from server.store.mongodb.database import Database

STEP_SECONDS: Final = 3600.0


async def migrate(database: "Database", version: int, moment: datetime) -> None:
    """Change what is stored since schema ``version``; ``moment`` is now."""
    async with database.translate_errors():
        with pymongo.timeout(STEP_SECONDS):
            if version < 2:
                await _mark_uncatalogued(database)
            if version < 3:
                await _give_organizations_a_parent(database)
                await _note_upgrade(database, moment)
                await _move_input_counts(database)


async def _mark_uncatalogued(database: "Database") -> None:
    """Since schema 2 what no catalogue knows has a mark; it knows none of what is older."""
    await database.collection("trajectories").update_many(
        {"uncatalogued": {"$exists": False}}, {"$set": {"uncatalogued": "new"}}
    )


async def _give_organizations_a_parent(database: "Database") -> None:
    """Since schema 3 an organization knows from which one it was made; older ones are default's.

    Nobody wrote down who made those.  The default organization is where every installation begins,
    so its administrator keeps the way to all of them, and nobody else gets one.
    """
    organizations = database.collection("organizations")
    default = await organizations.find_one({"is_default": True})
    if default is not None:
        await organizations.update_many(
            {"parent_id": {"$exists": False}, "is_default": {"$ne": True}},
            {"$set": {"parent_id": default["_id"]}},
        )


async def _note_upgrade(database: "Database", moment: datetime) -> None:
    """Since schema 3 keyed requests are named in another way; see `Installation`."""
    await database.collection("installation").update_one(
        {"_id": "upgrade"}, {"$setOnInsert": {"at": moment}}, upsert=True
    )


async def _move_input_counts(database: "Database") -> None:
    """Since schema 3 inputs are counted beside their machine; see `server.store.input_counts`."""
    machines, counts = database.collection("machines"), database.collection("input_counts")
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
