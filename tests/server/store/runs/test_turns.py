"""Turns as the real MongoDB finds them."""

from datetime import timedelta
from uuid import uuid4

import pytest

from server.store.mongodb.database import Database
from server.store.mongodb.documents import Document
from server.store.runs.turns import ABANDONED, RESERVING
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
