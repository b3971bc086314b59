"""Workflows: what trajectories are recordings of."""

from schemas.http import problems
from schemas.http.entity_tags import ChangeHeaders, ReadHeaders
from schemas.http.problems import ProblemError
from schemas.http.queries import PageQuery
from schemas.resources.tokens import Scope
from schemas.resources.workflows import ChangedWorkflow, NewWorkflow, Workflow, WorkflowPage
from server.api.trajectories.paths import WorkflowPath
from server.web import changes
from server.web.auditing import record
from server.web.endpoint import Endpoint
from server.web.streaming import StreamingHandler

MOST_SCHEMA_VALUES = 500


class WorkflowsHandler(StreamingHandler, changes.ChangingHandler):
    @Endpoint(
        summary="List workflows",
        scope=Scope.TRAJECTORIES_READ,
        query=PageQuery,
        answers={200: WorkflowPage},
        problems=(problems.TOO_MANY_STREAMS,),
    )
    async def get(self, query: PageQuery) -> None:
        self.set_header("Content-Type", "application/json")
        await self.stream(self.services.library.workflows.list(self.organization_id, query))

    @Endpoint(
        summary="Create a workflow",
        scope=Scope.TRAJECTORIES_WRITE,
        headers=changes.CreationHeaders,
        body=NewWorkflow,
        max_body_values=MOST_SCHEMA_VALUES,
        answers={201: Workflow},
        answer_headers={**changes.TAGGED, **changes.REPLAYED},
    )
    async def post(self, headers: changes.CreationHeaders, body: NewWorkflow) -> None:
        with changes.refusals("workflow"):
            made = await self.services.library.workflows.create(
                self.organization_id, body, self.keyed_request(headers, body)
            )
        self.note_replay(made.is_replayed)
        if not made.is_replayed:
            await record(self, "workflow.created", made.id)
        self.set_header("Location", f"/v1/workflows/{made.id}")
        self.set_header("ETag", made.tag)
        self.answer_bytes(201, made.body)


class WorkflowHandler(changes.ChangingHandler):
    @Endpoint(
        summary="Get a workflow",
        scope=Scope.TRAJECTORIES_READ,
        path=WorkflowPath,
        headers=ReadHeaders,
        answers={200: Workflow, 304: None},
        problems=(problems.NOT_FOUND,),
        answer_headers=changes.TAGGED,
    )
    async def get(self, path: WorkflowPath, headers: ReadHeaders) -> None:
        found = await self.services.library.workflows.get(self.organization_id, path.workflow_id)
        if found is None:
            raise ProblemError(problems.NOT_FOUND, f"there is no workflow {path.workflow_id}")
        self.set_header("ETag", found.tag)
        if headers.if_none_match is not None and headers.if_none_match.name(found.tag):
            self.answer(304)
        else:
            self.answer(200, found.workflow)

    @Endpoint(
        summary="Change a workflow",
        description="What is named changes, nothing else; null clears the description.",
        scope=Scope.TRAJECTORIES_WRITE,
        path=WorkflowPath,
        headers=ChangeHeaders,
        body=ChangedWorkflow,
        max_body_values=MOST_SCHEMA_VALUES,
        answers={200: Workflow},
        problems=(problems.NOT_FOUND, problems.PRECONDITION_FAILED),
        answer_headers=changes.TAGGED,
    )
    async def patch(
        self, path: WorkflowPath, headers: ChangeHeaders, body: ChangedWorkflow
    ) -> None:
        with changes.refusals(f"workflow {path.workflow_id}"):
            changed = await self.services.library.workflows.change(
                self.organization_id, path.workflow_id, body, headers.versions
            )
        await record(self, "workflow.changed", path.workflow_id)
        self.set_header("ETag", changed.tag)
        self.answer(200, changed.workflow)

    @Endpoint(
        summary="Delete a workflow",
        description="Only one that no trajectory refers to.",
        scope=Scope.TRAJECTORIES_WRITE,
        path=WorkflowPath,
        headers=ChangeHeaders,
        answers={204: None},
        problems=(problems.NOT_FOUND, problems.IN_USE, problems.PRECONDITION_FAILED),
    )
    async def delete(self, path: WorkflowPath, headers: ChangeHeaders) -> None:
        with changes.refusals(f"workflow {path.workflow_id}"):
            await self.services.library.workflows.delete(
                self.organization_id, path.workflow_id, headers.versions
            )
        await record(self, "workflow.deleted", path.workflow_id)
        self.answer(204)
