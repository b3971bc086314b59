"""Lists, searches and exports: what each filter finds, in which order, on which index."""

import tracemalloc
from uuid import UUID, uuid4

import pytest

from schemas.resources.trajectories import ExportQuery, TrajectoryQuery
from server.store.mongodb.database import Database
from server.store.trajectories.listing import export_filter, trajectory_filter
from server.trajectories.rendering import render_trajectory
from tests.store import ORGANIZATION, OTHER_ORGANIZATION
from tests.trajectories import WORKFLOW, TrajectoryLibrary, imported, listed, numbered

ANY = TrajectoryQuery(is_generated=None)
AFTER = {"after_created_at": "2024-01-01T00:00:00Z", "after_id": str(UUID(int=1))}


async def found(library: TrajectoryLibrary, *, of: UUID = ORGANIZATION, **query: str) -> list[str]:
    """The ids on one page, checked against the total where the page is whole."""
    listing = await library.store.list(of, TrajectoryQuery.model_validate(query))
    ids = [one.fields["id"] for one in await listed(listing)]
    if not {"skip", "limit"} & set(query):
        assert listing.total == len(ids)
    return ids


async def test_list_is_newest_first_then_by_id(library: TrajectoryLibrary) -> None:
    for number, day in ((1, "01"), (3, "02"), (2, "02"), (4, "01")):
        line = imported(id=numbered(number), created_at=f"2024-01-{day}T00:00:00Z")
        await library.create(ORGANIZATION, None, line)
    expected = [numbered(number) for number in (3, 2, 4, 1)]
    assert await found(library) == expected
    assert await found(library, skip="1", limit="2") == expected[1:3]
    assert await found(library, skip=str(2**63 - 1)) == []
    assert await found(library, of=OTHER_ORGANIZATION) == []


async def test_filters_take_what_they_say(library: TrajectoryLibrary) -> None:
    run = str(uuid4())
    lines = [
        imported(id=numbered(1)),
        imported(id=numbered(2), is_approved=True),
        imported(id=numbered(3), trajectory_data=[]),
        imported(id=numbered(4), workflow_id=str(uuid4()), run_id=run),
    ]
    for line in lines:
        await library.create(ORGANIZATION, None, line)

    async def numbers(**query: str) -> list[int]:
        return sorted(UUID(own).int for own in await found(library, of=ORGANIZATION, **query))

    assert await numbers() == [1, 2, 4]
    assert await numbers(is_generated="null") == [1, 2, 3, 4]
    assert await numbers(is_generated="false") == [3]
    assert await numbers(is_approved="true") == [2]
    assert await numbers(is_approved="false") == [1, 4]
    assert await numbers(workflow_id=str(WORKFLOW)) == [1, 2]
    assert await numbers(run_id=run) == [4]
    assert await numbers(run_id="null", workflow_id="") == [1, 2, 4]
    assert await numbers(run_id=run, is_approved="true") == []


async def test_both_ends_of_a_range_belong_to_it(library: TrajectoryLibrary) -> None:
    own = numbered(1)
    line = imported(
        id=own, created_at="2024-01-01T00:00:00.123Z", updated_at="2024-02-01T00:00:00.456Z"
    )
    await library.create(ORGANIZATION, None, line)

    assert await found(library, created_at_from="2024-01-01T00:00:00.123Z") == [own]
    assert await found(library, created_at_from="2024-01-01T00:00:00.1230001") == []
    assert await found(library, created_at_from="2024-01-01T00:00:00.124Z") == []
    assert await found(library, created_at_to="2024-01-01T00:00:00.123Z") == [own]
    assert await found(library, created_at_to="2024-01-01T00:00:00.1239") == [own]
    assert await found(library, created_at_to="2024-01-01T00:00:00.122999") == []
    assert await found(library, updated_at_from="2024-02-01T02:00:00.456 02:00") == [own]
    assert await found(library, updated_at_to="2024-01-31T23:59:59.999Z") == []
    assert await found(library, created_at_to="9999-12-31T23:59:59.999999Z") == [own]
    assert await found(library, created_at_from="9999-12-31T23:59:59.999999Z") == []


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
async def test_search_finds_a_substring_in_any_case(
    library: TrajectoryLibrary, field: str, text: str, search: str
) -> None:
    made = await library.create(ORGANIZATION, None, imported(**{field: text}))
    assert await found(library, search=search) == [str(made.id)]


@pytest.mark.parametrize(
    "search", [".", ".*", "$", "^", "p|q", "[a-z]", "\\w", "(?i)P", "x{0}", "{", "(", "*", "qp"]
)
async def test_search_takes_no_pattern(library: TrajectoryLibrary, search: str) -> None:
    await library.create(ORGANIZATION, None, imported(name="pq", description="p\nq"))
    assert await found(library, search=search) == []


async def test_search_does_not_reach_across_fields(library: TrajectoryLibrary) -> None:
    made = await library.create(ORGANIZATION, None, imported(name="st", description="uv"))
    assert await found(library, search="tu") == []
    assert await found(library, search="t\0u") == []
    assert await found(library, search=str(made.id)[5:20].upper()) == [str(made.id)]
    assert await found(library, search=str(made.id).replace("-", "")) == []


async def test_memory_does_not_grow_with_the_page(library: TrajectoryLibrary) -> None:
    megabyte = 1024 * 1024
    line = imported(trajectory_data=[{"t": "x" * (4 * megabyte)}])
    for _ in range(24):
        await library.create(ORGANIZATION, None, line)
    del line
    tracemalloc.start()
    try:
        count = 0
        listing = await library.store.list(ORGANIZATION, ANY)
        async for batch in listing.batches():
            for one in batch:
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
        ({"review_state": "rejected"}, "newest_of_review"),
        ({"is_generated": "null", "run_id": str(WORKFLOW)}, "newest_of_run"),
        ({"machine_id": "desk-1"}, "newest_of_machine"),
        ({"author_id": str(WORKFLOW)}, "newest_of_author"),
    ],
)
async def test_list_follows_an_index_and_sorts_nothing(
    database: Database, query: dict[str, str], index: str
) -> None:
    await TrajectoryLibrary(database).create(ORGANIZATION, None, imported())
    wanted = trajectory_filter(ORGANIZATION, TrajectoryQuery.model_validate(query))
    cursor = database.collection("trajectories").find(wanted)
    plan = await cursor.sort([("created_at", -1), ("_id", -1)]).hint(index).explain()
    winning = str(plan["queryPlanner"]["winningPlan"])
    assert "'SORT'" not in winning
    assert "COLLSCAN" not in winning


@pytest.mark.parametrize("workflow", [{}, {"workflow_id": str(WORKFLOW)}])
@pytest.mark.parametrize("state", [{}, {"is_generated": "null"}, {"is_generated": "false"}])
@pytest.mark.parametrize("after", [{}, AFTER])
async def test_export_follows_an_index_and_sorts_nothing(
    database: Database, workflow: dict[str, str], state: dict[str, str], after: dict[str, str]
) -> None:
    query = ExportQuery.model_validate({**workflow, **state, **after})
    cursor = database.collection("trajectories").find(export_filter(ORGANIZATION, query))
    plan = await cursor.sort([("created_at", 1), ("_id", 1)]).explain()
    winning = str(plan["queryPlanner"]["winningPlan"])
    assert "'SORT'" not in winning
    assert "COLLSCAN" not in winning
