"""Ends the transactions that a killed node has left open.

What they had begun to change is locked until MongoDB gives them up by itself, after a minute unless
it is told otherwise.
"""

import logging
from typing import Any, Final

from motor.motor_asyncio import AsyncIOMotorClient
from pymongo.errors import OperationFailure

logger = logging.getLogger(__name__)

ABANDONED_SECONDS: Final = 3.0
"""A node that lives asks for the next part of a transaction sooner.  One that was late has its
transaction ended, and begins it anew."""


async def end_abandoned(client: AsyncIOMotorClient[Any], application: str) -> int:
    """End those of an application that nobody has gone on with for long; how many there were.

    Only its own user's are seen, and so none of MongoDB's privileges is needed.
    """
    inactive: dict[str, Any] = {
        "type": "idleSession",
        "appName": application,
        "transaction.timeInactiveMicros": {"$gt": int(ABANDONED_SECONDS * 1e6)},
    }
    pipeline = [
        {"$currentOp": {"allUsers": False, "idleSessions": True}},
        {"$match": inactive},
        {"$project": {"lsid.id": True}},
    ]
    try:
        found = [each["lsid"]["id"] async for each in client.admin.aggregate(pipeline)]
        if found:
            await client.admin.command("killSessions", [{"id": each} for each in found])
    except OperationFailure as error:
        # Whoever waits for them waits until MongoDB ends them.
        logger.warning("transactions that were left open are not ended: %s", error)
        return 0
    if found:
        logger.warning("transactions that were left open and are ended: %d", len(found))
    return len(found)
