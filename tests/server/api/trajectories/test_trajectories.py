"""Trajectories over HTTP: made, read one by one, refused, and the latest of a workflow."""

import json
from typing import Any
from uuid import uuid4

import pytest

from schemas.resources.trajectories import (
    LatestTrajectory,
    TrajectoryWithIncluded,
)
from tests.server.api.trajectories.requests import made, names
from tests.service import Reply, Service
from tests.trajectories import WORKFLOW, sent

WORKFLOW_ID = str(WORKFLOW)
RUN = "22222222-2222-4222-8222-222222222222"
STEP = {"action": "click", "x": 1}


def assert_unknown(reply: Reply) -> None:
    assert (reply.status, reply.problem) == (404, "not-found")


async def test_created_trajectory_is_read_back_as_it_was_given(service: Service) -> None:
    given = sent(
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


async def test_trajectory_belongs_to_the_user_of_its_token(service: Service) -> None:
    user = str(uuid4())
    new = {"name": "of a person", "scopes": ["trajectories:write"], "user_id": user}
    token = (await service.post("/v1/tokens", new)).json["token"]
    reply = await service.post("/v1/trajectories", sent(), token=token)
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
async def test_trajectory_is_generated_with_a_step_unless_it_says(
    service: Service, fields: dict[str, Any], generated: bool
) -> None:
    assert (await made(service, **fields))["is_generated"] is generated


async def test_given_id_and_times_are_kept(service: Service) -> None:
    given = {
        "id": str(uuid4()),
        "created_at": "2024-05-06T07:08:09.123Z",
        "updated_at": "2024-05-07T00:00:00.000Z",
    }
    body = await made(service, **given)
    assert {name: body[name] for name in given} == given
    again = await service.post("/v1/trajectories", sent(**given))
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
async def test_wrong_trajectory_is_422_and_nothing_is_kept(
    service: Service, fields: dict[str, Any], loc: list[str], kind: str
) -> None:
    reply = await service.post("/v1/trajectories", sent(**fields))
    assert reply.faults == [(loc, kind)]
    assert (await service.get("/v1/trajectories?is_generated=null")).json["total"] == 0


async def test_unknown_trajectory_is_404(service: Service) -> None:
    assert_unknown(await service.get(f"/v1/trajectories/{uuid4()}"))


async def test_path_that_is_no_uuid_is_422(service: Service) -> None:
    for path in ("/v1/trajectories/7", "/v1/workflows/x", "/v1/workflows/x/latest-trajectory"):
        ((loc, _),) = (await service.get(path)).faults
        assert loc[0] == "path"


async def test_wrong_parameter_of_one_trajectory_is_422(service: Service) -> None:
    path = f"/v1/trajectories/{uuid4()}"
    reply = await service.get(f"{path}?include=machine")
    assert reply.faults == [(["query", "include"], "include_unknown")]
    reply = await service.get(f"{path}?limit=1")
    assert reply.faults == [(["query", "limit"], "extra_forbidden")]


async def test_latest_is_the_most_recently_updated_generated_one_with_a_step(
    service: Service,
) -> None:
    path = f"/v1/workflows/{WORKFLOW_ID}/latest-trajectory"
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


async def test_latest_of_the_same_update_is_the_later_created_then_the_higher_id(
    service: Service,
) -> None:
    updated = "2024-02-01T00:00:00Z"
    low, high = sorted(str(uuid4()) for _ in range(2))
    await made(service, name="early", created_at="2024-01-01T00:00:00Z", updated_at=updated)
    for each in (high, low):
        await made(service, id=each, created_at="2024-01-02T00:00:00Z", updated_at=updated)
    reply = await service.get(f"/v1/workflows/{WORKFLOW_ID}/latest-trajectory")
    assert reply.json["id"] == high


async def test_organizations_do_not_see_each_others_trajectories(service: Service) -> None:
    other = await service.elsewhere()
    body = await made(service, name="ours")
    assert_unknown(await other.get(f"/v1/trajectories/{body['id']}"))
    assert_unknown(await other.get(f"/v1/workflows/{WORKFLOW_ID}/latest-trajectory"))
    assert await names(other) == []
    assert await names(other, search="ours") == []
    assert await names(other, workflow_id=WORKFLOW_ID) == []
    # Nor can one tell by trying whether an id is taken elsewhere.
    assert (await other.post("/v1/trajectories", sent(id=body["id"], name="theirs"))).status == 201
    assert await names(service) == ["ours"]
    assert await names(other) == ["theirs"]


async def test_reader_may_not_write(service: Service) -> None:
    new = {"name": "reader", "scopes": ["trajectories:read"]}
    token = (await service.post("/v1/tokens", new)).json["token"]
    assert (await service.post("/v1/trajectories", sent(), token=token)).status == 403
    assert (await service.get("/v1/trajectories", token=token)).status == 200


async def test_large_trajectory_is_taken_and_a_too_large_one_refused(service: Service) -> None:
    step = {"text": "x" * 1_000_000}
    assert len((await made(service, trajectory_data=[step] * 2))["trajectory_data"]) == 2
    content = json.dumps(sent(trajectory_data=[step] * 16)).encode()
    reply = await service.post("/v1/trajectories", content=content)
    assert (reply.status, reply.problem) == (413, "body-too-large")
    assert reply.json["max_bytes"] == 15 * 1024 * 1024
