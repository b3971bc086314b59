"""What nodes write down of themselves."""

from uuid import UUID

from server.store.mongodb.database import Database
from server.store.presence import NodeRecord, NodeStore

FIRST, SECOND = UUID(int=1), UUID(int=2)


async def test_node_is_known_from_its_first_word_until_it_is_forgotten(database: Database) -> None:
    nodes = NodeStore(database)
    assert not await nodes.beat(FIRST, "b", None)
    assert await nodes.beat(FIRST, "b", None)
    assert not await nodes.beat(SECOND, "a", "g")
    assert await nodes.list() == [
        NodeRecord(SECOND, "a", "g", 1),
        NodeRecord(FIRST, "b", None, 2),
    ]
    await nodes.forget(FIRST)
    assert len(await nodes.list()) == 1
    await nodes.forget(SECOND)
    assert await nodes.list() == []
    assert not await nodes.beat(FIRST, "b", None)
