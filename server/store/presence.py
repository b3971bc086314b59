"""Nodes that are alive: each renews its document, and is gone when it does not any more."""

from dataclasses import dataclass
from uuid import UUID

from server.store.mongodb.database import Database
from server.store.mongodb.documents import Document
from server.store.times import now


@dataclass(frozen=True)
class NodeRecord:
    """A node as it last said; ``beats`` counts how often.

    ``group`` is the same for the nodes of one parent, and None for one without.
    """

    node_id: UUID
    name: str
    group: str | None
    beats: int


class NodeStore:
    """Reads and writes which nodes there are."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._nodes = database.collection("nodes")

    async def beat(self, node_id: UUID, name: str, group: str | None) -> bool:
        """Say that a node is alive; False where nobody knew of it, or not any more."""
        change: Document = {
            "$inc": {"beats": 1},
            "$set": {"name": name, "group": group, "renewed_at": now()},
            "$setOnInsert": {"started_at": now()},
        }
        async with self._database.operation():
            result = await self._nodes.update_one({"_id": node_id}, change, upsert=True)
        return result.matched_count > 0

    async def list(self) -> list[NodeRecord]:
        """All nodes that have said that they are alive, and not yet been found to be gone."""
        cursor = self._nodes.find({}, sort=[("name", 1), ("_id", 1)])
        return [
            NodeRecord(found["_id"], found["name"], found["group"], found["beats"])
            async for found in self._database.documents(cursor)
        ]

    async def forget(self, node_id: UUID) -> None:
        """A node is gone; one that is alive learns of it when it says so the next time."""
        async with self._database.operation():
            await self._nodes.delete_one({"_id": node_id})
