"""Trajectories over HTTP: every parameter of the specification's tables, and the bodies."""

import json
from typing import Any
from urllib.parse import quote, urlencode
from uuid import UUID, uuid4

import pytest
from tornado.simple_httpclient import HTTPStreamClosedError

from schemas.resources.trajectories import (
    IncludedResource,
    LatestTrajectory,
    Trajectory,
    TrajectoryPage,
    TrajectoryWithIncluded,
)
from server.store.errors import StoreUnavailable
from server.store.trajectories.listing import TrajectoryListing
from tests.service import Reply, Service

WORKFLOW = "11111111-1111-4111-8111-111111111111"
RUN = "22222222-2222-4222-8222-222222222222"
STEP = {"action": "click", "x": 1}


def trajectory(**fields: Any) -> dict[str, Any]:
    return {
        "workflow_id": WORKFLOW,
        "dimensions": {"width": 1280, "height": 800},
        "trajectory_data": [STEP],
        **fields,
    }


async def made(service: Service, **fields: Any) -> dict[str, Any]:
    reply = await service.post("/v1/trajectories", trajectory(**fields))
    assert reply.status == 201, reply.body
    body: dict[str, Any] = reply.json
    return body


async def names(service: Service, **query: Any) -> list[str]:
    reply = await service.get("/v1/trajectories?" + urlencode(query))
    assert reply.status == 200, reply.body
    return [item["name"] for item in reply.json["items"]]


@pytest.mark.gen_test
async def test_created_trajectory_is_read_back_as_it_was_given(service: Service) -> None:
    given = trajectory(
        name="Überweisung",
        description="a\nb",
        run_id=RUN,
        original_input_values={"amount": 12345678901234567890, "$set": None, "a.b": [1.5]},
        dimensions={"width": 1280, "height": 800, "scale": 2},
        trajectory_data=[STEP, {}, {"nested": {"deep": [None, True]}}],
        is_approved=True,
    )
    reply = await service.post("/v1/trajectories", given)
    assert reply.status == 201
    body = reply.json
    assert reply.headers["Location"] == f"/v1/trajectories/{body['id']}"
    assert {name: body[name] for name in given} == given
    assert body["is_generated"] is True
    assert body["organization_id"] == str(service.organization_id)
    assert body["user_id"] is None
    assert body["created_at"] == body["updated_at"]
    read = await service.get(reply.headers["Location"])
    assert read.status == 200
    assert read.json == body
    TrajectoryWithIncluded.model_validate(read.json)
    assert "included" not in read.json


@pytest.mark.gen_test
async def test_trajectory_belongs_to_the_user_of_its_token(service: Service) -> None:
    user = str(uuid4())
    new = {"name": "of a person", "scopes": ["trajectories:write"], "user_id": user}
    token = (await service.post("/v1/tokens", new)).json["token"]
    reply = await service.post("/v1/trajectories", trajectory(), token=token)
    assert reply.json["user_id"] == user


@pytest.mark.parametrize(
    ("fields", "generated"),
    [
        ({}, True),
        ({"trajectory_data": []}, False),
        ({"trajectory_data": None}, False),
        ({"is_generated": False}, False),
        ({"trajectory_data": [], "is_generated": True}, True),
    ],
)
@pytest.mark.gen_test
async def test_trajectory_is_generated_with_a_step_unless_it_says(
    service: Service, fields: dict[str, Any], generated: bool
) -> None:
    assert (await made(service, **fields))["is_generated"] is generated


@pytest.mark.gen_test
async def test_given_id_and_times_are_kept(service: Service) -> None:
    given = {
        "id": str(uuid4()),
        "created_at": "2024-05-06T07:08:09.123Z",
        "updated_at": "2024-05-07T00:00:00.000Z",
    }
    body = await made(service, **given)
    assert {name: body[name] for name in given} == given
    again = await service.post("/v1/trajectories", trajectory(**given))
    assert (again.status, again.problem) == (409, "already-exists")


@pytest.mark.parametrize(
    ("fields", "loc", "kind"),
    [
        ({"workflow_id": None}, ["body", "workflow_id"], "uuid_type"),
        ({"dimensions": {"width": 1}}, ["body", "dimensions", "height"], "missing"),
        (
            {"dimensions": {"width": 0, "height": 1}},
            ["body", "dimensions", "width"],
            "greater_than",
        ),
        ({"trajectory_data": [1]}, ["body", "trajectory_data", "0"], "dict_type"),
        ({"trajectory_data": {}}, ["body", "trajectory_data"], "list_type"),
        ({"name": "n" * 256}, ["body", "name"], "string_too_long"),
        ({"is_approved": "true"}, ["body", "is_approved"], "bool_type"),
        ({"surplus": 1}, ["body", "surplus"], "extra_forbidden"),
        ({"created_at": "yesterday"}, ["body", "created_at"], "datetime_parsing"),
    ],
)
@pytest.mark.gen_test
async def test_wrong_trajectory_is_422_and_nothing_is_kept(
    service: Service, fields: dict[str, Any], loc: list[str], kind: str
) -> None:
    reply = await service.post("/v1/trajectories", trajectory(**fields))
    assert reply.faults == [(loc, kind)]
    assert (await service.get("/v1/trajectories?is_generated=null")).json["total"] == 0


@pytest.mark.gen_test
async def test_empty_list_has_the_defaults(service: Service) -> None:
    reply = await service.get("/v1/trajectories")
    assert reply.status == 200
    assert reply.headers["Content-Type"] == "application/json"
    assert reply.json == {"items": [], "total": 0, "skip": 0, "limit": 100}


@pytest.mark.gen_test
async def test_list_is_newest_first_and_paged(service: Service) -> None:
    for day in (3, 1, 4, 2, 5):
        await made(service, name=str(day), created_at=f"2024-01-0{day}T00:00:00Z")
    assert await names(service) == ["5", "4", "3", "2", "1"]
    reply = await service.get("/v1/trajectories?skip=1&limit=2")
    page = TrajectoryPage.model_validate(reply.json)
    assert [item.name for item in page.items] == ["4", "3"]
    assert (page.total, page.skip, page.limit) == (5, 1, 2)
    assert await names(service, skip=5) == []


@pytest.mark.gen_test
async def test_same_creation_time_is_ordered_by_id_downwards(service: Service) -> None:
    ids = sorted(str(UUID(int=number)) for number in (7, 3, 5))
    for each in ids:
        await made(service, id=each, created_at="2024-01-01T00:00:00Z")
    items = (await service.get("/v1/trajectories")).json["items"]
    assert [item["id"] for item in items] == ids[::-1]


@pytest.mark.gen_test
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
        ({"workflow_id": WORKFLOW}, {"plain"}),
        ({"workflow_id": "null"}, {"approved", "plain"}),
        ({"workflow_id": WORKFLOW.upper()}, {"plain"}),
        ({"workflow_id": str(uuid4())}, set()),
        ({"run_id": RUN}, {"approved"}),
        ({"run_id": ""}, {"approved", "plain"}),
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
@pytest.mark.gen_test
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
        ("workflow_id=w", ["query", "workflow_id"], "uuid_parsing"),
        ("run_id=7", ["query", "run_id"], "uuid_parsing"),
        ("created_at_from=1700000000", ["query", "created_at_from"], "datetime_parsing"),
        ("updated_at_to=2024-13-01", ["query", "updated_at_to"], "datetime_parsing"),
        ("include=run", ["query", "include"], "include_unknown"),
        ("include=workflow,run", ["query", "include"], "include_unknown"),
        ("sort=name", ["query", "sort"], "extra_forbidden"),
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
@pytest.mark.gen_test
async def test_wrong_query_is_422_and_names_the_parameter(
    service: Service, query: str, loc: list[str], kind: str
) -> None:
    assert (await service.get(f"/v1/trajectories?{query}")).faults == [(loc, kind)]


@pytest.mark.parametrize("limit", [1, 1000])
@pytest.mark.gen_test
async def test_bounds_of_limit_belong_to_it(service: Service, limit: int) -> None:
    assert (await service.get(f"/v1/trajectories?limit={limit}")).json["limit"] == limit


@pytest.mark.gen_test
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
@pytest.mark.gen_test
async def test_no_include_is_no_included(service: Service, include: str) -> None:
    body = await made(service)
    assert "included" not in (await service.get(f"/v1/trajectories?include={include}")).json
    path = f"/v1/trajectories/{body['id']}?include={include}"
    assert "included" not in (await service.get(path)).json


@pytest.mark.gen_test
async def test_list_longer_than_a_chunk_is_whole_json(service: Service) -> None:
    for number in range(6):
        await made(service, name=str(number), trajectory_data=[{"text": "ü" * 20_000}] * 2)
    reply = await service.get("/v1/trajectories")
    assert [item["name"] for item in reply.json["items"]] == ["5", "4", "3", "2", "1", "0"]


@pytest.mark.gen_test
async def test_list_that_breaks_off_does_not_look_whole(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(3):
        await made(service, trajectory_data=[{"text": "x" * 100_000}])
    whole = TrajectoryListing.trajectories

    async def half(listing: TrajectoryListing) -> Any:
        async for item in whole(listing):
            yield item
            raise StoreUnavailable("The database does not answer.")

    monkeypatch.setattr(TrajectoryListing, "trajectories", half)
    with pytest.raises(HTTPStreamClosedError):
        await service.get("/v1/trajectories")


@pytest.mark.gen_test
async def test_list_that_cannot_begin_is_503(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def none(_: TrajectoryListing) -> Any:
        raise StoreUnavailable("The database does not answer.")
        yield

    monkeypatch.setattr(TrajectoryListing, "trajectories", none)
    reply = await service.get("/v1/trajectories")
    assert (reply.status, reply.problem) == (503, "storage-unavailable")


def assert_unknown(reply: Reply) -> None:
    assert (reply.status, reply.problem) == (404, "not-found")


@pytest.mark.gen_test
async def test_unknown_trajectory_is_404(service: Service) -> None:
    assert_unknown(await service.get(f"/v1/trajectories/{uuid4()}"))


@pytest.mark.gen_test
async def test_path_that_is_no_uuid_is_422(service: Service) -> None:
    for path in ("/v1/trajectories/7", "/v1/workflows/x", "/v1/workflows/x/latest-trajectory"):
        ((loc, _),) = (await service.get(path)).faults
        assert loc[0] == "path"


@pytest.mark.gen_test
async def test_wrong_parameter_of_one_trajectory_is_422(service: Service) -> None:
    path = f"/v1/trajectories/{uuid4()}"
    reply = await service.get(f"{path}?include=machine")
    assert reply.faults == [(["query", "include"], "include_unknown")]
    reply = await service.get(f"{path}?limit=1")
    assert reply.faults == [(["query", "limit"], "extra_forbidden")]


@pytest.mark.gen_test
async def test_latest_is_the_most_recently_updated_generated_one_with_a_step(
    service: Service,
) -> None:
    path = f"/v1/workflows/{WORKFLOW}/latest-trajectory"
    assert_unknown(await service.get(path))
    await made(service, trajectory_data=None)
    await made(service, trajectory_data=[], is_generated=True)
    await made(service, is_generated=False)
    await made(service, workflow_id=str(uuid4()))
    assert_unknown(await service.get(path))
    times = {"created_at": "2024-01-01T00:00:00Z"}
    await made(service, name="older", updated_at="2024-02-01T00:00:00Z", **times)
    latest = await made(service, name="latest", updated_at="2024-02-02T00:00:00Z", **times)
    await made(service, name="new but not touched", created_at="2024-02-01T12:00:00Z")
    reply = await service.get(path)
    assert reply.status == 200
    assert reply.json == latest
    assert LatestTrajectory.model_validate(reply.json).trajectory_data == [STEP]


@pytest.mark.gen_test
async def test_latest_of_the_same_update_is_the_later_created_then_the_higher_id(
    service: Service,
) -> None:
    updated = "2024-02-01T00:00:00Z"
    low, high = sorted(str(uuid4()) for _ in range(2))
    await made(service, name="early", created_at="2024-01-01T00:00:00Z", updated_at=updated)
    for each in (high, low):
        await made(service, id=each, created_at="2024-01-02T00:00:00Z", updated_at=updated)
    reply = await service.get(f"/v1/workflows/{WORKFLOW}/latest-trajectory")
    assert reply.json["id"] == high


@pytest.mark.gen_test
async def test_organizations_do_not_see_each_others_trajectories(service: Service) -> None:
    other = await service.elsewhere()
    body = await made(service, name="ours")
    assert_unknown(await other.get(f"/v1/trajectories/{body['id']}"))
    assert_unknown(await other.get(f"/v1/workflows/{WORKFLOW}/latest-trajectory"))
    assert await names(other) == []
    assert await names(other, search="ours") == []
    assert await names(other, workflow_id=WORKFLOW) == []
    # Nor can one tell by trying whether an id is taken elsewhere.
    copied = await other.post("/v1/trajectories", trajectory(id=body["id"], name="theirs"))
    assert copied.status == 201
    assert await names(service) == ["ours"]
    assert await names(other) == ["theirs"]


@pytest.mark.gen_test
async def test_workflow_of_another_organization_is_not_included(service: Service) -> None:
    other = await service.elsewhere()
    workflow = (await other.post("/v1/workflows", {"name": "secret"})).json
    body = await made(service, workflow_id=workflow["id"])
    reply = await service.get(f"/v1/trajectories/{body['id']}?include=workflow")
    assert reply.json["included"] == []
    assert (await service.get("/v1/trajectories?include=workflow")).json["included"] == []


@pytest.mark.gen_test
async def test_reader_may_not_write(service: Service) -> None:
    new = {"name": "reader", "scopes": ["trajectories:read"]}
    token = (await service.post("/v1/tokens", new)).json["token"]
    assert (await service.post("/v1/trajectories", trajectory(), token=token)).status == 403
    assert (await service.get("/v1/trajectories", token=token)).status == 200


@pytest.mark.gen_test
async def test_large_trajectory_is_taken_and_a_too_large_one_refused(service: Service) -> None:
    step = {"text": "x" * 1_000_000}
    assert len((await made(service, trajectory_data=[step] * 2))["trajectory_data"]) == 2
    content = json.dumps(trajectory(trajectory_data=[step] * 16)).encode()
    reply = await service.post("/v1/trajectories", content=content)
    assert (reply.status, reply.problem) == (413, "body-too-large")
    assert reply.json["max_bytes"] == 15 * 1024 * 1024


@pytest.mark.gen_test
async def test_search_is_percent_decoded_text(service: Service) -> None:
    await made(service, name="Grüße & + 100%")
    for text in ("GRÜSSE", "& +", "100%"):
        reply = await service.get(f"/v1/trajectories?search={quote(text)}")
        assert reply.json["total"] == 1, text
