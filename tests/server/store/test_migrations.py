"""What older Farhands stored, brought to what this one expects."""

from uuid import uuid4

from server.store.database import SCHEMA_VERSION, Database, now
from server.store.installation import Installation
from server.store.organizations import OrganizationStore
from tests.store import async_test, opened, there


async def made_by_schema(database: Database, version: int) -> None:
    """Have the database say that an older Farhand prepared it."""
    await database.collection("schema").update_one({}, {"$set": {"version": version}})


@async_test
async def test_organizations_of_before_belong_to_the_default_one(
    mongodb: str, database_name: str
) -> None:
    async with opened(mongodb, database_name) as database:
        organizations = OrganizationStore(database)
        default, _ = await organizations.ensure_default()
        newer = await organizations.create("newer", parent_id=uuid4())
        older = uuid4()
        await database.collection("organizations").insert_one(
            {"_id": older, "name": "older", "created_at": now()}
        )
        await made_by_schema(database, 2)
        for _ in range(2):
            await database.prepare()
            assert there(await organizations.get(older)).parent_id == default.id
            assert await organizations.get(newer.id) == newer
            assert await organizations.get(default.id) == default
        assert default.parent_id is None
        schema = there(await database.collection("schema").find_one())
        assert schema["version"] == SCHEMA_VERSION


@async_test
async def test_upgrade_is_noted_once_and_only_where_there_was_one(
    mongodb: str, database_name: str
) -> None:
    async with opened(mongodb, database_name) as database:
        assert (await Installation.open(database)).upgraded_at is None
        await made_by_schema(database, 2)
        before = now()
        await database.prepare()
        first = there((await Installation.open(database)).upgraded_at)
        assert before <= first <= now()
        await made_by_schema(database, 2)
        await database.prepare()
        assert (await Installation.open(database)).upgraded_at == first
