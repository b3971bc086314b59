"""What a next version of what is stored does to this one's, and this one to a next one's."""

from contextlib import suppress

import pytest

from server.errors import StoreUnusable
from server.store.mongodb import migrations
from server.store.mongodb.database import Database
from server.store.mongodb.migrations import OLDEST_SCHEMA, SCHEMA_VERSION, STEPS, Collections
from tests.store import collected, opened

NEXT = SCHEMA_VERSION + 1


class NextSchema:
    """A Farhand whose machines have colours, which it gives to those that are stored without.

    ``cut_short`` is whether its next start dies in the middle of that.
    """

    def __init__(self, patch: pytest.MonkeyPatch, *, oldest: int = OLDEST_SCHEMA) -> None:
        self.steps = 0
        self.cut_short = False
        patch.setattr(migrations, "SCHEMA_VERSION", NEXT)
        patch.setattr(migrations, "OLDEST_SCHEMA", oldest)
        patch.setattr(migrations, "STEPS", {**STEPS, NEXT: self._colour})

    async def _colour(self, collections: Collections) -> None:
        self.steps += 1
        machines = collections["machines"]
        without = {"colour": {"$exists": False}}
        if self.cut_short:
            await machines.update_one(without, {"$set": {"colour": "grey"}})
            raise ConnectionAbortedError
        await machines.update_many(without, {"$set": {"colour": "grey"}})


async def schema(database: Database) -> dict[str, int]:
    (stored,) = await collected(database.collection("schema").find())
    return {"version": stored["version"], "oldest": stored["oldest"]}


def test_every_version_after_the_first_has_its_step() -> None:
    assert [*STEPS] == [*range(2, SCHEMA_VERSION + 1)]


async def test_step_is_done_once_and_again_where_it_was_cut_short(
    mongodb: str, fresh_database_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(mongodb, fresh_database_name) as database:
        machines = database.collection("machines")
        await machines.insert_many(
            [{"machine_id": name, "colour": "red"} for name in ("a", "b")]
            + [{"machine_id": name} for name in ("c", "d")]
        )
        newer = NextSchema(monkeypatch)
        newer.cut_short = True
        with suppress(ConnectionAbortedError):
            await database.prepare()
        assert (await schema(database))["version"] == SCHEMA_VERSION
        newer.cut_short = False
        for _ in range(3):
            await database.prepare()
            assert newer.steps == 2
        assert await schema(database) == {"version": NEXT, "oldest": OLDEST_SCHEMA}
        assert [each["colour"] async for each in machines.find(sort=[("machine_id", 1)])] == [
            *("red", "red", "grey", "grey")
        ]


async def test_new_database_needs_no_step(
    mongodb: str, fresh_database_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    newer = NextSchema(monkeypatch)
    async with opened(mongodb, fresh_database_name) as database:
        assert (newer.steps, (await schema(database))["version"]) == (0, NEXT)


async def test_what_a_next_version_has_prepared_is_refused_and_left_alone(
    mongodb: str, fresh_database_name: str
) -> None:
    async with opened(mongodb, fresh_database_name) as database:
        with pytest.MonkeyPatch.context() as patch:
            NextSchema(patch, oldest=NEXT)
            await database.prepare()
        with pytest.raises(StoreUnusable, match="newer Farhand"):
            await Database.open(mongodb, fresh_database_name)
        assert await schema(database) == {"version": NEXT, "oldest": NEXT}


async def test_next_version_that_bears_this_one_beside_it_keeps_its_schema(
    mongodb: str, fresh_database_name: str
) -> None:
    async with opened(mongodb, fresh_database_name) as database:
        with pytest.MonkeyPatch.context() as patch:
            NextSchema(patch)
            await database.prepare()
        await (await Database.open(mongodb, fresh_database_name)).finish()
        assert await schema(database) == {"version": NEXT, "oldest": OLDEST_SCHEMA}
