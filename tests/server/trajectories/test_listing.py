import json
from datetime import timedelta
from typing import Any
from uuid import uuid4

from schemas.resources.trajectories import TrajectoryPage, TrajectoryQuery
from tests.store import ORGANIZATION, collected
from tests.trajectories import NOW, TrajectoryLibrary, imported


async def page(library: TrajectoryLibrary, **query: str) -> Any:
    """A page's JSON."""
    asked = TrajectoryQuery.model_validate(query)
    text = b"".join(await collected(await library.trajectories.list(ORGANIZATION, asked)))
    TrajectoryPage.model_validate_json(text)
    return json.loads(text)


async def test_included_workflows_come_once_in_order_of_first_mention(
    library: TrajectoryLibrary,
) -> None:
    made = [await library.create_workflow(ORGANIZATION, name) for name in "ab"]
    gone = uuid4()
    mentions = [made[1].id, gone, made[0].id, made[1].id]
    for age, workflow_id in enumerate(mentions):
        created = (NOW - timedelta(days=age)).isoformat()
        line = imported(workflow_id=str(workflow_id), created_at=created)
        await library.create(ORGANIZATION, None, line)
    included = (await page(library, include="workflow"))["included"]
    assert [one["id"] for one in included] == [str(made[1].id), str(made[0].id)]
    assert [one["name"] for one in included] == ["b", "a"]
    assert "included" not in await page(library)


async def test_page_says_what_was_asked_for_and_how_many_there_are(
    library: TrajectoryLibrary,
) -> None:
    for number in range(3):
        await library.create(ORGANIZATION, None, imported(name=str(number)))
    found = await page(library, skip="1", limit="2")
    assert (found["total"], found["skip"], found["limit"]) == (3, 1, 2)
    assert len(found["items"]) == 2
    beyond = await page(library, skip="9", limit="2")
    assert beyond == {"total": 3, "skip": 9, "limit": 2, "items": []}
