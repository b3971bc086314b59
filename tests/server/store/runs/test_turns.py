"""Turns as the real MongoDB finds them."""

from datetime import timedelta
from uuid import UUID, uuid4

import pytest

from schemas.runs.runs import StepResult
from server.store.mongodb.database import Database
from server.store.mongodb.documents import Document
from server.store.runs.documents import StoredRun, run_document, stored_run
from server.store.runs.turns import ABANDONED, RESERVING, RunTurns
from server.store.times import now

ORGANIZATION = uuid4()


@pytest.mark.parametrize(
    "asked", [ABANDONED, {"organization_id": {"$in": [ORGANIZATION]}, **RESERVING}]
)
async def test_what_is_asked_every_second_reads_none_of_those_that_have_ended(
    database: Database, asked: Document
) -> None:
    runs = database.collection("runs")
    ended = {"organization_id": ORGANIZATION, "status": "success", "lease": None}
    left = {
        "organization_id": ORGANIZATION,
        "status": "running",
        "lease": {"owner": uuid4(), "until": now() - timedelta(seconds=1)},
        "reserves": "desk-1",
    }
    await runs.insert_many([{**ended, "_id": uuid4()} for _ in range(20)] + [left])
    read = (await runs.find(asked).explain())["executionStats"]
    assert (read["nReturned"], read["totalDocsExamined"]) == (1, 1)


async def test_node_takes_none_up_that_it_still_works_at(database: Database) -> None:
    await _left(database, run_id := uuid4())
    turns = RunTurns(database, uuid4())
    assert await turns.abandoned([run_id]) is None
    claimed = await turns.abandoned([uuid4()])
    assert claimed is not None
    assert claimed.id == run_id


async def test_step_whose_end_was_stored_already_is_not_stored_again(database: Database) -> None:
    await _left(database, run_id := uuid4())
    turns = RunTurns(database, uuid4())
    run = await turns.abandoned()
    assert run is not None
    done = StepResult(number=1, status="done", attempts=1, began_at=now(), ended_at=now())
    # The answer to the first was lost.
    came = [await turns.past(run, done) for _ in range(2)]
    assert [each and each.step for each in came] == [2, None]
    stored = stored_run(await database.collection("runs").find_one({"_id": run_id}) or {})
    assert [each.number for each in stored.steps] == [1]


async def _left(database: Database, run_id: UUID) -> None:
    """A run whose node went away a moment ago."""
    lease = {"owner": uuid4(), "until": now() - timedelta(seconds=1)}
    run = StoredRun(
        id=run_id,
        organization_id=ORGANIZATION,
        workflow_id=uuid4(),
        trajectory_id=uuid4(),
        content_hash=b"",
        machine_id="desk-1",
        pool_ids=None,
        priority=5,
        halt_timeout=0,
        input_values={},
        step_count=3,
        by="a test",
        token_id=uuid4(),
        user_id=None,
        created_at=now(),
        reservation="",
        status="running",
    )
    document = {**run_document(run), "lease": lease, "reserves": f"desk of {run_id}"}
    await database.collection("runs").insert_one(document)
