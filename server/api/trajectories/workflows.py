"""Workflows: what trajectories are recordings of."""

from schemas.http import problems
from schemas.http.entity_tags import ChangeHeaders, ReadHeaders, version_tag
from schemas.http.problems import ProblemError
from schemas.http.queries import PageQuery
from schemas.resources.tokens import Scope
from schemas.resources.workflows import ChangedWorkflow, NewWorkflow, Workflow, WorkflowPage
from server.api.trajectories.paths import WorkflowPath
from server.store.mongodb.database import Document
from server.store.mongodb.transactions import Session
from server.store.workflows import StoredWorkflow, new_workflow
from server.web.auditing import record
from server.web.changes import (
    REPLAYED,
    TAGGED,
    ChangingHandler,
    CreationHeaders,
    refusals,
)
from server.web.endpoint import Endpoint, endpoint


class WorkflowsHandler(ChangingHandler):
    @endpoint(
        Endpoint(
            summary="List workflows",
            scope=Scope.TRAJECTORIES_READ,
            query=PageQuery,
            answers={200: WorkflowPage},
        )
    )
    async def get(self, query: PageQuery) -> None:
        stored, total = await self.services.workflows.list(self.principal.organization_id, query)
        items = [_view(workflow) for workflow in stored]
        self.answer(200, WorkflowPage(items=items, total=total, skip=query.skip, limit=query.limit))

    @endpoint(
        Endpoint(
            summary="Create a workflow",
            scope=Scope.TRAJECTORIES_WRITE,
            headers=CreationHeaders,
            body=NewWorkflow,
            answers={201: Workflow},
            answer_headers={**TAGGED, **REPLAYED},
        )
    )
    async def post(self, headers: CreationHeaders, body: NewWorkflow) -> None:
        new = new_workflow(self.principal.organization_id, body)

        async def work(session: Session) -> Document:
            await self.services.workflows.insert(new, session)
            return {
                "id": new.id,
                "tag": version_tag(new.version),
                "body": _view(new).model_dump_json().encode(),
            }

        with refusals("workflow"):
            result = await self.once(headers, body, work)
        if not self.is_replayed:
            await record(self, "workflow.created", result["id"])
        self.set_header("Location", f"/v1/workflows/{result['id']}")
        self.set_header("ETag", result["tag"])
        self.answer_bytes(201, result["body"])


class WorkflowHandler(ChangingHandler):
    @endpoint(
        Endpoint(
            summary="Get a workflow",
            scope=Scope.TRAJECTORIES_READ,
            path=WorkflowPath,
            headers=ReadHeaders,
            answers={200: Workflow, 304: None},
            problems=(problems.NOT_FOUND,),
            answer_headers=TAGGED,
        )
    )
    async def get(self, path: WorkflowPath, headers: ReadHeaders) -> None:
        stored = await self.services.workflows.get(self.principal.organization_id, path.workflow_id)
        if stored is None:
            raise ProblemError(problems.NOT_FOUND, f"there is no workflow {path.workflow_id}")
        tag = version_tag(stored.version)
        self.set_header("ETag", tag)
        if headers.if_none_match is not None and headers.if_none_match.name(tag):
            self.answer(304)
        else:
            self.answer(200, _view(stored))

    @endpoint(
        Endpoint(
            summary="Change a workflow",
            description="What is named changes, nothing else; null clears the description.",
            scope=Scope.TRAJECTORIES_WRITE,
            path=WorkflowPath,
            headers=ChangeHeaders,
            body=ChangedWorkflow,
            answers={200: Workflow},
            problems=(problems.NOT_FOUND, problems.PRECONDITION_FAILED),
            answer_headers=TAGGED,
        )
    )
    async def patch(
        self, path: WorkflowPath, headers: ChangeHeaders, body: ChangedWorkflow
    ) -> None:
        with refusals(f"workflow {path.workflow_id}"):
            stored = await self.services.workflows.change(
                self.principal.organization_id, path.workflow_id, body, headers.versions
            )
        await record(self, "workflow.changed", path.workflow_id)
        self.set_header("ETag", version_tag(stored.version))
        self.answer(200, _view(stored))

    @endpoint(
        Endpoint(
            summary="Delete a workflow",
            description="Only one that no trajectory refers to.",
            scope=Scope.TRAJECTORIES_WRITE,
            path=WorkflowPath,
            headers=ChangeHeaders,
            answers={204: None},
            problems=(problems.NOT_FOUND, problems.IN_USE, problems.PRECONDITION_FAILED),
        )
    )
    async def delete(self, path: WorkflowPath, headers: ChangeHeaders) -> None:
        with refusals(f"workflow {path.workflow_id}"):
            await self.services.workflows.delete(
                self.principal.organization_id, path.workflow_id, headers.versions
            )
        await record(self, "workflow.deleted", path.workflow_id)
        self.answer(204)


def _view(stored: StoredWorkflow) -> Workflow:
    return Workflow(
        id=stored.id,
        name=stored.name,
        description=stored.description,
        created_at=stored.created_at,
        updated_at=stored.updated_at,
    )
