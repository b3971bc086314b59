from typing import Any
from uuid import uuid4

import pytest

from tests.service import Service
from tests.trajectories import sent


async def test_made_workflow_is_read_and_listed(service: Service) -> None:
    reply = await service.post("/v1/workflows", {"name": "Pay a bill", "description": "each month"})
    assert reply.status == 201
    body = reply.json
    assert reply.headers["Location"] == f"/v1/workflows/{body['id']}"
    assert (body["name"], body["description"]) == ("Pay a bill", "each month")
    assert (await service.get(reply.headers["Location"])).json == body
    page = (await service.get("/v1/workflows")).json
    assert page == {"items": [body], "total": 1, "skip": 0, "limit": 100}


async def test_workflows_are_listed_newest_first_in_pages(service: Service) -> None:
    made = [(await service.post("/v1/workflows", {"name": name})).json for name in "abc"]
    expected = sorted(made, key=lambda each: (each["created_at"], each["id"]), reverse=True)
    assert (await service.get("/v1/workflows")).json["items"] == expected
    page = (await service.get("/v1/workflows?skip=1&limit=1")).json
    assert (page["items"], page["total"]) == (expected[1:2], 3)


@pytest.mark.parametrize(
    ("body", "loc"),
    [
        ({}, ["body", "name"]),
        ({"name": ""}, ["body", "name"]),
        ({"name": "n" * 256}, ["body", "name"]),
        ({"name": 7}, ["body", "name"]),
        ({"name": "n", "steps": []}, ["body", "steps"]),
    ],
)
async def test_wrong_workflow_is_422(
    service: Service, body: dict[str, object], loc: list[str]
) -> None:
    ((place, _),) = (await service.post("/v1/workflows", body)).faults
    assert place == loc


async def test_unknown_workflow_and_another_organizations_are_404(service: Service) -> None:
    body = (await service.post("/v1/workflows", {"name": "ours"})).json
    other = await service.elsewhere()
    for workflow_id in (body["id"], uuid4()):
        assert (await other.get(f"/v1/workflows/{workflow_id}")).refusal == (404, "not-found")
    assert (await other.get("/v1/workflows")).json["total"] == 0


@pytest.mark.parametrize(
    "changes", [{"name": "new"}, {"description": "new"}, {"description": None}, {}]
)
async def test_what_is_named_changes_and_nothing_else(
    service: Service, changes: dict[str, object]
) -> None:
    before = await service.post("/v1/workflows", {"name": "n", "description": "d"})
    path = before.headers["Location"]
    reply = await service.request("PATCH", path, changes)
    assert reply.status == 200
    assert reply.json == {**before.json, "updated_at": reply.json["updated_at"], **changes}
    read = await service.get(path)
    assert (read.json, read.headers["ETag"]) == (reply.json, reply.headers["ETag"])
    assert reply.headers["ETag"] != before.headers["ETag"]


@pytest.mark.parametrize("body", [{"name": ""}, {"name": None}, {"id": "x"}, {"name": "n" * 256}])
async def test_wrong_change_is_422_and_changes_nothing(
    service: Service, body: dict[str, object]
) -> None:
    before = await service.post("/v1/workflows", {"name": "n"})
    path = before.headers["Location"]
    ((place, _),) = (await service.request("PATCH", path, body)).faults
    assert place == ["body", *body]
    assert (await service.get(path)).json == before.json


async def test_workflow_is_not_deleted_while_a_trajectory_refers_to_it(service: Service) -> None:
    workflow = await service.post("/v1/workflows", {"name": "n"})
    path = workflow.headers["Location"]
    made = await service.post("/v1/trajectories", sent(workflow_id=workflow.json["id"]))
    assert (await service.request("DELETE", path)).refusal == (409, "in-use")
    assert (await service.get(path)).json == workflow.json
    await service.request("DELETE", made.headers["Location"])
    reply = await service.request("DELETE", path)
    assert (reply.status, reply.body) == (204, b"")
    assert (await service.get(path)).status == 404
    assert (await service.request("DELETE", path)).status == 404


async def test_trajectories_of_others_keep_no_workflow_alive(service: Service) -> None:
    other = await service.elsewhere()
    workflow = await service.post("/v1/workflows", {"name": "n"})
    await other.post("/v1/trajectories", sent(workflow_id=workflow.json["id"]))
    path = workflow.headers["Location"]
    assert (await other.request("DELETE", path)).status == 404
    assert (await other.request("PATCH", path, {"name": "x"})).status == 404
    assert (await service.request("DELETE", path)).status == 204


@pytest.mark.parametrize("method", ["PATCH", "DELETE"])
async def test_if_match_lets_through_the_version_that_it_names_and_no_other(
    service: Service, method: str
) -> None:
    before = await service.post("/v1/workflows", {"name": "n"})
    path, tag = before.headers["Location"], before.headers["ETag"]
    body = {"name": "m"} if method == "PATCH" else None
    reply = await service.request(method, path, body, headers={"If-Match": '"7"'})
    assert (reply.status, reply.problem) == (412, "precondition-failed")
    reply = await service.request(method, path, body, headers={"If-Match": "7"})
    assert reply.faults == [(["header", "If-Match"], "entity_tag")]
    assert (await service.get(path, headers={"If-None-Match": tag})).status == 304
    reply = await service.request(method, path, body, headers={"If-Match": tag})
    assert reply.status in (200, 204)


async def test_workflow_says_what_values_a_run_brings(service: Service) -> None:
    schema = {f"value_{number}": {"example": "x"} for number in range(50)}
    made = await service.post("/v1/workflows", {"name": "w", "input_schema": schema})
    usual = {"type": "text", "description": None, "max_length": 255, "control_characters": False}
    assert made.json["input_schema"] == {name: {**usual, "example": "x"} for name in schema}
    path = f"/v1/workflows/{made.json['id']}"
    assert (await service.get(path)).json == made.json
    (listed,) = (await service.get("/v1/workflows")).json["items"]
    assert listed == made.json
    trajectory = await service.post("/v1/trajectories", sent(workflow_id=made.json["id"]))
    included = (
        await service.get(f"/v1/trajectories/{trajectory.json['id']}?include=workflow")
    ).json
    assert included["included"][0]["input_schema"] == made.json["input_schema"]
    named = await service.request("PATCH", path, {"name": "x"})
    assert named.json["input_schema"] == made.json["input_schema"]
    gone = await service.request("PATCH", path, {"input_schema": None})
    assert gone.json["input_schema"] is None


@pytest.mark.parametrize(
    ("schema", "place"),
    [
        ({"7": {}}, ["body", "input_schema", "7", "[key]"]),
        ({"a": {"type": "date"}}, ["body", "input_schema", "a", "type"]),
        ({"a": {"max_length": 0}}, ["body", "input_schema", "a", "max_length"]),
        ({"a": {"type": "integer", "example": "x"}}, ["body", "input_schema", "a"]),
        ({f"v{number}": {} for number in range(51)}, ["body", "input_schema"]),
    ],
)
async def test_wrong_input_schema_is_422(service: Service, schema: Any, place: list[str]) -> None:
    reply = await service.post("/v1/workflows", {"name": "w", "input_schema": schema})
    assert reply.faults[0][0] == place
