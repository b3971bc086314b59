from uuid import uuid4

import pytest

from tests.service import Service


@pytest.mark.gen_test
async def test_made_workflow_is_read_and_listed(service: Service) -> None:
    reply = await service.post("/v1/workflows", {"name": "Pay a bill", "description": "each month"})
    assert reply.status == 201
    body = reply.json
    assert reply.headers["Location"] == f"/v1/workflows/{body['id']}"
    assert (body["name"], body["description"]) == ("Pay a bill", "each month")
    assert (await service.get(reply.headers["Location"])).json == body
    page = (await service.get("/v1/workflows")).json
    assert page == {"items": [body], "total": 1, "skip": 0, "limit": 100}


@pytest.mark.gen_test
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
@pytest.mark.gen_test
async def test_wrong_workflow_is_422(
    service: Service, body: dict[str, object], loc: list[str]
) -> None:
    ((place, _),) = (await service.post("/v1/workflows", body)).faults
    assert place == loc


@pytest.mark.gen_test
async def test_unknown_workflow_and_another_organizations_are_404(service: Service) -> None:
    body = (await service.post("/v1/workflows", {"name": "ours"})).json
    other = await service.elsewhere()
    for workflow_id in (body["id"], uuid4()):
        reply = await other.get(f"/v1/workflows/{workflow_id}")
        assert (reply.status, reply.problem) == (404, "not-found")
    assert (await other.get("/v1/workflows")).json["total"] == 0
