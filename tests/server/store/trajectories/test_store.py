import json
import tracemalloc
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from schemas.resources.trajectories import (
    ImportedTrajectory,
    LatestTrajectory,
    NewTrajectory,
    TrajectoryQuery,
    TrajectoryWithIncluded,
)
from schemas.resources.workflows import NewWorkflow
from server.store.errors import AlreadyExists, TooLarge
from server.store.mongodb.database import Database
from server.store.trajectories.listing import TrajectoryListing, trajectory_filter
from server.store.trajectories.rendering import render_trajectory
from server.store.trajectories.store import TrajectoryStore
from server.store.workflows import StoredWorkflow, WorkflowStore, render_included_workflow
from tests.store import ORGANIZATION, OTHER_ORGANIZATION, async_test, collected, opened, there

WORKFLOW = UUID("00000000-0000-4000-8000-00000000000c")
NOW = datetime(2024, 5, 6, 7, 8, 9, 123000, tzinfo=UTC)
ANY = TrajectoryQuery(is_generated=None)


def new(**changes: Any) -> ImportedTrajectory:
    body = {
        "workflow_id": str(WORKFLOW),
        "dimensions": {"width": 1920, "height": 1080},
        "trajectory_data": [{"action": "click"}],
        **changes,
    }
    return ImportedTrajectory.model_validate_json(json.dumps(body))


def rendered(workflows: Sequence[StoredWorkflow]) -> list[bytes]:
    return [render_included_workflow(workflow) for workflow in workflows]


def numbered(number: int) -> str:
    return str(UUID(int=number))


async def found(store: TrajectoryStore, *, of: UUID = ORGANIZATION, **query: str) -> list[str]:
    """The ids on one page, checked against the total where the page is whole."""
    listing = await TrajectoryListing.open(
        store._database, of, TrajectoryQuery.model_validate(query)
    )
    ids = [str(one.id) for one in await collected(listing.trajectories())]
    if not {"skip", "limit"} & set(query):
        assert listing.total == len(ids)
    return ids


@async_test
async def test_trajectory_comes_back_with_every_field(mongodb: str, database_name: str) -> None:
    async with opened(mongodb, database_name) as database:
        store, user = TrajectoryStore(database), uuid4()
        body = NewTrajectory.model_validate(
            {
                "workflow_id": WORKFLOW,
                "dimensions": {"height": 3, "width": 2, "scale": 1.0},
                "trajectory_data": [{"a": 1}, {}],
                "name": "n",
                "description": "d",
                "run_id": uuid4(),
                "original_input_values": {"k": None},
                "is_approved": True,
            }
        )
        made = await store.create(ORGANIZATION, user, body)
        assert await store.get(ORGANIZATION, made.id) == made
        assert await store.get(OTHER_ORGANIZATION, made.id) is None
        answer = json.loads(render_trajectory(made))
        TrajectoryWithIncluded.model_validate(answer)
        assert answer == {
            "id": str(made.id),
            "workflow_id": str(WORKFLOW),
            "is_approved": True,
            "is_generated": True,
            "dimensions": {"height": 3, "width": 2, "scale": 1.0},
            "created_at": answer["created_at"],
            "updated_at": answer["created_at"],
            "name": "n",
            "description": "d",
            "run_id": str(body.run_id),
            "user_id": str(user),
            "organization_id": str(ORGANIZATION),
            "trajectory_data": [{"a": 1}, {}],
            "original_input_values": {"k": None},
        }


@async_test
async def test_what_was_not_given_is_null_and_what_follows_from_it(
    mongodb: str, database_name: str
) -> None:
    async with opened(mongodb, database_name) as database:
        made = await TrajectoryStore(database).create(ORGANIZATION, None, new(trajectory_data=None))
        answer = json.loads(render_trajectory(made))
        for field in ("name", "description", "run_id", "user_id", "trajectory_data"):
            assert answer[field] is None
        assert answer["original_input_values"] == {}
        assert not answer["is_generated"]
        assert "included" not in answer


NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8) | st.sampled_from(
    ["$set", "a.b", "", "\0", "$", "_id", "__proto__"]
)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)
OBJECTS = st.dictionaries(TEXTS, VALUES, max_size=4)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(OBJECTS, max_size=3), inputs=OBJECTS)
@async_test
async def test_any_json_comes_back_exactly(
    mongodb: str, database_name: str, steps: list[Any], inputs: dict[str, Any]
) -> None:
    # Without the indexes, which are not the matter here: every example has a loop of its own.
    database = Database(mongodb, database_name)
    try:
        store = TrajectoryStore(database)
        made = await store.create(
            ORGANIZATION, None, new(trajectory_data=steps, original_input_values=inputs)
        )
        answer = json.loads(render_trajectory(there(await store.get(ORGANIZATION, made.id))))
        # As text: 1 and 1.0 and True are equal in Python, and the order of keys counts too.
        assert json.dumps(answer["trajectory_data"]) == json.dumps(steps)
        assert json.dumps(answer["original_input_values"]) == json.dumps(inputs)
    finally:
        database.close()


@async_test
async def test_imported_trajectory_keeps_its_id_and_times(mongodb: str, database_name: str) -> None:
    async with opened(mongodb, database_name) as database:
        store, same = TrajectoryStore(database), uuid4()
        line = new(
            id=str(same), created_at="2020-01-02T03:04:05.6789", updated_at="2021-01-01T00:00:00Z"
        )
        made = await store.create(ORGANIZATION, None, line)
        answer = json.loads(render_trajectory(made))
        assert answer["id"] == str(same)
        assert answer["created_at"] == "2020-01-02T03:04:05.678Z"
        assert answer["updated_at"] == "2021-01-01T00:00:00.000Z"
        with pytest.raises(AlreadyExists):
            await store.create(ORGANIZATION, None, line)
        await store.create(OTHER_ORGANIZATION, None, line)


@async_test
async def test_one_imported_time_stands_for_the_other(mongodb: str, database_name: str) -> None:
    async with opened(mongodb, database_name) as database:
        store = TrajectoryStore(database)
        created = await store.create(ORGANIZATION, None, new(created_at="2020-01-01"))
        assert created.updated_at == created.created_at == datetime(2020, 1, 1, tzinfo=UTC)
        updated = await store.create(ORGANIZATION, None, new(updated_at="2020-01-01"))
        assert updated.updated_at == updated.created_at == datetime(2020, 1, 1, tzinfo=UTC)
        ahead = await store.create(ORGANIZATION, None, new(updated_at="2999-01-01"))
        assert ahead.created_at < ahead.updated_at == datetime(2999, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize("beyond", [0, 20_000, 1_000_000])
@async_test
async def test_more_than_a_document_is_too_large(
    mongodb: str, database_name: str, beyond: int
) -> None:
    async with opened(mongodb, database_name) as database:
        store = TrajectoryStore(database)
        text = "x" * (16 * 1024 * 1024 - 100 + beyond)
        with pytest.raises(TooLarge):
            await store.create(ORGANIZATION, None, new(trajectory_data=[{"t": text}]))
        assert await found(store) == []


@async_test
async def test_almost_a_document_is_kept(mongodb: str, database_name: str) -> None:
    async with opened(mongodb, database_name) as database:
        store = TrajectoryStore(database)
        text = "x" * (16 * 1024 * 1024 - 4096)
        made = await store.create(ORGANIZATION, None, new(trajectory_data=[{"t": text}]))
        assert (await store.get(ORGANIZATION, made.id)) == made


@async_test
async def test_list_is_newest_first_then_by_id(mongodb: str, database_name: str) -> None:
    async with opened(mongodb, database_name) as database:
        store = TrajectoryStore(database)
        for number, day in ((1, "01"), (3, "02"), (2, "02"), (4, "01")):
            line = new(id=numbered(number), created_at=f"2024-01-{day}T00:00:00Z")
            await store.create(ORGANIZATION, None, line)
        expected = [numbered(number) for number in (3, 2, 4, 1)]
        assert await found(store) == expected
        assert await found(store, skip="1", limit="2") == expected[1:3]
        assert await found(store, skip=str(2**63 - 1)) == []
        assert await found(store, of=OTHER_ORGANIZATION) == []


@async_test
async def test_filters_take_what_they_say(mongodb: str, database_name: str) -> None:
    async with opened(mongodb, database_name) as database:
        store = TrajectoryStore(database)
        run = str(uuid4())
        lines = [
            new(id=numbered(1)),
            new(id=numbered(2), is_approved=True),
            new(id=numbered(3), trajectory_data=[]),
            new(id=numbered(4), workflow_id=str(uuid4()), run_id=run),
        ]
        for line in lines:
            await store.create(ORGANIZATION, None, line)

        async def numbers(**query: str) -> list[int]:
            return sorted(UUID(own).int for own in await found(store, of=ORGANIZATION, **query))

        assert await numbers() == [1, 2, 4]
        assert await numbers(is_generated="null") == [1, 2, 3, 4]
        assert await numbers(is_generated="false") == [3]
        assert await numbers(is_approved="true") == [2]
        assert await numbers(is_approved="false") == [1, 4]
        assert await numbers(workflow_id=str(WORKFLOW)) == [1, 2]
        assert await numbers(run_id=run) == [4]
        assert await numbers(run_id="null", workflow_id="") == [1, 2, 4]
        assert await numbers(run_id=run, is_approved="true") == []


@async_test
async def test_both_ends_of_a_range_belong_to_it(mongodb: str, database_name: str) -> None:
    async with opened(mongodb, database_name) as database:
        store = TrajectoryStore(database)
        own = numbered(1)
        line = new(
            id=own, created_at="2024-01-01T00:00:00.123Z", updated_at="2024-02-01T00:00:00.456Z"
        )
        await store.create(ORGANIZATION, None, line)

        assert await found(store, created_at_from="2024-01-01T00:00:00.123Z") == [own]
        assert await found(store, created_at_from="2024-01-01T00:00:00.1230001") == []
        assert await found(store, created_at_from="2024-01-01T00:00:00.124Z") == []
        assert await found(store, created_at_to="2024-01-01T00:00:00.123Z") == [own]
        assert await found(store, created_at_to="2024-01-01T00:00:00.1239") == [own]
        assert await found(store, created_at_to="2024-01-01T00:00:00.122999") == []
        assert await found(store, updated_at_from="2024-02-01T02:00:00.456 02:00") == [own]
        assert await found(store, updated_at_to="2024-01-31T23:59:59.999Z") == []
        assert await found(store, created_at_to="9999-12-31T23:59:59.999999Z") == [own]
        assert await found(store, created_at_from="9999-12-31T23:59:59.999999Z") == []


@pytest.mark.parametrize(
    ("field", "text", "search"),
    [
        ("name", "Monthly INVOICE run", "invoice"),
        ("name", "invoice", "INVOICE"),
        ("description", "a\nb", "a\nb"),
        ("description", "nul\0nul", "l\0n"),
        ("name", "Straße", "STRASSE"),
        ("name", "ÄÖÜ", "äöü"),
        ("name", "日本語テスト", "本語"),
        ("name", "🙂🙃", "🙃"),
        ("name", "100% (sure) [a-z]+ .* $where ^x$ \\d {2} a|b #c", "(sure) [a-z]+ .* $where ^x$"),
        ("name", "100% (sure) \\d {2} a|b #c", "\\d {2} a|b #c"),
        ("name", "a" * 255, "a" * 255),
        ("description", "é" * 3000, "é" * 2000),
        ("description", "'\"&/~`" * 300, "'\"&/~`" * 300),
        ("description", "\1" * 2000, "\1" * 2000),
    ],
)
@async_test
async def test_search_finds_a_substring_in_any_case(
    mongodb: str, database_name: str, field: str, text: str, search: str
) -> None:
    async with opened(mongodb, database_name) as database:
        store = TrajectoryStore(database)
        made = await store.create(ORGANIZATION, None, new(**{field: text}))
        assert await found(store, search=search) == [str(made.id)]


@pytest.mark.parametrize(
    "search", [".", ".*", "$", "^", "p|q", "[a-z]", "\\w", "(?i)P", "x{0}", "{", "(", "*", "qp"]
)
@async_test
async def test_search_takes_no_pattern(mongodb: str, database_name: str, search: str) -> None:
    async with opened(mongodb, database_name) as database:
        store = TrajectoryStore(database)
        await store.create(ORGANIZATION, None, new(name="pq", description="p\nq"))
        assert await found(store, search=search) == []


@async_test
async def test_search_does_not_reach_across_fields(mongodb: str, database_name: str) -> None:
    async with opened(mongodb, database_name) as database:
        store = TrajectoryStore(database)
        made = await store.create(ORGANIZATION, None, new(name="st", description="uv"))
        assert await found(store, search="tu") == []
        assert await found(store, search="t\0u") == []
        assert await found(store, search=str(made.id)[5:20].upper()) == [str(made.id)]
        assert await found(store, search=str(made.id).replace("-", "")) == []


@async_test
async def test_latest_is_the_most_recently_updated_generated_one_with_steps(
    mongodb: str, database_name: str
) -> None:
    async with opened(mongodb, database_name) as database:
        store = TrajectoryStore(database)
        assert await store.latest(ORGANIZATION, WORKFLOW) is None
        created = {"created_at": "2024-01-01T00:00:00Z"}
        lines = [
            new(updated_at="2024-01-09", trajectory_data=[], is_generated=True, **created),
            new(updated_at="2024-01-08", is_generated=False, **created),
            new(updated_at="2024-01-07", workflow_id=str(uuid4()), **created),
            new(updated_at="2024-01-03", created_at="2024-01-02"),
            new(updated_at="2024-01-03", id=numbered(1), created_at="2024-01-03"),
            new(updated_at="2024-01-03", id=numbered(2), created_at="2024-01-03"),
        ]
        for line in lines:
            await store.create(ORGANIZATION, None, line)
        latest = there(await store.latest(ORGANIZATION, WORKFLOW))
        assert str(latest.id) == numbered(2)
        LatestTrajectory.model_validate_json(render_trajectory(latest))
        assert await store.latest(OTHER_ORGANIZATION, WORKFLOW) is None


@async_test
async def test_included_workflows_come_once_in_order_of_first_mention(
    mongodb: str, database_name: str
) -> None:
    async with opened(mongodb, database_name) as database:
        store, workflows = TrajectoryStore(database), WorkflowStore(database)
        made = [await workflows.create(ORGANIZATION, NewWorkflow(name=name)) for name in "ab"]
        gone = uuid4()
        mentions = [made[1].id, gone, made[0].id, made[1].id]
        for age, workflow_id in enumerate(mentions):
            created = (NOW - timedelta(days=age)).isoformat()
            await store.create(
                ORGANIZATION, None, new(workflow_id=str(workflow_id), created_at=created)
            )
        listing = await TrajectoryListing.open(
            store._database, ORGANIZATION, TrajectoryQuery(include="workflow")
        )
        await collected(listing.trajectories())
        included = [json.loads(one) for one in there(await listing.included())]
        assert [one["id"] for one in included] == [str(made[1].id), str(made[0].id)]
        assert [one["name"] for one in included] == ["b", "a"]
        without = await TrajectoryListing.open(store._database, ORGANIZATION, ANY)
        assert await without.included() is None


@async_test
async def test_included_of_one_trajectory_is_part_of_its_answer(
    mongodb: str, database_name: str
) -> None:
    async with opened(mongodb, database_name) as database:
        store = TrajectoryStore(database)
        workflow = await WorkflowStore(database).create(ORGANIZATION, NewWorkflow(name="w"))
        made = await store.create(ORGANIZATION, None, new(workflow_id=str(workflow.id)))
        answer = render_trajectory(made, rendered(await store.included(made)))
        assert [one["name"] for one in json.loads(answer)["included"]] == ["w"]
        orphan = await store.create(ORGANIZATION, None, new())
        answer = render_trajectory(orphan, rendered(await store.included(orphan)))
        assert json.loads(answer)["included"] == []


@async_test
async def test_memory_does_not_grow_with_the_page(mongodb: str, database_name: str) -> None:
    megabyte = 1024 * 1024
    async with opened(mongodb, database_name) as database:
        store = TrajectoryStore(database)
        line = new(trajectory_data=[{"t": "x" * (4 * megabyte)}])
        for _ in range(24):
            await store.create(ORGANIZATION, None, line)
        del line
        tracemalloc.start()
        try:
            count = 0
            listing = await TrajectoryListing.open(store._database, ORGANIZATION, ANY)
            async for one in listing.trajectories():
                count += len(render_trajectory(one)) > 4 * megabyte
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert count == 24
        # All of them are 96 MiB; the server's batches end at 16 MiB.
        assert peak < 64 * megabyte


@pytest.mark.parametrize(
    ("query", "index"),
    [
        ({}, "newest_generated"),
        ({"is_generated": "null"}, "newest"),
        ({"is_generated": "null", "is_approved": "true"}, "newest_approved"),
        ({"is_generated": "null", "workflow_id": str(WORKFLOW)}, "newest_of_workflow"),
        ({"is_generated": "null", "run_id": str(WORKFLOW)}, "newest_of_run"),
    ],
)
@async_test
async def test_list_follows_an_index_and_sorts_nothing(
    mongodb: str, database_name: str, query: dict[str, str], index: str
) -> None:
    async with opened(mongodb, database_name) as database:
        await TrajectoryStore(database).create(ORGANIZATION, None, new())
        wanted = trajectory_filter(ORGANIZATION, TrajectoryQuery.model_validate(query))
        cursor = database.collection("trajectories").find(wanted)
        plan = await cursor.sort([("created_at", -1), ("_id", -1)]).hint(index).explain()
        winning = str(plan["queryPlanner"]["winningPlan"])
        assert "'SORT'" not in winning
        assert "COLLSCAN" not in winning
