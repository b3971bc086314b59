import asyncio
import os
import signal
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import pytest
from motor.motor_asyncio import AsyncIOMotorClient

from server.errors import (
    StoreUnavailable,
    StoreUnusable,
)
from server.store.embedded_mongod import EmbeddedMongoDB, find_mongod
from server.store.mongodb.database import Database
from server.store.mongodb.indexes import INDEXES
from server.store.mongodb.migrations import OLDEST_SCHEMA, SCHEMA_VERSION
from server.store.times import now
from tests.processes import go_on, stop
from tests.store import collected, opened, there
from tests.waiting import WAIT_SECONDS


@asynccontextmanager
async def own_mongod(directory: Path) -> AsyncIterator[tuple[str, int]]:
    """A mongod that the test may torment, and its process id."""
    embedded = EmbeddedMongoDB(directory)
    try:
        uri = await embedded.start()
        yield uri, there(embedded.pid)
    finally:
        if embedded.pid is not None:
            os.kill(embedded.pid, signal.SIGCONT)
        await embedded.stop()


async def test_many_nodes_prepare_an_empty_database_at_once(
    mongodb: str, fresh_database_name: str
) -> None:
    async with opened(mongodb, fresh_database_name) as database:
        others = [Database(mongodb, f"{fresh_database_name}_shared") for _ in range(6)]
        try:
            await asyncio.gather(*(other.prepare() for other in others))
            for name, indexes in INDEXES.items():
                made = await others[0].collection(name).index_information()
                assert set(made) == {"_id_", *(index.document["name"] for index in indexes)}
        finally:
            await database.collection("x").database.client.drop_database(
                f"{fresh_database_name}_shared"
            )
            for other in others:
                other.close()


async def test_preparing_again_changes_nothing(mongodb: str, fresh_database_name: str) -> None:
    async with opened(mongodb, fresh_database_name) as database:
        await database.prepare()
        schema = await database.collection("schema").find_one()
        assert schema == {"_id": "schema", "version": SCHEMA_VERSION, "oldest": OLDEST_SCHEMA}


async def test_writes_and_reads_ask_for_a_majority(database: Database) -> None:
    things = database.collection("things")
    assert things.write_concern.document == {"w": "majority", "j": True}
    assert things.read_concern.level == "majority"


async def test_ids_and_times_come_back_as_they_were(database: Database) -> None:
    thing = {"_id": uuid4(), "at": now(), "bytes": b"\0\xff"}
    await database.collection("things").insert_one(thing)
    found = there(await database.collection("things").find_one())
    assert found == thing
    assert found["at"].tzinfo is not None


async def test_documents_come_over_batches(database: Database) -> None:
    things = database.collection("things")
    await things.insert_many([{"_id": number} for number in range(250)])
    found = await collected(database.documents(things.find().sort("_id", 1).batch_size(100)))
    assert [document["_id"] for document in found] == list(range(250))


@pytest.mark.parametrize(
    ("uri", "name"),
    [
        ("nonsense", "x"),
        ("mongodb://", "x"),
        ("mongodb://a/?w=nonsense&tls=maybe", "x"),
        ("mongodb://user:p@ss@host/", "x"),
        ("mongodb://user:p@ss/word@host/", "x"),
        ("mongodb://a/?wait=long", "x"),
        ("mongodb://localhost:99999999/", "x"),
        ("mongodb://localhost/", "a b/c"),
    ],
)
def test_wrong_uri_is_refused_in_words(uri: str, name: str) -> None:
    with pytest.raises(StoreUnusable, match="is wrong") as caught:
        Database(uri, name)
    assert "p@ss" not in str(caught.value)


async def test_nobody_there_is_unavailable() -> None:
    with (
        closing(Database("mongodb://127.0.0.1:1/", timeout=0.2)) as database,
        pytest.raises(StoreUnavailable),
    ):
        await database.ping()
    with pytest.raises(StoreUnavailable):
        await Database.open("mongodb://127.0.0.1:1/", timeout=0.2)
    with pytest.raises(StoreUnavailable):
        await database.ping()


async def until_it_answers(database: Database) -> None:
    async with asyncio.timeout(WAIT_SECONDS):
        while True:
            with suppress(StoreUnavailable):
                return await database.ping()


async def test_frozen_database_is_unavailable_for_every_waiter(tmp_path: Path) -> None:
    async with own_mongod(tmp_path) as (uri, pid):
        with closing(Database(uri, timeout=2.0)) as database:
            await until_it_answers(database)
            stop(pid)
            # Many more than the driver has threads: waiting for one of them is bounded too.
            results = await asyncio.gather(
                *(database.ping() for _ in range(100)), return_exceptions=True
            )
            assert {type(result) for result in results} == {StoreUnavailable}
            go_on(pid)
            await until_it_answers(database)


def start_member(directory: Path) -> subprocess.Popen[bytes]:
    """A mongod as an operator would run one: clients find its replica set by themselves."""
    arguments = [str(find_mongod()), "--dbpath", str(directory), "--replSet", "theirs"]
    return subprocess.Popen(
        [*arguments, "--bind_ip", str(directory / "s.sock"), "--nounixsocket"],
        stdout=subprocess.DEVNULL,
    )


async def test_write_outlives_a_change_of_primary(tmp_path: Path) -> None:
    host = str(tmp_path / "s.sock")
    uri = f"mongodb://{quote(host, safe='')}/"
    direct: AsyncIOMotorClient[dict[str, Any]] = AsyncIOMotorClient(uri, directConnection=True)
    database = Database(f"{uri}?replicaSet=theirs")
    member = start_member(tmp_path)
    try:
        initial = {"_id": "theirs", "members": [{"_id": 0, "host": host}]}
        await direct.admin.command("replSetInitiate", initial)
        await database.prepare()
        await direct.admin.command({"replSetStepDown": 1, "force": True})
        # Nobody takes writes now; the driver waits for whoever is voted in.
        async with database.operation():
            await database.collection("things").insert_one({"_id": 1})
        assert await database.collection("things").count_documents({}) == 1
    finally:
        direct.close()
        database.close()
        member.kill()
        member.wait()


async def test_restarted_database_is_found_again(tmp_path: Path) -> None:
    embedded = EmbeddedMongoDB(tmp_path)
    database = await Database.open(await embedded.start())
    await database.collection("things").insert_one({"_id": 1})
    await embedded.stop()
    await embedded.start()
    assert await database.collection("things").find_one() == {"_id": 1}
    database.close()
    await embedded.stop()
