"""Trajectories: made, listed, read, and the latest of a workflow."""

import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from uuid import UUID

from pydantic import BaseModel
from tornado.iostream import StreamClosedError

from schemas import problems
from schemas.problems import ProblemError
from schemas.tokens import Scope
from schemas.trajectories import (
    ImportedTrajectory,
    IncludeQuery,
    LatestTrajectory,
    NewTrajectory,
    Trajectory,
    TrajectoryPage,
    TrajectoryQuery,
    TrajectoryWithIncluded,
)
from server.api.base import ApiHandler
from server.api.operation import Operation, operation
from server.store.errors import AlreadyExists, StoreError, TooLarge
from server.store.trajectories import render_trajectory
from server.store.trajectory_listing import TrajectoryListing

logger = logging.getLogger(__name__)

MAX_TRAJECTORY_BYTES = 15 * 1024 * 1024
"""What surely fits one document of the database, with everything around it."""

CHUNK_BYTES = 64 * 1024


class TrajectoryPath(BaseModel):
    """Names a trajectory."""

    trajectory_id: UUID


class WorkflowPath(BaseModel):
    """Names a workflow."""

    workflow_id: UUID


class TrajectoriesHandler(ApiHandler):
    @operation(
        Operation(
            summary="List trajectories",
            description="Newest first: by created_at, then by id.",
            scope=Scope.TRAJECTORIES_READ,
            query=TrajectoryQuery,
            answers={200: TrajectoryPage},
        )
    )
    async def get(self, query: TrajectoryQuery) -> None:
        listing = TrajectoryListing(self.services.database, self.principal.organization_id, query)
        total = await listing.total()
        self.set_header("Content-Type", "application/json")
        # A reader who goes away in the middle is nobody who could be told.
        with suppress(StreamClosedError):
            await self._stream(_page(listing, query, total))

    async def _stream(self, pieces: AsyncGenerator[bytes, None]) -> None:
        """Write pieces as they come, and wait whenever the reader is slower than the database."""
        waiting = 0
        async with aclosing(pieces) as stream:
            try:
                async for piece in stream:
                    self.write(piece)
                    waiting += len(piece)
                    if waiting >= CHUNK_BYTES:
                        await self.flush()
                        waiting = 0
            except StoreError:
                if not self._headers_written:
                    self.clear()
                    raise
                # Half a list must not look like a whole one: cut the answer off.
                logger.exception("request=%s a list broke off", self.request_id)
                self.request.connection.stream.close()  # type: ignore[union-attr]
                return
        self.finish()

    @operation(
        Operation(
            summary="Create a trajectory",
            description="id, created_at and updated_at are kept where given, as in an import.",
            scope=Scope.TRAJECTORIES_WRITE,
            body=ImportedTrajectory,
            answers={201: Trajectory},
            problems=(problems.CONFLICT,),
            max_body_bytes=MAX_TRAJECTORY_BYTES,
        )
    )
    async def post(self, body: NewTrajectory) -> None:
        try:
            stored = await self.services.trajectories.create(
                self.principal.organization_id, self.principal.user_id, body
            )
        except AlreadyExists:
            raise ProblemError(
                problems.CONFLICT, "there is a trajectory with this id already"
            ) from None
        except TooLarge as error:
            raise ProblemError(
                problems.TOO_LARGE, str(error), members={"max_bytes": MAX_TRAJECTORY_BYTES}
            ) from None
        self.set_header("Location", f"/v1/trajectories/{stored.id}")
        self.answer_bytes(201, render_trajectory(stored))


class TrajectoryHandler(ApiHandler):
    @operation(
        Operation(
            summary="Get a trajectory",
            scope=Scope.TRAJECTORIES_READ,
            path=TrajectoryPath,
            query=IncludeQuery,
            answers={200: TrajectoryWithIncluded},
            problems=(problems.NOT_FOUND,),
        )
    )
    async def get(self, path: TrajectoryPath, query: IncludeQuery) -> None:
        trajectories = self.services.trajectories
        stored = await trajectories.get(self.principal.organization_id, path.trajectory_id)
        if stored is None:
            raise ProblemError(problems.NOT_FOUND, f"there is no trajectory {path.trajectory_id}")
        included = await trajectories.included(stored) if query.include else None
        self.answer_bytes(200, render_trajectory(stored, included))


class LatestTrajectoryHandler(ApiHandler):
    @operation(
        Operation(
            summary="Get the latest trajectory of a workflow",
            description="The most recently updated one that is generated and has a step.",
            scope=Scope.TRAJECTORIES_READ,
            path=WorkflowPath,
            answers={200: LatestTrajectory},
            problems=(problems.NOT_FOUND,),
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
        self.answer_bytes(200, render_trajectory(stored))


async def _page(
    listing: TrajectoryListing, query: TrajectoryQuery, total: int
) -> AsyncGenerator[bytes, None]:
    """The JSON text of a page, piece by piece."""
    yield b'{"total":%d,"skip":%d,"limit":%d,"items":[' % (total, query.skip, query.limit)
    comma = b""
    async for item in listing.items():
        yield comma + item
        comma = b","
    included = await listing.included()
    if included is None:
        yield b"]}"
    else:
        yield b'],"included":[' + b",".join(included) + b"]}"
