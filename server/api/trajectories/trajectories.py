"""Trajectories: made, listed, read, changed, duplicated, deleted; and the latest."""

from pydantic import Field

from schemas.http import problems
from schemas.http.entity_tags import ChangeHeaders, ReadHeaders
from schemas.http.preferences import return_preference
from schemas.http.problems import ProblemError
from schemas.resources.actions import Action
from schemas.resources.tokens import Scope
from schemas.resources.trajectories import (
    MAX_TRAJECTORY_BYTES,
    MAX_TRAJECTORY_VALUES,
    ChangedTrajectory,
    Duplicate,
    ImportedTrajectory,
    IncludeQuery,
    LatestTrajectory,
    Trajectory,
    TrajectoryHead,
    TrajectoryPage,
    TrajectoryQuery,
    TrajectoryWithIncluded,
)
from server.api.trajectories.answering import AnsweringHandler
from server.api.trajectories.paths import TrajectoryPath, WorkflowPath
from server.web.changes import (
    REPLAYED,
    TAGGED,
    CreationHeaders,
    refusals,
)
from server.web.endpoint import Endpoint


class PatchHeaders(ChangeHeaders):
    """Headers of a change of a trajectory, which can be long."""

    prefer: str | None = Field(
        None,
        alias="Prefer",
        max_length=1000,
        description="return=minimal answers 204 without a body (RFC 7240).",
    )


class TrajectoriesHandler(AnsweringHandler):
    @Endpoint(
        summary="List trajectories",
        description="Newest first, by created_at, then by id, unless sort says otherwise.",
        scope=Scope.TRAJECTORIES_READ,
        query=TrajectoryQuery,
        answers={200: TrajectoryPage},
        problems=(problems.TOO_MANY_STREAMS,),
    )
    async def get(self, query: TrajectoryQuery) -> None:
        within = await self.services.machines.reach.machines(self.principal)
        trajectories = self.services.library.trajectories
        page = await trajectories.list(self.organization_id, query, within)
        self.set_header("Content-Type", "application/json")
        await self.stream(page)

    @Endpoint(
        summary="Create a trajectory",
        description="id, created_at and updated_at are kept where given, as in an import.",
        scope=Scope.TRAJECTORIES_WRITE,
        headers=CreationHeaders,
        body=ImportedTrajectory,
        answers={201: Trajectory},
        problems=(problems.CONFLICT,),
        max_body_bytes=MAX_TRAJECTORY_BYTES,
        max_body_values=MAX_TRAJECTORY_VALUES,
        answer_headers={**TAGGED, **REPLAYED},
    )
    async def post(self, headers: CreationHeaders, body: ImportedTrajectory) -> None:
        with refusals("trajectory with this id", MAX_TRAJECTORY_BYTES):
            made, is_replayed = await self.services.library.trajectories.create(
                self.organization_id,
                self.editor,
                body,
                self.keyed_request(headers, body),
            )
        self.note_replay(is_replayed)
        await self.changed(made, "created", "trajectory.created")
        self.set_header("Location", f"/v1/trajectories/{made.id}")
        await self.answer_trajectory(201, made)


class TrajectoryHandler(AnsweringHandler):
    @Endpoint(
        summary="Get a trajectory",
        description="With included resources the ETag names their version too.",
        scope=Scope.TRAJECTORIES_READ,
        path=TrajectoryPath,
        query=IncludeQuery,
        headers=ReadHeaders,
        answers={200: TrajectoryWithIncluded, 304: None},
        problems=(problems.NOT_FOUND, problems.TOO_MANY_STREAMS),
        answer_headers=TAGGED,
    )
    async def get(self, path: TrajectoryPath, query: IncludeQuery, headers: ReadHeaders) -> None:
        found = await self.services.library.trajectories.get(
            self.organization_id,
            path.trajectory_id,
            with_workflow=bool(query.include),
        )
        if found is None:
            raise ProblemError(problems.NOT_FOUND, f"there is no {path.subject}")
        if headers.if_none_match is not None and headers.if_none_match.name(found.tag):
            self.set_header("ETag", found.tag)
            self.answer(304)
            return
        await self.answer_trajectory(200, found)

    @Endpoint(
        summary="Change a trajectory",
        description="What is named changes, nothing else; null clears.  Only what has a step "
        "becomes generated, only what is generated becomes approved, and what is approved "
        "does not become pending before the approval is withdrawn.  Other dimensions, "
        "original_input_values or another workflow_id end an approval; is_approved makes none "
        "that lets anything run.",
        scope=Scope.TRAJECTORIES_WRITE,
        path=TrajectoryPath,
        headers=PatchHeaders,
        body=ChangedTrajectory,
        answers={200: Trajectory, 204: None},
        problems=(problems.NOT_FOUND, problems.WRONG_STATE, problems.PRECONDITION_FAILED),
        max_body_bytes=MAX_TRAJECTORY_BYTES,
        max_body_values=MAX_TRAJECTORY_VALUES,
        answer_headers={
            **TAGGED,
            "Preference-Applied": "The preference of the Prefer header that was honoured.",
        },
    )
    async def patch(
        self, path: TrajectoryPath, headers: PatchHeaders, body: ChangedTrajectory
    ) -> None:
        with refusals(f"trajectory {path.trajectory_id}", MAX_TRAJECTORY_BYTES):
            after = await self.services.library.trajectories.change(
                self.organization_id, self.editor, path.trajectory_id, body, headers.versions
            )
        await self.changed(after, "changed", _action(body), has_withdrawn=after.has_withdrawn)
        if preferred := return_preference(headers.prefer):
            self.set_header("Preference-Applied", f"return={preferred}")
        if preferred == "minimal":
            self.set_header("ETag", after.tag)
            self.answer(204)
        else:
            await self.answer_trajectory(200, after)

    @Endpoint(
        summary="Delete a trajectory",
        scope=Scope.TRAJECTORIES_WRITE,
        path=TrajectoryPath,
        headers=ChangeHeaders,
        answers={204: None},
        problems=(problems.NOT_FOUND, problems.PRECONDITION_FAILED),
    )
    async def delete(self, path: TrajectoryPath, headers: ChangeHeaders) -> None:
        with refusals(f"trajectory {path.trajectory_id}"):
            deleted = await self.services.library.trajectories.delete(
                self.organization_id, path.trajectory_id, headers.versions
            )
        await self.changed(deleted, "deleted", "trajectory.deleted")
        self.answer(204)


class DuplicateHandler(AnsweringHandler):
    @Endpoint(
        summary="Duplicate a trajectory",
        description="The copy has an id and times of its own, belongs to the caller, and is "
        "not approved; the answer does not repeat the steps.",
        scope=Scope.TRAJECTORIES_WRITE,
        path=TrajectoryPath,
        headers=CreationHeaders,
        body=Duplicate,
        body_required=False,
        answers={201: TrajectoryHead},
        problems=(problems.NOT_FOUND,),
        answer_headers={**TAGGED, **REPLAYED},
    )
    async def post(self, path: TrajectoryPath, headers: CreationHeaders, body: Duplicate) -> None:
        with refusals(f"trajectory {path.trajectory_id}", MAX_TRAJECTORY_BYTES):
            head = await self.services.library.trajectories.duplicate(
                self.organization_id,
                self.editor,
                path.trajectory_id,
                body.name,
                self.keyed_request(headers, body),
            )
        self.note_replay(head.is_replayed)
        await self.changed(head, "created", "trajectory.duplicated")
        self.answer_head(201, head)


class LatestTrajectoryHandler(AnsweringHandler):
    @Endpoint(
        summary="Get the latest trajectory of a workflow",
        description="The most recently updated one that is generated and has a step.",
        scope=Scope.TRAJECTORIES_READ,
        path=WorkflowPath,
        answers={200: LatestTrajectory},
        problems=(problems.NOT_FOUND, problems.TOO_MANY_STREAMS),
        answer_headers=TAGGED,
    )
    async def get(self, path: WorkflowPath) -> None:
        within = await self.services.machines.reach.machines(self.principal)
        latest = await self.services.library.trajectories.latest(
            self.organization_id, path.workflow_id, within
        )
        if latest is None:
            raise ProblemError(
                problems.NOT_FOUND,
                f"there is no generated trajectory with a step of a workflow {path.workflow_id}",
            )
        await self.answer_trajectory(200, latest)


def _action(change: ChangedTrajectory) -> Action:
    """What the audit calls a change: that of the flag by its own name, as it is no review."""
    if "is_approved" not in change.model_fields_set:
        return "trajectory.changed"
    return "trajectory.marked_approved" if change.is_approved else "trajectory.marked_unapproved"
