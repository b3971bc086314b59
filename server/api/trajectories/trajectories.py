"""Trajectories: made, listed, read, changed, appended to, duplicated, deleted; and the latest."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from uuid import UUID

from pydantic import Field

from schemas.http import problems
from schemas.http.entity_tags import ChangeHeaders, ReadHeaders, version_tag
from schemas.http.preferences import return_preference
from schemas.http.problems import ProblemError
from schemas.resources.events import TrajectoryChanged, TrajectoryChangeName
from schemas.resources.tokens import Scope
from schemas.resources.trajectories import (
    MAX_TRAJECTORY_BYTES,
    MAX_TRAJECTORY_VALUES,
    ChangedTrajectory,
    Duplicate,
    ImportedTrajectory,
    IncludeQuery,
    LatestTrajectory,
    NewSteps,
    Trajectory,
    TrajectoryHead,
    TrajectoryPage,
    TrajectoryQuery,
    TrajectoryWithIncluded,
)
from server.api.trajectories.paths import TrajectoryPath, WorkflowPath
from server.store.errors import NotFound
from server.store.mongodb.database import Document
from server.store.mongodb.transactions import Session
from server.store.trajectories.documents import StoredTrajectory, new_trajectory
from server.store.trajectories.listing import TrajectoryListing
from server.store.trajectories.rendering import (
    render_head,
    render_trajectory,
    rendered_size,
    trajectory_pieces,
)
from server.store.workflows import render_included_workflow
from server.web.auditing import record
from server.web.changes import (
    REPLAYED,
    TAGGED,
    AppendHeaders,
    ChangingHandler,
    CreationHeaders,
    refusals,
)
from server.web.endpoint import Endpoint, endpoint
from server.web.streaming import CHUNK_BYTES, StreamingHandler


class PatchHeaders(ChangeHeaders):
    """Headers of a change of a trajectory, which can be long."""

    prefer: str | None = Field(
        None,
        alias="Prefer",
        max_length=1000,
        description="return=minimal answers 204 without a body (RFC 7240).",
    )


class AnsweringHandler(StreamingHandler, ChangingHandler):
    """A handler that answers with trajectories."""

    async def answer_trajectory(
        self, status: int, stored: StoredTrajectory, included: Sequence[bytes] | None = None
    ) -> None:
        """Send a trajectory; a long one as it comes from the database."""
        size = rendered_size(stored, included)
        if size <= CHUNK_BYTES and not stored.segments:
            self.answer_bytes(status, render_trajectory(stored, included))
            return
        self.set_status(status)
        self.set_header("Content-Type", "application/json")
        self.set_header("Content-Length", size)
        try:
            await self.stream(trajectory_pieces(self.services.database, stored, included))
        except NotFound as error:
            raise ProblemError(problems.NOT_FOUND, str(error)) from None

    async def changed(
        self, trajectory_id: UUID, change: TrajectoryChangeName, action: str = ""
    ) -> None:
        """Record a change and tell of it; that of an earlier request was recorded with that."""
        if self.is_replayed:
            return
        await record(self, f"trajectory.{action or change}", trajectory_id)
        told = TrajectoryChanged(id=trajectory_id, change=change)
        self.services.events.publish(self.principal.organization_id, "trajectory", told)

    def answer_head(self, status: int, result: Document) -> None:
        """Send a trajectory's head as it was after what was done."""
        self.set_header("ETag", result["tag"])
        self.set_header("Location", f"/v1/trajectories/{result['id']}")
        self.answer_bytes(status, result["head"])


class TrajectoriesHandler(AnsweringHandler):
    @endpoint(
        Endpoint(
            summary="List trajectories",
            description="Newest first: by created_at, then by id.",
            scope=Scope.TRAJECTORIES_READ,
            query=TrajectoryQuery,
            answers={200: TrajectoryPage},
        )
    )
    async def get(self, query: TrajectoryQuery) -> None:
        listing = await TrajectoryListing.open(
            self.services.database, self.principal.organization_id, query
        )
        self.set_header("Content-Type", "application/json")
        await self.stream(self._page(listing, query))

    async def _page(
        self, listing: TrajectoryListing, query: TrajectoryQuery
    ) -> AsyncGenerator[bytes, None]:
        """The JSON text of a page, piece by piece."""
        facts = (listing.total, query.skip, query.limit)
        yield b'{"total":%d,"skip":%d,"limit":%d,"items":[' % facts
        comma = b""
        async for trajectory in listing.trajectories():
            yield comma
            async for piece in trajectory_pieces(self.services.database, trajectory):
                yield piece
            comma = b","
        included = await listing.included()
        if included is None:
            yield b"]}"
        else:
            yield b'],"included":[' + b",".join(included) + b"]}"

    @endpoint(
        Endpoint(
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
    )
    async def post(self, headers: CreationHeaders, body: ImportedTrajectory) -> None:
        trajectories, principal = self.services.trajectories, self.principal
        with refusals("trajectory with this id", MAX_TRAJECTORY_BYTES):
            if headers.idempotency_key is None:
                stored = await trajectories.create(
                    principal.organization_id, principal.user_id, body
                )
            else:
                stored = await self._create_once(headers, body)
        await self.changed(stored.id, "created")
        self.set_header("Location", f"/v1/trajectories/{stored.id}")
        self.set_header("ETag", version_tag(stored.version))
        await self.answer_trajectory(201, stored)

    async def _create_once(
        self, headers: CreationHeaders, body: ImportedTrajectory
    ) -> StoredTrajectory:
        """The trajectory as it was made first under this key.

        The same request says the same again; what it does not say is in the key's record.
        """
        new = new_trajectory(self.principal.organization_id, self.principal.user_id, body)

        async def work(session: Session) -> Document:
            await self.services.trajectories.insert(new, session)
            return {
                name: getattr(new, name)
                for name in ("id", "user_id", "created_at", "updated_at", "version")
            }

        return replace(new, **await self.once(headers, body, work))


class TrajectoryHandler(AnsweringHandler):
    @endpoint(
        Endpoint(
            summary="Get a trajectory",
            description="With included resources the ETag names their version too.",
            scope=Scope.TRAJECTORIES_READ,
            path=TrajectoryPath,
            query=IncludeQuery,
            headers=ReadHeaders,
            answers={200: TrajectoryWithIncluded, 304: None},
            problems=(problems.NOT_FOUND,),
            answer_headers=TAGGED,
        )
    )
    async def get(self, path: TrajectoryPath, query: IncludeQuery, headers: ReadHeaders) -> None:
        trajectories = self.services.trajectories
        stored = await trajectories.get(self.principal.organization_id, path.trajectory_id)
        if stored is None:
            raise ProblemError(problems.NOT_FOUND, f"there is no trajectory {path.trajectory_id}")
        included, tag = None, version_tag(stored.version)
        if query.include:
            workflows = await trajectories.included(stored)
            included = [render_included_workflow(workflow) for workflow in workflows]
            tag = version_tag(stored.version, sum(workflow.version for workflow in workflows))
        self.set_header("ETag", tag)
        if headers.if_none_match is not None and headers.if_none_match.name(tag):
            self.answer(304)
            return
        await self.answer_trajectory(200, stored, included)

    @endpoint(
        Endpoint(
            summary="Change a trajectory",
            description="What is named changes, nothing else; null clears.  Only what has a step "
            "becomes generated, only what is generated becomes approved, and what is approved "
            "does not become pending, or other dimensions or original_input_values, before the "
            "approval is withdrawn.",
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
    )
    async def patch(
        self, path: TrajectoryPath, headers: PatchHeaders, body: ChangedTrajectory
    ) -> None:
        with refusals(f"trajectory {path.trajectory_id}", MAX_TRAJECTORY_BYTES):
            stored = await self.services.trajectories.change(
                self.principal.organization_id, path.trajectory_id, body, headers.versions
            )
        await self.changed(path.trajectory_id, "changed", _named(body))
        self.set_header("ETag", version_tag(stored.version))
        if preferred := return_preference(headers.prefer):
            self.set_header("Preference-Applied", f"return={preferred}")
        if preferred == "minimal":
            self.answer(204)
        else:
            await self.answer_trajectory(200, stored)

    @endpoint(
        Endpoint(
            summary="Delete a trajectory",
            scope=Scope.TRAJECTORIES_WRITE,
            path=TrajectoryPath,
            headers=ChangeHeaders,
            answers={204: None},
            problems=(problems.NOT_FOUND, problems.PRECONDITION_FAILED),
        )
    )
    async def delete(self, path: TrajectoryPath, headers: ChangeHeaders) -> None:
        with refusals(f"trajectory {path.trajectory_id}"):
            await self.services.trajectories.delete(
                self.principal.organization_id, path.trajectory_id, headers.versions
            )
        await self.changed(path.trajectory_id, "deleted")
        self.answer(204)


class StepsHandler(AnsweringHandler):
    @endpoint(
        Endpoint(
            summary="Append steps to a trajectory",
            description="Only while it is pending generation.  A trajectory grows to any size by "
            "this; the answer has how many steps there are now, not the steps.",
            scope=Scope.TRAJECTORIES_WRITE,
            path=TrajectoryPath,
            headers=AppendHeaders,
            body=NewSteps,
            answers={200: TrajectoryHead},
            problems=(problems.NOT_FOUND, problems.WRONG_STATE, problems.PRECONDITION_FAILED),
            max_body_bytes=MAX_TRAJECTORY_BYTES,
            max_body_values=MAX_TRAJECTORY_VALUES,
            answer_headers={**TAGGED, **REPLAYED},
        )
    )
    async def post(self, path: TrajectoryPath, headers: AppendHeaders, body: NewSteps) -> None:
        organization_id = self.principal.organization_id

        async def work(session: Session) -> Document:
            stored = await self.services.trajectories.append(
                session, organization_id, path.trajectory_id, body.steps, headers.versions
            )
            return _head_result(stored)

        with refusals(f"trajectory {path.trajectory_id}", MAX_TRAJECTORY_BYTES):
            result = await self.once(headers, body, work)
        await self.changed(path.trajectory_id, "changed", "extended")
        self.answer_head(200, result)


class DuplicateHandler(AnsweringHandler):
    @endpoint(
        Endpoint(
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
    )
    async def post(self, path: TrajectoryPath, headers: CreationHeaders, body: Duplicate) -> None:
        principal = self.principal

        async def work(session: Session) -> Document:
            stored = await self.services.trajectories.duplicate(
                session,
                principal.organization_id,
                principal.user_id,
                path.trajectory_id,
                body.name,
            )
            return _head_result(stored)

        with refusals(f"trajectory {path.trajectory_id}", MAX_TRAJECTORY_BYTES):
            result = await self.once(headers, body, work)
        await self.changed(result["id"], "created", "duplicated")
        self.answer_head(201, result)


class LatestTrajectoryHandler(AnsweringHandler):
    @endpoint(
        Endpoint(
            summary="Get the latest trajectory of a workflow",
            description="The most recently updated one that is generated and has a step.",
            scope=Scope.TRAJECTORIES_READ,
            path=WorkflowPath,
            answers={200: LatestTrajectory},
            problems=(problems.NOT_FOUND,),
            answer_headers=TAGGED,
        )
    )
    async def get(self, path: WorkflowPath) -> None:
        stored = await self.services.trajectories.latest(
            self.principal.organization_id, path.workflow_id
        )
        if stored is None:
            raise ProblemError(
                problems.NOT_FOUND,
                f"there is no generated trajectory with a step of a workflow {path.workflow_id}",
            )
        self.set_header("ETag", version_tag(stored.version))
        await self.answer_trajectory(200, stored)


def _head_result(stored: StoredTrajectory) -> Document:
    """What a key's record keeps of an answer with a head."""
    return {
        "id": stored.id,
        "tag": version_tag(stored.version),
        "head": render_head(stored, step_count=stored.step_count),
    }


def _named(change: ChangedTrajectory) -> str:
    """What the audit calls a change: an approval and its end by their names."""
    if "is_approved" not in change.model_fields_set:
        return "changed"
    return "approved" if change.is_approved else "approval_withdrawn"
