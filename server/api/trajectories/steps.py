"""The steps of a trajectory, one by one: read, appended or inserted, changed, removed."""

from collections.abc import Iterator
from contextlib import contextmanager

from pydantic import ValidationError

from schemas.http import problems
from schemas.http.problems import InvalidRequestError
from schemas.http.queries import PageQuery
from schemas.resources.tokens import Scope
from schemas.resources.trajectories import (
    MAX_TRAJECTORY_BYTES,
    MAX_TRAJECTORY_VALUES,
    NewSteps,
    TrajectoryHead,
)
from schemas.steps.changes import ChangedStep, StepPage, TrajectoryStep
from schemas.values.validation_errors import entries_of
from server.api.trajectories.answering import AnsweringHandler
from server.api.trajectories.paths import StepPath, TrajectoryPath
from server.web.changes import REPLAYED, TAGGED, AppendHeaders, refusals
from server.web.endpoint import Endpoint

CHANGES = (problems.NOT_FOUND, problems.WRONG_STATE, problems.PRECONDITION_FAILED)


class StepsHandler(AnsweringHandler):
    @Endpoint(
        summary="List the steps of a trajectory",
        description="In their order, each with its number and, where it cannot be run, why.  For "
        "all steps in one go there is the trajectory itself.",
        scope=Scope.TRAJECTORIES_READ,
        path=TrajectoryPath,
        query=PageQuery,
        answers={200: StepPage},
        problems=(problems.NOT_FOUND, problems.WRONG_STATE, problems.TOO_MANY_STREAMS),
        answer_headers=TAGGED,
    )
    async def get(self, path: TrajectoryPath, query: PageQuery) -> None:
        with refusals(f"trajectory {path.trajectory_id}"):
            tag, page = await self.services.library.steps.page(
                self.organization_id, path.trajectory_id, query
            )
        self.set_header("ETag", tag)
        self.set_header("Content-Type", "application/json")
        with _refusals(path):
            await self.stream(page)

    @Endpoint(
        summary="Append steps to a trajectory",
        description="Behind the others only while it is pending generation, and then a trajectory "
        "grows to any size by this; in front of a step (before) in every state, which ends an "
        "approval.  The answer has how many steps there are now, not the steps.",
        scope=Scope.TRAJECTORIES_WRITE,
        path=TrajectoryPath,
        headers=AppendHeaders,
        body=NewSteps,
        answers={200: TrajectoryHead},
        problems=CHANGES,
        max_body_bytes=MAX_TRAJECTORY_BYTES,
        max_body_values=MAX_TRAJECTORY_VALUES,
        answer_headers={**TAGGED, **REPLAYED},
    )
    async def post(self, path: TrajectoryPath, headers: AppendHeaders, body: NewSteps) -> None:
        library, request = self.services.library, self.keyed_request(headers, body)
        own, by, given = path.trajectory_id, self.editor, body.steps
        with _refusals(path):
            if body.before is None:
                head = await library.trajectories.append(
                    self.organization_id, by, own, given, headers.versions, request
                )
            else:
                head = await library.steps.insert(
                    self.organization_id, by, own, given, body.before, headers.versions, request
                )
        await self.answer_edit(head, "trajectory.extended")


class StepHandler(AnsweringHandler):
    @Endpoint(
        summary="Get a step of a trajectory",
        scope=Scope.TRAJECTORIES_READ,
        path=StepPath,
        answers={200: TrajectoryStep},
        problems=(problems.NOT_FOUND, problems.WRONG_STATE),
        answer_headers=TAGGED,
    )
    async def get(self, path: StepPath) -> None:
        with _refusals(path):
            tag, step = await self.services.library.steps.get(
                self.organization_id, path.trajectory_id, path.number
            )
        self.set_header("ETag", tag)
        self.answer_bytes(200, step)

    @Endpoint(
        summary="Change a step of a trajectory",
        description="What is named changes, nothing else; null takes it away.  The step has to be "
        "one that can run then.  An approval of the trajectory ends with it.  Send the ETag that "
        "the number was read with in If-Match: numbers move when steps come and go.",
        scope=Scope.TRAJECTORIES_WRITE,
        path=StepPath,
        headers=AppendHeaders,
        body=ChangedStep,
        answers={200: TrajectoryStep},
        problems=CHANGES,
        max_body_bytes=2 * 1024 * 1024,
        max_body_values=2000,
        answer_headers={**TAGGED, **REPLAYED},
    )
    async def patch(self, path: StepPath, headers: AppendHeaders, body: ChangedStep) -> None:
        with _refusals(path):
            step = await self.services.library.steps.change(
                self.organization_id,
                self.editor,
                path.trajectory_id,
                path.number,
                body,
                headers.versions,
                self.keyed_request(headers, body),
            )
        await self.answer_edit(step, "trajectory.edited", note=f"step {path.number}")

    @Endpoint(
        summary="Remove a step of a trajectory",
        description="An approval of the trajectory ends with it.  Without an Idempotency-Key or "
        "If-Match a second try would remove the next step.",
        scope=Scope.TRAJECTORIES_WRITE,
        path=StepPath,
        headers=AppendHeaders,
        answers={200: TrajectoryHead},
        problems=CHANGES,
        answer_headers={**TAGGED, **REPLAYED},
    )
    async def delete(self, path: StepPath, headers: AppendHeaders) -> None:
        with _refusals(path):
            head = await self.services.library.steps.remove(
                self.organization_id,
                self.editor,
                path.trajectory_id,
                path.number,
                headers.versions,
                self.keyed_request(headers, path),
            )
        await self.answer_edit(head, "trajectory.edited", note=f"step {path.number} removed")


@contextmanager
def _refusals(path: TrajectoryPath) -> Iterator[None]:
    """Turn what is refused about a trajectory, or a step of it, into problems."""
    try:
        with refusals(path.subject, MAX_TRAJECTORY_BYTES):
            yield
    except ValidationError as error:
        raise InvalidRequestError(entries_of(error.errors(), "body")) from None
