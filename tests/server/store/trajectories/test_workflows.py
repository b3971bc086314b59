from dataclasses import replace
from uuid import uuid4

import pytest

from schemas.http.queries import PageQuery
from server.errors import AlreadyExists, NotFound, VersionMismatch
from server.store.trajectories.workflows import StoredWorkflow
from server.store.transactions import Transaction
from tests.store import ORGANIZATION, OTHER_ORGANIZATION
from tests.trajectories import TrajectoryLibrary


async def test_workflow_is_seen_by_its_organization_only(library: TrajectoryLibrary) -> None:
    workflows = library.workflows
    made = await library.create_workflow(ORGANIZATION, "Invoices")
    assert await workflows.get(ORGANIZATION, made.id) == made
    assert await workflows.get(OTHER_ORGANIZATION, made.id) is None


async def test_an_id_is_taken_once_in_each_organization(library: TrajectoryLibrary) -> None:
    ours = await library.create_workflow(ORGANIZATION, "x")
    theirs = replace(ours, organization_id=OTHER_ORGANIZATION)
    await library.transactions.run(lambda each: each.workflows.insert(theirs))
    with pytest.raises(AlreadyExists):
        await library.transactions.run(lambda each: each.workflows.insert(ours))


async def test_many_come_in_the_order_asked_for(library: TrajectoryLibrary) -> None:
    workflows = library.workflows
    made = [await library.create_workflow(ORGANIZATION, name) for name in "abc"]
    theirs = await library.create_workflow(OTHER_ORGANIZATION, "d")
    wanted = [made[2].id, uuid4(), theirs.id, made[0].id]
    assert await workflows.get_many(ORGANIZATION, wanted) == [made[2], made[0]]
    assert await workflows.get_many(ORGANIZATION, []) == []


async def test_list_is_newest_first(library: TrajectoryLibrary) -> None:
    workflows = library.workflows
    made = [await library.create_workflow(ORGANIZATION, name) for name in "abc"]
    newest = sorted(made, key=lambda one: (one.created_at, one.id.bytes), reverse=True)
    page = workflows.page(ORGANIZATION, PageQuery(skip=1, limit=1))
    assert [each async for each in page] == newest[1:2]
    assert await workflows.count(ORGANIZATION) == 3


async def test_workflow_is_changed_and_deleted_in_the_version_that_was_asked_for(
    library: TrajectoryLibrary,
) -> None:
    made = await library.create_workflow(ORGANIZATION, "a")

    async def rename(transaction: Transaction) -> StoredWorkflow:
        found = await transaction.workflows.get(ORGANIZATION, made.id, {made.version})
        return await transaction.workflows.change(found, {"name": "b"})

    async def delete(transaction: Transaction) -> None:
        found = await transaction.workflows.get(ORGANIZATION, made.id, None)
        await transaction.workflows.delete(found)

    after = await library.transactions.run(rename)
    assert after == replace(made, name="b", version=made.version + 1)
    assert await library.workflows.get(ORGANIZATION, made.id) == after
    with pytest.raises(VersionMismatch):
        await library.transactions.run(rename)
    await library.transactions.run(delete)
    with pytest.raises(NotFound):
        await library.transactions.run(delete)
