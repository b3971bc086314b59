"""Workflows: what trajectories are recordings of."""

from schemas import problems
from schemas.problems import ProblemError
from schemas.queries import PageQuery
from schemas.tokens import Scope
from schemas.workflows import NewWorkflow, Workflow, WorkflowPage
from server.api.base import ApiHandler
from server.api.operation import Operation, operation
from server.api.trajectories import WorkflowPath
from server.store.workflows import StoredWorkflow


class WorkflowsHandler(ApiHandler):
    @operation(
        Operation(
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

    @operation(
        Operation(
            summary="Create a workflow",
            scope=Scope.TRAJECTORIES_WRITE,
            body=NewWorkflow,
            answers={201: Workflow},
        )
    )
    async def post(self, body: NewWorkflow) -> None:
        stored = await self.services.workflows.create(self.principal.organization_id, body)
        self.set_header("Location", f"/v1/workflows/{stored.id}")
        self.answer(201, _view(stored))


class WorkflowHandler(ApiHandler):
    @operation(
        Operation(
            summary="Get a workflow",
            scope=Scope.TRAJECTORIES_READ,
            path=WorkflowPath,
            answers={200: Workflow},
            problems=(problems.NOT_FOUND,),
        )
    )
    async def get(self, path: WorkflowPath) -> None:
        stored = await self.services.workflows.get(self.principal.organization_id, path.workflow_id)
        if stored is None:
            raise ProblemError(problems.NOT_FOUND, f"there is no workflow {path.workflow_id}")
        self.answer(200, _view(stored))


def _view(stored: StoredWorkflow) -> Workflow:
    return Workflow(
        id=stored.id,
        name=stored.name,
        description=stored.description,
        created_at=stored.created_at,
        updated_at=stored.updated_at,
    )
