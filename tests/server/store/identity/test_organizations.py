import asyncio
from uuid import uuid4

from schemas.http.queries import PageQuery
from server.store.identity.organizations import OrganizationStore
from server.store.mongodb.database import Database


async def test_created_organizations_are_found(database: Database) -> None:
    organizations = OrganizationStore(database)
    first = await organizations.create("one", parent_id=None)
    made = [first] + [
        await organizations.create("two", parent_id=parent_id) for parent_id in (None, first.id)
    ]
    assert [one.parent_id for one in made] == [None, None, first.id]
    assert await organizations.get(made[2].id) == made[2]
    assert await organizations.get(uuid4()) is None
    items, total = await organizations.list_made_from(first.id, PageQuery())
    newest = sorted(
        [made[0], made[2]], key=lambda one: (one.created_at, one.id.bytes), reverse=True
    )
    assert (items, total) == (newest, 2)
    items, total = await organizations.list_made_from(first.id, PageQuery(skip=1, limit=1))
    assert (items, total) == (newest[1:], 2)


async def test_of_many_nodes_one_makes_the_default_organization(database: Database) -> None:
    results = await asyncio.gather(
        *(OrganizationStore(database).ensure_default() for _ in range(16))
    )
    assert sum(created for _, created in results) == 1
    assert len({organization for organization, _ in results}) == 1
    assert results[0][0].name == "default"
    assert await database.collection("organizations").count_documents({}) == 1
    assert not (await OrganizationStore(database).ensure_default())[1]
