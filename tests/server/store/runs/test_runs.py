"""Runs that no node works at, as the real MongoDB finds them."""

from uuid import UUID, uuid4

import pytest

from server.store.mongodb.database import Database
from server.store.mongodb.documents import Document
from server.store.runs import runs
from server.store.runs.runs import OLDEST_FIRST, UNATTENDED, RunStore, UnattendedRun
from server.store.times import now

ORGANIZATION, HELP = uuid4(), uuid4()


def document(**more: object) -> Document:
    return {
        "_id": uuid4(),
        "organization_id": ORGANIZATION,
        "created_at": now(),
        "lease": None,
        "machine_id": "desk-1",
        "token_id": uuid4(),
        "by": "a test",
        "halted": None,
        "ended_at": None,
        **more,
    }


async def test_those_that_no_node_works_at_are_read_some_at_a_time_and_no_others(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting = [document(), document(machine_id=None)]
    parked = document(halted={"step": 1, "help_id": HELP})
    ended = [document(ended_at=now()) for _ in range(20)]
    worked_at = document(lease={"owner": uuid4(), "until": now()})
    collection = database.collection("runs")
    await collection.insert_many([*waiting, *ended, worked_at, parked])
    read = (await collection.find(UNATTENDED, sort=OLDEST_FIRST).explain())["executionStats"]
    assert (read["nReturned"], read["totalDocsExamined"]) == (3, 3)
    monkeypatch.setattr(runs, "PAGE", 2)
    pages = [some async for some in RunStore(database).unattended()]
    assert [len(some) for some in pages] == [2, 1]
    found = [each for some in pages for each in some]
    assert {each.id for each in found} == {each["_id"] for each in (*waiting, parked)}
    assert _of(found, parked["_id"]).help_id == HELP
    assert {_of(found, each["_id"]).help_id for each in waiting} == {None}


def _of(found: list[UnattendedRun], run_id: UUID) -> UnattendedRun:
    return next(each for each in found if each.id == run_id)
