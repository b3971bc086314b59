"""Lists over HTTP: every parameter of the specification's table, pages, what is included."""

from typing import Any
from urllib.parse import quote
from uuid import UUID, uuid4

import pytest
from tornado.simple_httpclient import HTTPStreamClosedError

from schemas.resources.trajectories import (
    IncludedResource,
    Trajectory,
    TrajectoryPage,
)
from server.errors import StoreUnavailable
from server.store.trajectories.listing import TrajectoryListing
from tests.server.api.trajectories.requests import made, names, patched
from tests.service import Service
from tests.trajectories import WORKFLOW

WORKFLOW_ID = str(WORKFLOW)
RUN = "22222222-2222-4222-8222-222222222222"
STEP = {"action": "click", "x": 1}


async def test_empty_list_has_the_defaults(service: Service) -> None:
    reply = await service.get("/v1/trajectories")
    assert reply.status == 200
    assert reply.headers["Content-Type"] == "application/json"
    assert reply.json == {"items": [], "total": 0, "skip": 0, "limit": 100}


async def test_list_is_newest_first_and_paged(service: Service) -> None:
    for day in (3, 1, 4, 2, 5):
        await made(service, name=str(day), created_at=f"2024-01-0{day}T00:00:00Z")
    assert await names(service) == ["5", "4", "3", "2", "1"]
    reply = await service.get("/v1/trajectories?skip=1&limit=2")
    page = TrajectoryPage.model_validate(reply.json)
    assert [item.name for item in page.items] == ["4", "3"]
    assert (page.total, page.skip, page.limit) == (5, 1, 2)
    assert await names(service, skip=5) == []


async def test_same_creation_time_is_ordered_by_id_downwards(service: Service) -> None:
    ids = sorted(str(UUID(int=number)) for number in (7, 3, 5))
    for each in ids:
        await made(service, id=each, created_at="2024-01-01T00:00:00Z")
    items = (await service.get("/v1/trajectories")).json["items"]
    assert [item["id"] for item in items] == ids[::-1]


async def test_list_items_are_trajectories_without_included(service: Service) -> None:
    body = await made(service, name="one")
    (item,) = (await service.get("/v1/trajectories?include=workflow")).json["items"]
    assert item == body
    Trajectory.model_validate(item)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({}, {"approved", "plain"}),
        ({"is_generated": "true"}, {"approved", "plain"}),
        ({"is_generated": "false"}, {"pending"}),
        ({"is_generated": "null"}, {"approved", "plain", "pending"}),
        ({"is_generated": ""}, {"approved", "plain", "pending"}),
        ({"is_approved": "true"}, {"approved"}),
        ({"is_approved": "false"}, {"plain"}),
        ({"is_approved": "null"}, {"approved", "plain"}),
        ({"review_state": "pending"}, {"pending"}),
        ({"review_state": "pending", "is_generated": "null"}, {"pending"}),
        ({"review_state": "open", "is_generated": "null"}, {"approved", "plain"}),
        ({"review_state": "open", "is_approved": "false"}, {"plain"}),
        ({"review_state": "null"}, {"approved", "plain"}),
        ({"review_state": "rejected"}, set()),
        ({"workflow_id": WORKFLOW_ID}, {"plain"}),
        ({"workflow_id": "null"}, {"approved", "plain"}),
        ({"workflow_id": WORKFLOW_ID.upper()}, {"plain"}),
        ({"workflow_id": str(uuid4())}, set()),
        ({"run_id": RUN}, {"approved"}),
        ({"run_id": ""}, {"approved", "plain"}),
        ({"machine_id": "desk-1"}, set()),
        ({"machine_id": "null"}, {"approved", "plain"}),
        ({"author_id": str(uuid4())}, set()),
        ({"author_id": "null"}, {"approved", "plain"}),
        ({"search": "PPROV"}, {"approved"}),
        ({"search": "described"}, {"plain"}),
        ({"search": "00000000-0000-4000-8000-00000000abc"}, {"plain"}),
        ({"search": "p"}, {"approved", "plain"}),
        ({"search": ".*"}, set()),
        ({"search": "null"}, {"approved", "plain"}),
        ({"created_at_from": "2024-01-02T00:00:00Z"}, {"plain"}),
        ({"created_at_from": "2024-01-01T00:00:00"}, {"approved", "plain"}),
        ({"created_at_to": "2024-01-01T00:00:00Z"}, {"approved"}),
        ({"created_at_to": "2023-12-31T23:59:59.999Z"}, set()),
        (
            {"created_at_from": "2024-01-01T02:00:00+02:00", "created_at_to": "2024-01-01"},
            {"approved"},
        ),
        ({"updated_at_from": "2024-02-01T00:00:00.001Z"}, {"plain"}),
        ({"updated_at_from": "2024-02-01T00:00:00.0005Z"}, {"plain"}),
        ({"updated_at_to": "2024-02-01T00:00:00.0005Z"}, {"approved"}),
        ({"updated_at_to": "2024-02-01T00:00:00Z"}, {"approved"}),
        ({"updated_at_from": "null", "updated_at_to": ""}, {"approved", "plain"}),
        ({"is_approved": "false", "search": "approved"}, set()),
    ],
)
async def test_filter_finds_what_it_says(
    service: Service, query: dict[str, str], expected: set[str]
) -> None:
    await made(
        service,
        name="approved",
        is_approved=True,
        workflow_id=str(uuid4()),
        run_id=RUN,
        created_at="2024-01-01T00:00:00Z",
        updated_at="2024-02-01T00:00:00Z",
    )
    await made(
        service,
        id="00000000-0000-4000-8000-00000000abcd",
        name="plain",
        description="Described",
        created_at="2024-01-02T00:00:00Z",
        updated_at="2024-03-01T00:00:00Z",
    )
    await made(service, name="pending", trajectory_data=None)
    found = await names(service, **query)
    assert set(found) == expected
    assert len(found) == len(expected)


@pytest.mark.parametrize(
    ("query", "loc", "kind"),
    [
        ("limit=0", ["query", "limit"], "greater_than_equal"),
        ("limit=1001", ["query", "limit"], "less_than_equal"),
        ("limit=ten", ["query", "limit"], "int_parsing"),
        ("limit=1.0", ["query", "limit"], "int_parsing"),
        ("limit=null", ["query", "limit"], "int_parsing"),
        ("limit=", ["query", "limit"], "int_parsing"),
        ("skip=-1", ["query", "skip"], "greater_than_equal"),
        ("skip=" + "9" * 30, ["query", "skip"], "less_than_equal"),
        ("is_approved=yes", ["query", "is_approved"], "bool_parsing"),
        ("is_generated=1", ["query", "is_generated"], "bool_parsing"),
        ("is_generated=True", ["query", "is_generated"], "bool_parsing"),
        ("review_state=done", ["query", "review_state"], "literal_error"),
        ("review_state=pending&is_generated=true", ["query"], "review_state_contradicted"),
        ("review_state=open&is_generated=false", ["query"], "review_state_contradicted"),
        ("workflow_id=w", ["query", "workflow_id"], "uuid_parsing"),
        ("run_id=7", ["query", "run_id"], "uuid_parsing"),
        ("author_id=Nora", ["query", "author_id"], "uuid_parsing"),
        ("machine_id=No%20id", ["query", "machine_id"], "string_pattern_mismatch"),
        ("created_at_from=1700000000", ["query", "created_at_from"], "datetime_parsing"),
        ("updated_at_to=2024-13-01", ["query", "updated_at_to"], "datetime_parsing"),
        ("include=run", ["query", "include"], "include_unknown"),
        ("include=workflow,run", ["query", "include"], "include_unknown"),
        ("order=name", ["query", "order"], "extra_forbidden"),
        ("sort=id", ["query", "sort"], "literal_error"),
        ("sort=name,created_at", ["query", "sort"], "literal_error"),
        ("sort=--name", ["query", "sort"], "literal_error"),
        ("sort=", ["query", "sort"], "literal_error"),
        ("steps=no", ["query", "steps"], "bool_parsing"),
        ("limit=5&limit=6", ["query", "limit"], "repeated"),
        ("search=a&search=a", ["query", "search"], "repeated"),
        ("search=%FF", ["query", "search"], "string_unicode"),
        ("search=" + "s" * 2001, ["query", "search"], "string_too_long"),
        (
            "created_at_from=2024-01-02&created_at_to=2024-01-01",
            ["query"],
            "range_reversed",
        ),
    ],
)
async def test_wrong_query_is_422_and_names_the_parameter(
    service: Service, query: str, loc: list[str], kind: str
) -> None:
    assert (await service.get(f"/v1/trajectories?{query}")).faults == [(loc, kind)]


async def test_wrong_order_is_told_what_would_be_right(service: Service) -> None:
    (entry,) = (await service.get("/v1/trajectories?sort=id")).json["detail"]
    assert entry["msg"] == (
        "Input should be 'created_at', '-created_at', 'updated_at', '-updated_at', "
        "'name' or '-name'"
    )


@pytest.mark.parametrize(
    ("sort", "expected"),
    [
        ("created_at", ["Zoë 2", None, "zoe 10", "apple", "Apple"]),
        ("updated_at", ["apple", "zoe 10", "Zoë 2", None, "Apple"]),
        ("name", ["apple", "Apple", "Zoë 2", "zoe 10", None]),
    ],
)
async def test_list_is_sorted_as_it_is_asked_for_both_ways(
    service: Service, sort: str, expected: list[str | None]
) -> None:
    names_and_days = [("Zoë 2", 3), (None, 4), ("zoe 10", 2), ("apple", 1), ("Apple", 4)]
    for created, (name, updated) in enumerate(names_and_days, 1):
        await made(
            service,
            name=name,
            created_at=f"2024-01-01T00:00:0{created}Z",
            updated_at=f"2024-02-0{updated}T00:00:00Z",
        )
    assert await names(service, sort=sort) == expected
    assert await names(service, sort=f"-{sort}") == expected[::-1]
    found = await names(service, sort=sort, skip=1, limit=3, workflow_id=WORKFLOW_ID)
    assert found == expected[1:4]
    # Few are merged by what they are sorted by as well.
    assert await names(service, sort=sort, search="PP") == [
        each for each in expected if each in ("apple", "Apple")
    ]


async def test_a_new_name_and_a_change_move_what_is_sorted_by_them(service: Service) -> None:
    time = "2024-01-01T00:00:00Z"
    first, second = [await made(service, name=name, created_at=time) for name in ("a", "b")]
    assert (await patched(service, f"/v1/trajectories/{first['id']}", {"name": "c"})).status == 200
    for sort in ("name", "updated_at"):
        assert await names(service, sort=sort) == ["b", "c"]
    await service.post(f"/v1/trajectories/{second['id']}/duplicate", {"name": "a 2"})
    assert await names(service, sort="name") == ["a 2", "b", "c"]


async def test_light_list_has_the_number_of_steps_in_their_place(service: Service) -> None:
    await made(service, name="none", trajectory_data=None)
    grown = await made(service, name="grown", trajectory_data=[STEP], is_generated=False)
    path = f"/v1/trajectories/{grown['id']}"
    # Too long for one document: the steps stand elsewhere then.
    for _ in range(3):
        await service.post(f"{path}/steps", {"steps": [{"text": "x" * 500_000}, STEP]})
    await service.post(f"{path}/duplicate", {"name": "copy"})
    await made(service, name="two", trajectory_data=[STEP, STEP])
    whole = (await service.get("/v1/trajectories?is_generated=null")).json
    light = (await service.get("/v1/trajectories?is_generated=null&steps=false")).json
    assert {item["name"]: item["step_count"] for item in light["items"]} == {
        "none": 0,
        "grown": 7,
        "copy": 7,
        "two": 2,
    }
    for item in whole["items"]:
        assert item["step_count"] == len(item["trajectory_data"] or ())
    expected = [{**item, "trajectory_data": None} for item in whole["items"]]
    assert light == {**whole, "items": expected}
    TrajectoryPage.model_validate(light)
    (found,) = (await service.get("/v1/trajectories?search=two&steps=false")).json["items"]
    assert (found["step_count"], found["trajectory_data"]) == (2, None)


@pytest.mark.parametrize("limit", [1, 1000])
async def test_bounds_of_limit_belong_to_it(service: Service, limit: int) -> None:
    assert (await service.get(f"/v1/trajectories?limit={limit}")).json["limit"] == limit


async def test_included_workflows_come_once_each(service: Service) -> None:
    workflow = (await service.post("/v1/workflows", {"name": "Pay a bill"})).json
    for _ in range(2):
        body = await made(service, workflow_id=workflow["id"])
    # Its workflow was never made here: there is nothing to include.
    await made(service)
    for query in ("include=workflow", "include=workflow,%20workflow"):
        page = (await service.get(f"/v1/trajectories?{query}")).json
        (included,) = page["included"]
        assert included["type"] == "workflow"
        assert included["id"] == workflow["id"]
        assert included["name"] == "Pay a bill"
        IncludedResource.model_validate(included)
    one = (await service.get(f"/v1/trajectories/{body['id']}?include=workflow")).json
    assert one["included"] == [included]


@pytest.mark.parametrize("include", ["null", ""])
async def test_no_include_is_no_included(service: Service, include: str) -> None:
    body = await made(service)
    assert "included" not in (await service.get(f"/v1/trajectories?include={include}")).json
    path = f"/v1/trajectories/{body['id']}?include={include}"
    assert "included" not in (await service.get(path)).json


async def test_list_longer_than_a_chunk_is_whole_json(service: Service) -> None:
    for number in range(6):
        await made(service, name=str(number), trajectory_data=[{"text": "ü" * 20_000}] * 2)
    reply = await service.get("/v1/trajectories")
    assert [item["name"] for item in reply.json["items"]] == ["5", "4", "3", "2", "1", "0"]


async def test_list_that_breaks_off_does_not_look_whole(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(3):
        await made(service, trajectory_data=[{"text": "x" * 100_000}])
    whole = TrajectoryListing.batches

    async def half(listing: TrajectoryListing) -> Any:
        async for batch in whole(listing):
            yield batch
            raise StoreUnavailable("The database does not answer.")

    monkeypatch.setattr(TrajectoryListing, "batches", half)
    with pytest.raises(HTTPStreamClosedError):
        await service.get("/v1/trajectories")


async def test_list_that_cannot_begin_is_503(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def none(_: TrajectoryListing) -> Any:
        raise StoreUnavailable("The database does not answer.")
        yield

    monkeypatch.setattr(TrajectoryListing, "batches", none)
    assert (await service.get("/v1/trajectories")).refusal == (503, "storage-unavailable")


async def test_search_is_percent_decoded_text(service: Service) -> None:
    await made(service, name="Grüße & + 100%")
    for text in ("GRÜSSE", "& +", "100%"):
        reply = await service.get(f"/v1/trajectories?search={quote(text)}")
        assert reply.json["total"] == 1, text


async def test_workflow_of_another_organization_is_not_included(service: Service) -> None:
    other = await service.elsewhere()
    workflow = (await other.post("/v1/workflows", {"name": "secret"})).json
    body = await made(service, workflow_id=workflow["id"])
    reply = await service.get(f"/v1/trajectories/{body['id']}?include=workflow")
    assert reply.json["included"] == []
    assert (await service.get("/v1/trajectories?include=workflow")).json["included"] == []
