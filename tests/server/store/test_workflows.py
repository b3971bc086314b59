import json
from uuid import uuid4

import pytest

from schemas.http.queries import PageQuery
from schemas.resources.trajectories import IncludedResource
from schemas.resources.workflows import NewWorkflow
from server.store.errors import AlreadyExists
from server.store.workflows import WorkflowStore, render_included_workflow
from tests.store import ORGANIZATION, OTHER_ORGANIZATION, async_test, opened


@async_test
async def test_workflow_is_seen_by_its_organization_only(mongodb: str, database_name: str) -> None:
    async with opened(mongodb, database_name) as database:
        workflows = WorkflowStore(database)
        made = await workflows.create(ORGANIZATION, NewWorkflow(name="Invoices"))
        assert await workflows.get(ORGANIZATION, made.id) == made
        assert await workflows.get(OTHER_ORGANIZATION, made.id) is None


@async_test
async def test_an_id_is_taken_once_in_each_organization(mongodb: str, database_name: str) -> None:
    async with opened(mongodb, database_name) as database:
        workflows = WorkflowStore(database)
        new, same = NewWorkflow(name="x"), uuid4()
        await workflows.create(ORGANIZATION, new, workflow_id=same)
        await workflows.create(OTHER_ORGANIZATION, new, workflow_id=same)
        with pytest.raises(AlreadyExists):
            await workflows.create(ORGANIZATION, new, workflow_id=same)


@async_test
async def test_many_come_in_the_order_asked_for(mongodb: str, database_name: str) -> None:
    async with opened(mongodb, database_name) as database:
        workflows = WorkflowStore(database)
        made = [await workflows.create(ORGANIZATION, NewWorkflow(name=name)) for name in "abc"]
        theirs = await workflows.create(OTHER_ORGANIZATION, NewWorkflow(name="d"))
        wanted = [made[2].id, uuid4(), theirs.id, made[0].id]
        assert await workflows.get_many(ORGANIZATION, wanted) == [made[2], made[0]]
        assert await workflows.get_many(ORGANIZATION, []) == []


@async_test
async def test_list_is_newest_first(mongodb: str, database_name: str) -> None:
    async with opened(mongodb, database_name) as database:
        workflows = WorkflowStore(database)
        made = [await workflows.create(ORGANIZATION, NewWorkflow(name=name)) for name in "abc"]
        newest = sorted(made, key=lambda one: (one.created_at, one.id.bytes), reverse=True)
        assert await workflows.list(ORGANIZATION, PageQuery(skip=1, limit=1)) == (newest[1:2], 3)


@async_test
async def test_included_resource_says_its_type_and_its_fields(
    mongodb: str, database_name: str
) -> None:
    async with opened(mongodb, database_name) as database:
        made = await WorkflowStore(database).create(
            ORGANIZATION, NewWorkflow(name='"Ä"\n', description=None)
        )
        rendered = render_included_workflow(made)
        IncludedResource.model_validate_json(rendered)
        fields = json.loads(rendered)
        assert (fields["type"], fields["id"]) == ("workflow", str(made.id))
        assert (fields["name"], fields["description"]) == ('"Ä"\n', None)
        assert fields["created_at"].endswith("Z")
