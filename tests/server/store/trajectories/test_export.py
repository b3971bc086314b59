from uuid import UUID

import pytest

from schemas.resources.trajectories import ExportQuery
from server.store.trajectories.export import export_filter, exported_pieces
from server.store.trajectories.store import TrajectoryStore
from tests.store import ORGANIZATION, OTHER_ORGANIZATION, async_test, collected, opened
from tests.trajectories import WORKFLOW, imported

AFTER = {"after_created_at": "2024-01-01T00:00:00Z", "after_id": str(UUID(int=1))}


@pytest.mark.parametrize("workflow", [{}, {"workflow_id": str(WORKFLOW)}])
@pytest.mark.parametrize("state", [{}, {"is_generated": "null"}, {"is_generated": "false"}])
@pytest.mark.parametrize("after", [{}, AFTER])
@async_test
async def test_export_follows_an_index_and_sorts_nothing(
    mongodb: str,
    database_name: str,
    workflow: dict[str, str],
    state: dict[str, str],
    after: dict[str, str],
) -> None:
    async with opened(mongodb, database_name) as database:
        query = ExportQuery.model_validate({**workflow, **state, **after})
        cursor = database.collection("trajectories").find(export_filter(ORGANIZATION, query))
        plan = await cursor.sort([("created_at", 1), ("_id", 1)]).explain()
        winning = str(plan["queryPlanner"]["winningPlan"])
        assert "'SORT'" not in winning
        assert "COLLSCAN" not in winning


@async_test
async def test_export_is_of_one_organization(mongodb: str, database_name: str) -> None:
    async with opened(mongodb, database_name) as database:
        store = TrajectoryStore(database)
        for organization, name in ((ORGANIZATION, "ours"), (OTHER_ORGANIZATION, "theirs")):
            await store.create(organization, None, imported(name=name))
        text = b"".join(await collected(exported_pieces(database, ORGANIZATION, ExportQuery())))
        assert text.count(b"\n") == 1
        assert b'"ours"' in text
