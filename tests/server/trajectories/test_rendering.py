import json
from typing import Any
from uuid import UUID

import pytest

from schemas.resources.trajectories import IncludedResource, TrajectoryHead
from schemas.resources.workflows import NewWorkflow
from server.store.mongodb.database import Database
from server.store.mongodb.transactions import in_transaction
from server.store.trajectories.documents import Segment, StoredTrajectory
from server.store.trajectories.parts import PartStore
from server.trajectories import rendering as trajectory_rendering
from server.trajectories.creation import new_workflow
from server.trajectories.rendering import (
    render_head,
    render_included_workflow,
    render_trajectory,
    rendered_size,
    trajectory_chunks,
    trajectory_texts,
)
from tests.store import ORGANIZATION, collected
from tests.trajectories import NOW, as_listed, stored

INCLUDED = [b'{"type":"workflow"}', b"{}"]


@pytest.mark.parametrize(
    ("trajectory", "steps"),
    [
        (stored(), [{"n": 1}]),
        (stored(trajectory_data=None, step_count=0), None),
        (stored(trajectory_data=b"[]", step_count=0), []),
        (stored(trajectory_data=None, pieces=(b'{"m":2}',)), [{"m": 2}]),
        (stored(trajectory_data=b"[]", pieces=(b'{"m":2},{}',)), [{"m": 2}, {}]),
        (stored(pieces=(b'{"m":2}', b"{}")), [{"n": 1}, {"m": 2}, {}]),
    ],
)
@pytest.mark.parametrize("included", [None, [], INCLUDED])
async def test_chunks_and_the_whole_are_the_same_text_of_the_size_that_was_said(
    database: Database, trajectory: StoredTrajectory, steps: object, included: list[bytes] | None
) -> None:
    whole = render_trajectory(trajectory, included)
    chunks = await collected(trajectory_chunks(PartStore(database), trajectory, included))
    assert b"".join(chunks) == whole
    assert rendered_size(trajectory, included) == len(whole)
    answer = json.loads(whole)
    assert answer["trajectory_data"] == steps
    assert answer.get("included") == (included and [json.loads(one) for one in included])


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"name": '"Ä"\n', "description": "d", "trajectory_data": None, "is_generated": False},
        {"user_id": UUID(int=3), "run_id": UUID(int=4), "trajectory_data": b"[]"},
        {"pieces": (b'{"m":2}', b"{}"), "created_at": NOW.replace(microsecond=0)},
    ],
)
def test_trajectory_of_a_list_is_the_same_text(fields: dict[str, Any]) -> None:
    trajectory = stored(**fields)
    assert b"".join(trajectory_texts(as_listed(trajectory))) == render_trajectory(trajectory)


def test_trajectory_of_a_list_has_the_same_segments() -> None:
    segments = (Segment(UUID(int=1), 2, 3_000_000_000), Segment(UUID(int=2), 1, 7))
    found = as_listed(stored(segments=segments))
    assert (tuple(found.segments), found.organization_id) == (segments, ORGANIZATION)


async def appended(database: Database, number: int) -> Segment:
    """A segment with as many steps as its number."""
    parts, new = PartStore(database), Segment(UUID(int=number), 0, 0)
    steps = [b'{"segment":%d}' % number] * number
    return await in_transaction(
        database, lambda session: parts.append(session, ORGANIZATION, new, steps)
    )


@pytest.mark.parametrize("inline", [b"[]", b'[{"n":1}]'])
async def test_steps_of_segments_come_before_those_in_the_document(
    database: Database, inline: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trajectory_rendering, "CHUNK_BYTES", 2)
    segments = [await appended(database, number) for number in (1, 2)]
    trajectory = stored(trajectory_data=inline, segments=tuple(segments))
    text = b"".join(await collected(trajectory_chunks(PartStore(database), trajectory)))
    assert rendered_size(trajectory) == len(text)
    assert json.loads(text)["trajectory_data"] == [
        {"segment": 1},
        {"segment": 2},
        {"segment": 2},
        *json.loads(inline),
    ]
    with pytest.raises(ValueError, match="not all in its document"):
        render_trajectory(trajectory)


def test_head_lacks_the_steps_and_says_how_many_they_are() -> None:
    head = json.loads(render_head(stored(step_count=3)))
    assert "trajectory_data" not in head
    assert TrajectoryHead.model_validate(head).step_count == 3


def test_included_workflow_says_its_type_and_its_fields() -> None:
    made = new_workflow(ORGANIZATION, NewWorkflow(name='"Ä"\n', description=None))
    rendered = render_included_workflow(made)
    IncludedResource.model_validate_json(rendered)
    fields = json.loads(rendered)
    assert (fields["type"], fields["id"]) == ("workflow", str(made.id))
    assert (fields["name"], fields["description"]) == ('"Ä"\n', None)
    assert fields["created_at"].endswith("Z")
