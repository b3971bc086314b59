"""Trajectories as JSON text, put together by copying bytes, and as little at once as can be."""

from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from pydantic_core import to_json

from schemas.values.json_encoding import encode_json
from schemas.values.times import format_time
from server.store.trajectories.documents import ListedTrajectory, StoredTrajectory
from server.store.trajectories.parts import PartStore
from server.store.trajectories.reviews import OPEN_REVIEW, review_fields
from server.store.trajectories.workflows import StoredWorkflow

AnyTrajectory = StoredTrajectory | ListedTrajectory
"""Alone or in a list, the same trajectory is the same text."""

CHUNK_BYTES: Final = 256 * 1024
"""The most that is handed on at once, but for a part from the store, which may be larger."""

JOINED_BYTES: Final = 64 * 1024
"""Short trajectories are handed on together, up to so many bytes."""


def render_head(trajectory: StoredTrajectory) -> bytes:
    """The trajectory without its steps, as a JSON object."""
    return b"".join([*_head(trajectory, _fields(trajectory)), b"}"])


def render_trajectory(trajectory: AnyTrajectory, included: Sequence[bytes] | None = None) -> bytes:
    """The trajectory as a JSON object; with ``included``, rendered resources, where it is given.

    Only for one without segments; :func:`trajectory_chunks` is for all.
    """
    return b"".join(trajectory_texts(trajectory, included))


def trajectory_texts(
    trajectory: AnyTrajectory, included: Sequence[bytes] | None = None
) -> list[bytes | memoryview]:
    """The texts that :func:`render_trajectory` joins, uncopied."""
    if trajectory.segments:
        raise ValueError("the steps of this trajectory are not all in its document")
    texts: list[bytes | memoryview] = [*_beginning(trajectory)]
    for number, steps in enumerate(trajectory.inline_steps):
        texts += (b",", steps) if number else (steps,)
    texts.append(_end(trajectory, included))
    return texts


def joined(rows: Iterable[Sequence[bytes | memoryview]]) -> Iterator[bytes]:
    """The texts of all rows in chunks: short rows joined, the texts of long ones cut."""
    waiting: list[bytes | memoryview] = []
    left = JOINED_BYTES
    for row in rows:
        size = sum(map(len, row))
        if size > left and waiting:
            yield b"".join(waiting)
            waiting, left = [], JOINED_BYTES
        if size > CHUNK_BYTES:
            for text in row:
                yield from _chunks(text)
        else:
            waiting += row
            left -= size
    if waiting:
        yield b"".join(waiting)


async def trajectory_chunks(
    parts: PartStore, trajectory: AnyTrajectory, included: Sequence[bytes] | None = None
) -> AsyncGenerator[bytes, None]:
    """The same text as :func:`render_trajectory`, of any trajectory, chunk by chunk.

    It is the text of the version that was read: steps appended meanwhile are not in it.  Raises
    NotFound in the middle where the trajectory is deleted meanwhile.
    """
    if not trajectory.segments:
        for chunk in joined([trajectory_texts(trajectory, included)]):
            yield chunk
        return
    for text in _beginning(trajectory):
        for chunk in _chunks(text):
            yield chunk
    async for chunk in step_chunks(parts, trajectory):
        yield chunk
    yield _end(trajectory, included)


async def line_chunks(
    parts: PartStore, trajectory: StoredTrajectory
) -> AsyncGenerator[bytes, None]:
    """The trajectory as a line of an export, which an import takes; its steps come last.

    The line says what is true wherever it is imported, so not to whom the trajectory belongs.
    """
    for text in [*_head(trajectory, _portable_fields(trajectory)), _opened(trajectory)]:
        for chunk in _chunks(text):
            yield chunk
    async for chunk in step_chunks(parts, trajectory):
        yield chunk
    yield _end(trajectory, None) + b"\n"


async def step_chunks(parts: PartStore, trajectory: AnyTrajectory) -> AsyncGenerator[bytes, None]:
    """The text of the steps, without the brackets around them."""
    comma = b""
    for segment in trajectory.segments:
        if comma:
            yield comma
        async for part in parts.read(trajectory.organization_id, segment):
            yield part
        comma = b","
    for text in trajectory.inline_steps:
        if comma:
            yield comma
        for chunk in _chunks(text):
            yield chunk
        comma = b","


def rendered_size(trajectory: StoredTrajectory, included: Sequence[bytes] | None = None) -> int:
    """How many bytes :func:`trajectory_chunks` gives in all."""
    texts = [segment.size for segment in trajectory.segments]
    texts += map(len, trajectory.inline_steps)
    commas = max(len(texts) - 1, 0)
    texts += [commas, *map(len, _beginning(trajectory)), len(_end(trajectory, included))]
    return sum(texts)


def has_steps_text(trajectory: AnyTrajectory) -> bool:
    """Whether its steps are an array in JSON; otherwise they are null."""
    return bool(trajectory.trajectory_data is not None or trajectory.segments or trajectory.pieces)


def _chunks(text: bytes | memoryview) -> Iterator[bytes]:
    view = memoryview(text)
    return (bytes(view[start : start + CHUNK_BYTES]) for start in range(0, len(view), CHUNK_BYTES))


def _head(trajectory: AnyTrajectory, fields: Mapping[str, Any]) -> list[bytes]:
    """The texts of a JSON object of the fields and the free-form parts, without its last brace."""
    return [
        to_json(fields)[:-1],
        b',"dimensions":',
        trajectory.dimensions,
        b',"original_input_values":',
        trajectory.original_input_values,
    ]


def _portable_fields(trajectory: StoredTrajectory) -> dict[str, Any]:
    """What is true of a trajectory wherever it is imported."""
    return {
        "id": trajectory.id,
        "workflow_id": trajectory.workflow_id,
        "is_approved": trajectory.is_approved,
        "has_been_approved": trajectory.has_been_approved,
        "is_generated": trajectory.is_generated,
        "is_main": trajectory.is_main,
        "created_at": format_time(trajectory.created_at),
        "updated_at": format_time(trajectory.updated_at),
        "name": trajectory.name,
        "description": trajectory.description,
        "run_id": trajectory.run_id,
        "content_hash": trajectory.content_hash and trajectory.content_hash.hex(),
        "review": review_fields(_review_document(trajectory), str, format_time),
    }


def _review_document(trajectory: StoredTrajectory) -> dict[str, Any] | None:
    return None if trajectory.review == OPEN_REVIEW else trajectory.review.document()


def _fields(trajectory: AnyTrajectory) -> dict[str, Any]:
    """The portable fields, to whom the trajectory belongs here, and how many steps it has."""
    if isinstance(trajectory, ListedTrajectory):
        return trajectory.fields
    return {
        **_portable_fields(trajectory),
        "user_id": trajectory.user_id,
        "organization_id": trajectory.organization_id,
        "machine_id": trajectory.machine_id,
        "pictures_until": trajectory.pictures_until and format_time(trajectory.pictures_until),
        "pictures_expired_at": trajectory.pictures_expired_at
        and format_time(trajectory.pictures_expired_at),
        "step_count": trajectory.step_count,
    }


def _beginning(trajectory: AnyTrajectory) -> list[bytes]:
    return [*_head(trajectory, _fields(trajectory)), _opened(trajectory)]


def _opened(trajectory: AnyTrajectory) -> bytes:
    return b',"trajectory_data":' + (b"[" if has_steps_text(trajectory) else b"null")


def _end(trajectory: AnyTrajectory, included: Sequence[bytes] | None) -> bytes:
    end = b"]" if has_steps_text(trajectory) else b""
    if included is None:
        return end + b"}"
    return b"".join([end, b',"included":[', b",".join(included), b"]}"])


def render_included_workflow(workflow: StoredWorkflow) -> bytes:
    """The workflow as one IncludedResource, in JSON."""
    return encode_json(
        {
            "type": "workflow",
            "id": str(workflow.id),
            "name": workflow.name,
            "description": workflow.description,
            "input_schema": workflow.input_schema,
            "created_at": format_time(workflow.created_at),
            "updated_at": format_time(workflow.updated_at),
        }
    )
