"""The server is killed with -9 while it removes pictures: what goes is what should, and no more."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pymongo

from server.store.mongodb.database import Database
from server.store.mongodb.documents import Document
from server.store.times import now
from server.store.trajectories.picture_uses import PictureUse, PictureUses, uses_of
from tests.kept_pictures import LONG_AGO, content_of, step_with
from tests.processes import ServedApi, ServerProcess, until
from tests.store import opened

OWN, SHARED = 120, 20


def filled(api: ServedApi) -> tuple[Any, Any, list[str]]:
    """A trajectory with pictures of its own, another one with some of them, and all pictures."""
    pictures = [
        api.call("POST", "/v1/pictures", content_of(number), {"Content-Type": "image/png"}).json[
            "id"
        ]
        for number in range(OWN + SHARED)
    ]
    sent = {"workflow_id": str(uuid4()), "dimensions": {"width": 1280, "height": 800}}
    made = [
        api.call("POST", "/v1/trajectories", {**sent, "trajectory_data": [*map(step_with, of)]})
        for of in (pictures, pictures[OWN:])
    ]
    return made[0].json, made[1].json, pictures


@contextlib.contextmanager
def changing(mongodb: str, name: str, picture: bytes) -> Iterator[None]:
    """Have whoever removes a picture wait, for the time of the block: it is being changed."""
    with pymongo.MongoClient[Document](mongodb) as client, client.start_session() as session:
        session.start_transaction()
        change = {"$set": {"changing": True}}
        client[name].pictures.update_one({"_id": picture}, change, session=session)
        yield
        session.abort_transaction()


def test_killed_while_it_removes_pictures_another_process_removes_the_rest(
    mongodb: str, tmp_path: Path
) -> None:
    name = f"pictures_{uuid4().hex}"
    server = ServerProcess(tmp_path, mongodb_uri=mongodb, mongodb_database=name)

    def stored(work: Callable[[Database], Awaitable[Any]]) -> Any:
        async def opened_work() -> Any:
            async with opened(mongodb, name) as database:
                return await work(database)

        return asyncio.run(opened_work())

    async def end_time(database: Database) -> None:
        old = now() - LONG_AGO
        await database.collection("pictures").update_many({}, {"$set": {"used_at": old}})
        await database.collection("trajectories").update_one(
            {"step_count": OWN + SHARED}, {"$set": {"pictures_until": old}}
        )

    async def end_lease(database: Database) -> None:
        await database.collection("rounds").update_one({}, {"$set": {"until": now()}})

    async def in_the_middle(database: Database) -> bytes:
        """A picture that is removed neither among the first nor among the last."""
        old = await database.collection("trajectories").find_one({"step_count": OWN + SHARED})
        assert old is not None
        uses = [each async for each in PictureUses(database).of(old["_id"])]
        own = [each for each in uses if not await is_shared(database, each)]
        return own[len(own) // 2].picture

    async def is_shared(database: Database, use: PictureUse) -> bool:
        others = {"_id": {**uses_of(use.picture), "$ne": use.id}}
        return await database.collection("picture_uses").find_one(others) is not None

    async def middle(database: Database) -> None:
        while await database.collection("pictures").estimated_document_count() > OWN:  # noqa: ASYNC110
            await asyncio.sleep(0)

    with server.run():
        old, young, pictures = filled(server.api())
    stored(end_time)
    with changing(mongodb, name, stored(in_the_middle)), server.run() as program:
        stored(middle)
        program.kill()
    left = stored(lambda database: database.collection("pictures").count_documents({}))
    assert SHARED < left < OWN + SHARED, left
    stored(end_lease)
    with server.run():
        api = server.api()

        def status(picture: str) -> int:
            return api.call("GET", f"/v1/pictures/{picture}").status

        until(lambda: status(pictures[OWN - 1]) == 404, "the rest has gone")
        until(lambda: api.call("GET", "/v1/pictures?limit=1").json["bytes"] == SHARED * 1000, "all")
        assert {status(each) for each in pictures[OWN:]} == {200}
        for made, gone in ((old, [*["expired"] * OWN, *[None] * SHARED]), (young, [None] * SHARED)):
            path = f"/v1/trajectories/{made['id']}"
            steps = api.call("GET", f"{path}/steps?limit=1000").json["items"]
            assert [each["pictures_gone"] for each in steps] == gone
        found = api.call("GET", f"/v1/trajectories/{old['id']}").json
        assert found["pictures_expired_at"] is not None
        assert found["content_hash"] == old["content_hash"]
        assert found["trajectory_data"] == old["trajectory_data"]
    assert stored(lambda each: each.collection("picture_removals").count_documents({})) == 0
    assert stored(lambda each: each.collection("picture_uses").count_documents({})) == SHARED
