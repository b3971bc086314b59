"""What older Farhands stored, brought to what this one expects."""

from uuid import uuid4

from server.store.machines.input_counts import InputCount, InputCountStore
from server.store.machines.machines import MachineStore
from server.store.mongodb.database import Database
from server.store.mongodb.migrations import SCHEMA_VERSION
from server.store.organizations import OrganizationStore
from server.store.times import now
from tests.store import ORGANIZATION, async_test, opened, there


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
async def test_inputs_that_were_counted_before_still_count(
    mongodb: str, database_name: str
) -> None:
    async with opened(mongodb, database_name) as database:
        machines, last_at = MachineStore(database), now()
        for name in ("desk-1", "desk-2", "desk-3"):
            await machines.create(ORGANIZATION, name, name)
        counted = {"inputs_completed": 5, "inputs_failed": 2, "last_input_at": last_at}
        await database.collection("machines").update_one(
            {"machine_id": "desk-1"}, {"$set": counted}
        )
        nothing = {"inputs_completed": 0, "inputs_failed": 0, "last_input_at": None}
        await database.collection("machines").update_one(
            {"machine_id": "desk-2"}, {"$set": nothing}
        )
        for _ in range(2):
            await made_by_schema(database, 2)
            await database.prepare()
            assert await InputCountStore(database).of(
                ORGANIZATION, ["desk-1", "desk-2", "desk-3"]
            ) == {
                "desk-1": InputCount(5, 2, last_at),
                "desk-2": InputCount(),
                "desk-3": InputCount(),
            }
        stored = await database.collection("machines").find_one({"machine_id": "desk-1"})
        assert not counted.keys() & there(stored).keys()


@async_test
async def test_machine_that_an_older_server_counts_for_can_still_be_read(
    mongodb: str, database_name: str
) -> None:
    async with opened(mongodb, database_name) as database:
        machines = MachineStore(database)
        made = await machines.create(ORGANIZATION, "desk-1", "desk-1")
        await database.collection("machines").update_one(
            {"machine_id": "desk-1"},
            {"$inc": {"inputs_completed": 1, "inputs_failed": 0}, "$max": {"last_input_at": now()}},
        )
        assert await machines.get(ORGANIZATION, "desk-1") == made
