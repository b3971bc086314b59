"""Single steps over HTTP: listed, inserted, changed, removed."""

from typing import Any

import pytest

from schemas.steps.changes import StepPage, TrajectoryStep
from tests.server.api.trajectories.requests import created, path_of
from tests.service import Service

CLICK = {"operation": "mouse.click", "body": {"x": 1, "y": 2}}
TYPE = {"operation": "keyboard.type", "body": {"text": "Order 4711"}}
FOREIGN = {"action": "click", "coordinate": [1, 2], "n": 1e100}
WAIT = {"operation": "wait", "body": {"seconds": 2.5}}


async def steps_of(service: Service, path: str) -> list[Any]:
    trajectory = (await service.get(path)).json
    listed = (await service.get(f"{path}/steps")).json
    assert [each["step"] for each in listed["items"]] == trajectory["trajectory_data"]
    assert listed["total"] == trajectory["step_count"]
    steps: list[Any] = trajectory["trajectory_data"]
    return steps


async def test_steps_are_listed_with_why_they_cannot_run(service: Service) -> None:
    made = await created(service, trajectory_data=[CLICK, FOREIGN, {**CLICK, "retries": 3}])
    path = path_of(made)
    page = await service.get(f"{path}/steps?skip=1&limit=5")
    StepPage.model_validate(page.json)
    assert page.headers["ETag"] == made.headers["ETag"]
    facts = [page.json[name] for name in ("total", "skip", "limit")]
    assert facts == [3, 1, 5]
    foreign, strange = page.json["items"]
    assert foreign["number"] == 2
    assert foreign["step"] == FOREIGN
    assert foreign["cannot_run"].startswith("It is not Farhand's: its operation is none of")
    assert strange["cannot_run"].startswith("retries: ")
    one = await service.get(f"{path}/steps/1")
    assert one.json == {"number": 1, "cannot_run": None, "pictures_gone": None, "step": CLICK}
    TrajectoryStep.model_validate(one.json)


async def test_wait_is_inserted_and_the_others_stay_as_they_are(service: Service) -> None:
    path = path_of(await created(service, trajectory_data=[CLICK, FOREIGN]))
    reply = await service.post(f"{path}/steps", {"steps": [WAIT], "before": 2})
    assert (reply.status, reply.json["step_count"]) == (200, 3)
    assert await steps_of(service, path) == [CLICK, WAIT, FOREIGN]
    reply = await service.post(f"{path}/steps", {"steps": [WAIT], "before": 4})
    assert (reply.status, reply.problem) == (404, "not-found")


async def test_text_becomes_a_parameter_with_a_type_and_an_example(service: Service) -> None:
    path = path_of(await created(service, trajectory_data=[TYPE]))
    new = {"name": "order", "text": "4711", "type": "integer", "example": "4711"}
    reply = await service.request("PATCH", f"{path}/steps/1", {"parameter": new})
    assert reply.json == {
        "number": 1,
        "cannot_run": None,
        "pictures_gone": None,
        "step": {
            **TYPE,
            "body": {"text": "Order {{order}}"},
            "parameters": {"order": {"type": "integer", "example": "4711"}},
        },
    }
    assert reply.headers["ETag"] == (await service.get(path)).headers["ETag"]
    assert await steps_of(service, path) == [reply.json["step"]]


async def test_text_that_became_a_secret_is_nowhere_in_the_trajectory(service: Service) -> None:
    typed = {"operation": "keyboard.type", "body": {"text": "hunter2-canary"}}
    path = path_of(await created(service, trajectory_data=[CLICK, typed]))
    reply = await service.request("PATCH", f"{path}/steps/2", {"secret": "password"})
    assert reply.json["step"] == {"operation": "keyboard.type", "body": {}, "secret": "password"}
    for address in (path, f"{path}/steps", "/v1/trajectories/export", "/v1/audit"):
        assert b"hunter2-canary" not in (await service.get(address)).body


@pytest.mark.parametrize(
    ("body", "loc"),
    [
        ({"body": {"x": 1}}, ["body", "body"]),
        ({"body": {"x": 1, "y": "2"}}, ["body", "body", "y"]),
        ({"body": None}, ["body", "body"]),
        ({"operation": "mouse.move"}, ["body", "operation"]),
        ({"expect": {"any": []}}, ["body", "expect", "any"]),
        ({"parameter": {"name": "order", "text": "4711"}}, ["body", "parameter", "name"]),
        ({"parameter": {"name": "7", "text": "4711"}}, ["body", "parameter", "name"]),
        ({"secret": "password"}, ["body"]),
        ({"after_ms": -1}, ["body", "after_ms"]),
    ],
)
async def test_step_that_could_not_run_is_422_and_changes_nothing(
    service: Service, body: dict[str, Any], loc: list[str]
) -> None:
    made = await created(service, trajectory_data=[CLICK])
    reply = await service.request("PATCH", f"{path_of(made)}/steps/1", body)
    assert reply.faults[0][0] == loc
    assert (await service.get(path_of(made))).json == made.json


async def test_step_of_another_product_is_kept_or_removed(service: Service) -> None:
    path = path_of(await created(service, trajectory_data=[FOREIGN, CLICK]))
    reply = await service.request("PATCH", f"{path}/steps/1", {"name": "n"})
    assert (reply.status, reply.problem) == (409, "wrong-state")
    assert "It is not Farhand's" in reply.json["detail"]
    assert (await service.request("DELETE", f"{path}/steps/1")).json["step_count"] == 1
    # What is generated has a step.
    reply = await service.request("DELETE", f"{path}/steps/1")
    assert (reply.status, reply.problem) == (409, "wrong-state")
    assert await steps_of(service, path) == [CLICK]


async def test_numbers_are_those_of_the_version_that_was_seen(service: Service) -> None:
    made = await created(service, trajectory_data=[CLICK, TYPE, WAIT])
    path, seen = path_of(made), {"If-Match": made.headers["ETag"]}
    assert (await service.request("DELETE", f"{path}/steps/1", headers=seen)).status == 200
    for method, below, body in (
        ("DELETE", "/steps/1", None),
        ("PATCH", "/steps/1", {"name": "n"}),
        ("POST", "/steps", {"steps": [WAIT], "before": 1}),
    ):
        reply = await service.request(method, path + below, body, headers=seen)
        assert (reply.status, reply.problem) == (412, "precondition-failed")
    assert await steps_of(service, path) == [TYPE, WAIT]


async def test_removal_is_done_once_under_a_key(service: Service) -> None:
    path = path_of(await created(service, trajectory_data=[CLICK, TYPE, WAIT]))
    key = {"Idempotency-Key": "k"}
    first, again = [
        await service.request("DELETE", f"{path}/steps/1", headers=key) for _ in range(2)
    ]
    assert (first.body, again.headers["Idempotency-Replayed"]) == (again.body, "true")
    assert await steps_of(service, path) == [TYPE, WAIT]
    other = await service.request("DELETE", f"{path}/steps/2", headers=key)
    assert other.faults[0][0] == ["header", "Idempotency-Key"]
    actions = [each["action"] for each in (await service.get("/v1/audit")).json["items"]]
    assert actions.count("trajectory.edited") == 1


@pytest.mark.parametrize("number", ["0", "-1", "x", "9" * 30])
async def test_number_that_no_step_has(service: Service, number: str) -> None:
    path = path_of(await created(service, trajectory_data=[CLICK]))
    for method, body in (("GET", None), ("DELETE", None), ("PATCH", {"name": "n"})):
        reply = await service.request(method, f"{path}/steps/{number}", body)
        assert reply.status in (404, 422)
