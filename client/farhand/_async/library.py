"""Trajectories, their workflows and their pictures."""

from collections.abc import AsyncIterator, Iterable, Mapping
from datetime import datetime
from typing import Any, Literal
from uuid import UUID, uuid4

from farhand._async.connection import AsyncConnection, Model, path_with
from farhand._async.lists import AsyncLists
from farhand.types import (
    Page,
    PictureOutlook,
    StoredPicture,
    Trajectory,
    TrajectoryHead,
    TrajectoryStep,
    TrajectoryWithIncluded,
    Workflow,
)

_PICTURE_TYPES = {b"\x89PNG": "image/png", b"\xff\xd8\xff": "image/jpeg"}


class AsyncTrajectories:
    """Recorded sequences of steps.

    The filters of a list are those of ``GET /v1/trajectories``: ``workflow_id``, ``run_id``,
    ``machine_id``, ``author_id`` (a user's or a token's), ``search``, ``is_approved``,
    ``is_generated`` (True unless given; None is both),
    ``review_state`` ("pending", "open", "approved", "rejected" or "withdrawn"),
    ``created_at_from`` and ``created_at_to``, ``updated_at_from`` and ``updated_at_to``, ``sort``,
    ``steps`` (False leaves them out).
    """

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection
        self._lists = AsyncLists(connection)

    def list(self, *, limit: int | None = None, **filters: Any) -> AsyncIterator[Trajectory]:
        """All that fit, or the first ``limit`` of them, newest first unless ``sort`` is given."""
        return self._lists.items(Trajectory, "/v1/trajectories", _asked(filters), limit)

    async def page(self, *, skip: int = 0, limit: int = 100, **filters: Any) -> Page[Trajectory]:
        """One part of the list, and how many there are in all."""
        return await self._lists.page(Trajectory, "/v1/trajectories", _asked(filters), skip, limit)

    async def get(
        self, trajectory_id: UUID | str, *, include: str | None = None
    ) -> TrajectoryWithIncluded:
        """A trajectory with its steps; ``include="workflow"`` has its workflow in ``included``."""
        path = path_with(_path(trajectory_id), {"include": include})
        return await self._connection.call(TrajectoryWithIncluded, "GET", path)

    async def latest(self, workflow_id: UUID | str) -> Trajectory:
        """The generated trajectory of a workflow that was changed last."""
        path = f"/v1/workflows/{workflow_id}/latest-trajectory"
        return await self._connection.call(Trajectory, "GET", path)

    async def create(
        self,
        workflow_id: UUID | str,
        steps: Iterable[Mapping[str, Any]] | None,
        *,
        dimensions: Mapping[str, Any],
        **fields: Any,
    ) -> Trajectory:
        """Store a trajectory; ``fields`` are ``name``, ``description``, ``run_id`` and the like."""
        body = {
            "workflow_id": str(workflow_id),
            "dimensions": dict(dimensions),
            "trajectory_data": None if steps is None else [*steps],
            **_told(fields),
        }
        return await self._connection.call(Trajectory, "POST", "/v1/trajectories", body)

    async def change(self, trajectory_id: UUID | str, **fields: Any) -> Trajectory:
        """Change what is named and nothing else: ``is_approved=True``, ``name=None``."""
        return await self._connection.call(
            Trajectory, "PATCH", _path(trajectory_id), _told(fields), is_repeatable=True
        )

    async def add_steps(
        self,
        trajectory_id: UUID | str,
        steps: Iterable[Mapping[str, Any]],
        *,
        before: int | None = None,
    ) -> TrajectoryHead:
        """Put steps behind those that are there, or in front of the one with the number ``before``.

        The second ends an approval, as all do that change the steps.
        """
        path = f"{_path(trajectory_id)}/steps"
        body = {"steps": [*steps], "before": before}
        return await self._once(TrajectoryHead, "POST", path, body)

    def steps(
        self, trajectory_id: UUID | str, *, limit: int | None = None
    ) -> AsyncIterator[TrajectoryStep]:
        """All steps, or the first ``limit``, each with its number and why it cannot run."""
        path = f"{_path(trajectory_id)}/steps"
        return self._lists.items(TrajectoryStep, path, {}, limit)

    async def step(self, trajectory_id: UUID | str, number: int) -> TrajectoryStep:
        """One step, by its number, which is counted from 1."""
        path = f"{_path(trajectory_id)}/steps/{number}"
        return await self._connection.call(TrajectoryStep, "GET", path)

    async def change_step(
        self, trajectory_id: UUID | str, number: int, **fields: Any
    ) -> TrajectoryStep:
        """Change what is named of a step and nothing else; None takes it away.

        ``parameter={"name": "order", "text": "4711"}`` makes a parameter of a part of its text,
        ``secret="password"`` takes the text out and puts a secret in its place.
        """
        path = f"{_path(trajectory_id)}/steps/{number}"
        return await self._once(TrajectoryStep, "PATCH", path, _told(fields))

    async def remove_step(self, trajectory_id: UUID | str, number: int) -> TrajectoryHead:
        """Take a step out; those behind it move up."""
        path = f"{_path(trajectory_id)}/steps/{number}"
        return await self._once(TrajectoryHead, "DELETE", path)

    async def review(
        self,
        trajectory_id: UUID | str,
        decision: Literal["approve", "reject", "withdraw"],
        *,
        content_hash: str,
        comment: str | None = None,
    ) -> TrajectoryHead:
        """Decide about a trajectory, as it was when its ``content_hash`` was read.

        Only what is approved so can be run, and only while nobody changes it.  Needs the scope
        ``trajectories:approve``; nobody approves what they made themselves.
        """
        body = {"decision": decision, "content_hash": content_hash, "comment": comment}
        path = f"{_path(trajectory_id)}/review"
        return await self._once(TrajectoryHead, "POST", path, body)

    async def _once(self, model: type[Model], method: str, path: str, body: Any = None) -> Model:
        """Send what is to be done once, such as taking a step out, however often it is tried."""
        reply = await self._connection.send(method, path, json=body, key=str(uuid4()))
        return self._connection.parsed(model, reply)

    async def duplicate(
        self, trajectory_id: UUID | str, *, name: str | None = None
    ) -> TrajectoryHead:
        """Store another one with the same steps, not approved."""
        path = f"{_path(trajectory_id)}/duplicate"
        return await self._connection.call(TrajectoryHead, "POST", path, {"name": name})

    async def delete(self, trajectory_id: UUID | str) -> None:
        """Delete a trajectory."""
        await self._connection.send("DELETE", _path(trajectory_id))


class AsyncWorkflows:
    """What trajectories are recordings of."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    def list(self, *, limit: int | None = None) -> AsyncIterator[Workflow]:
        """All, or the first ``limit``, newest first."""
        return AsyncLists(self._connection).items(Workflow, "/v1/workflows", {}, limit)

    async def get(self, workflow_id: UUID | str) -> Workflow:
        """One workflow."""
        return await self._connection.call(Workflow, "GET", f"/v1/workflows/{workflow_id}")

    async def create(
        self,
        name: str,
        *,
        description: str | None = None,
        input_schema: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> Workflow:
        """Make a workflow; ``input_schema`` says what values a run brings, by their names."""
        body = {"name": name, "description": description, "input_schema": input_schema}
        return await self._connection.call(Workflow, "POST", "/v1/workflows", body)

    async def change(self, workflow_id: UUID | str, **fields: Any) -> Workflow:
        """Change its ``name``, its ``description`` or its ``input_schema``."""
        path = f"/v1/workflows/{workflow_id}"
        return await self._connection.call(
            Workflow, "PATCH", path, _told(fields), is_repeatable=True
        )

    async def delete(self, workflow_id: UUID | str) -> None:
        """Delete a workflow that no trajectory belongs to."""
        await self._connection.send("DELETE", f"/v1/workflows/{workflow_id}")


class AsyncPictures:
    """Pictures that the steps of trajectories refer to."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    async def add(self, content: bytes) -> StoredPicture:
        """Keep a PNG or JPEG picture; the same bytes are kept once."""
        kinds = [kind for start, kind in _PICTURE_TYPES.items() if content.startswith(start)]
        if not kinds:
            raise ValueError("a picture is PNG or JPEG")
        reply = await self._connection.send(
            "POST",
            "/v1/pictures",
            content=content,
            headers={"Content-Type": kinds[0]},
            is_repeatable=True,
        )
        return self._connection.parsed(StoredPicture, reply)

    async def outlook(
        self, within: float = 7 * 86_400, *, skip: int = 0, limit: int = 100
    ) -> PictureOutlook:
        """How long pictures are kept, and the trajectories whose go within so many seconds."""
        asked = {"within": int(within), "skip": skip, "limit": limit}
        reply = await self._connection.send("GET", "/v1/pictures", query=asked)
        return self._connection.parsed(PictureOutlook, reply)

    async def get(self, picture_id: str) -> bytes:
        """A picture's bytes."""
        return (await self._connection.send("GET", f"/v1/pictures/{picture_id}")).body

    async def delete(self, picture_id: str) -> None:
        """Delete a picture that no step refers to."""
        await self._connection.send("DELETE", f"/v1/pictures/{picture_id}")


def _path(trajectory_id: UUID | str) -> str:
    return f"/v1/trajectories/{trajectory_id}"


def _asked(filters: Mapping[str, Any]) -> dict[str, Any]:
    """Filters as a query has them: None is asked for too, and is not the same as nothing."""
    return {name: "null" if value is None else value for name, value in _told(filters).items()}


def _told(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Fields as the API has them: ids and times as text."""
    return {
        name: value.isoformat()
        if isinstance(value, datetime)
        else str(value)
        if isinstance(value, UUID)
        else value
        for name, value in fields.items()
    }
