import pytest

from schemas.http.queries import PageQuery
from schemas.resources.workflows import ChangedWorkflow, NewWorkflow, Workflow, WorkflowPage
from server.errors import InUse, NotFound, VersionMismatch
from server.store.idempotency import KeyedRequest
from server.store.mongodb.database import Database
from server.trajectories.workflows import Workflows
from tests.store import ORGANIZATION, OTHER_ORGANIZATION, there
from tests.trajectories import TrajectoryLibrary, imported


def workflows_of(library: TrajectoryLibrary) -> Workflows:
    return Workflows(library.workflows, library.transactions)


async def test_workflow_is_made_once_under_a_key_and_read_back(database: Database) -> None:
    workflows = workflows_of(TrajectoryLibrary(database))
    request = KeyedRequest(ORGANIZATION, "k", "f")
    new = NewWorkflow(name="n", description="d")
    first, again = [await workflows.create(ORGANIZATION, new, request) for _ in range(2)]
    assert [first.is_replayed, again.is_replayed] == [False, True]
    assert (again.id, again.tag, again.body) == (first.id, first.tag, first.body)
    found = there(await workflows.get(ORGANIZATION, first.id))
    assert (found.tag, found.workflow) == (
        first.tag,
        Workflow.model_validate_json(first.body),
    )
    page = b"".join([each async for each in workflows.list(ORGANIZATION, PageQuery())])
    assert WorkflowPage.model_validate_json(page) == WorkflowPage(
        items=[found.workflow], total=1, skip=0, limit=100
    )
    assert await workflows.get(OTHER_ORGANIZATION, first.id) is None


async def test_change_changes_what_is_named(library: TrajectoryLibrary) -> None:
    workflows, made = workflows_of(library), await library.create_workflow(ORGANIZATION, "n")
    change = ChangedWorkflow(description="d")
    after = await workflows.change(ORGANIZATION, made.id, change, {made.version})
    assert (after.workflow.name, after.workflow.description) == ("n", "d")
    assert after.workflow.updated_at >= made.updated_at
    with pytest.raises(VersionMismatch):
        await workflows.change(ORGANIZATION, made.id, change, {made.version})
    assert there(await workflows.get(ORGANIZATION, made.id)) == after


async def test_workflow_is_deleted_when_no_trajectory_refers_to_it(
    library: TrajectoryLibrary,
) -> None:
    workflows, made = workflows_of(library), await library.create_workflow(ORGANIZATION, "n")
    line = imported(workflow_id=str(made.id))
    referring = await library.create(ORGANIZATION, None, line)
    await library.create(OTHER_ORGANIZATION, None, line)
    with pytest.raises(InUse):
        await workflows.delete(ORGANIZATION, made.id)
    await library.delete(ORGANIZATION, referring.id)
    with pytest.raises(VersionMismatch):
        await workflows.delete(ORGANIZATION, made.id, {1})
    await workflows.delete(ORGANIZATION, made.id)
    with pytest.raises(NotFound):
        await workflows.delete(ORGANIZATION, made.id)
