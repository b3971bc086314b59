"""What all operations share that make or change something: keys, versions, refusals."""

import asyncio
from typing import Any
from uuid import uuid4

import pytest

from schemas.http import problems
from schemas.http.problems import InvalidRequestError, ProblemError, ProblemType
from schemas.resources.trajectories import ChangedTrajectory, Duplicate, NewSteps
from schemas.resources.workflows import ChangedWorkflow
from server.errors import (
    AlreadyExists,
    InUse,
    KeyReused,
    NotFound,
    StoreError,
    TooLarge,
    VersionMismatch,
    WrongState,
)
from server.web.changes import content, refusals
from tests.service import Reply, Service, new_key
from tests.trajectories import imported, sent


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (NotFound, problems.NOT_FOUND),
        (AlreadyExists, problems.CONFLICT),
        (VersionMismatch, problems.PRECONDITION_FAILED),
        (WrongState, problems.WRONG_STATE),
        (InUse, problems.IN_USE),
        (TooLarge, problems.TOO_LARGE),
    ],
)
def test_each_refusal_of_the_store_is_a_problem(
    error: type[StoreError], expected: ProblemType
) -> None:
    with pytest.raises(ProblemError) as caught, refusals("workflow 7", 9):
        raise error("why")
    assert caught.value.problem_type is expected
    assert "workflow 7" in str(caught.value) or str(caught.value) == "why"


def test_reused_key_is_a_validation_error_of_the_header() -> None:
    with pytest.raises(InvalidRequestError) as caught, refusals("workflow 7"):
        raise KeyReused("used")
    assert caught.value.entries[0].loc == ["header", "Idempotency-Key"]


def test_content_tells_requests_apart_and_nothing_else() -> None:
    bodies = [
        imported(),
        imported(trajectory_data=[]),
        imported(trajectory_data=None),
        imported(name="None"),
        imported(name="n"),
        imported(description="n"),
        imported(dimensions={"width": 1280, "height": 800, "scale": 1}),
        imported(dimensions={"width": 1280, "height": 800, "scale": 1.0}),
        imported(created_at="2024-01-01T00:00:00Z"),
        NewSteps.model_validate({"steps": [{}]}),
        NewSteps.model_validate({"steps": [{}, {}]}),
        Duplicate(),
        Duplicate(name="n"),
        ChangedTrajectory(),
        ChangedWorkflow(description="d"),
    ]
    contents = {
        b"".join(content(address, body)) for address in ("POST /a", "POST /b") for body in bodies
    }
    assert len(contents) == 2 * len(bodies)
    assert [*content("POST /a", imported(name=None))] == [*content("POST /a", imported())]


async def new_trajectory(service: Service, **fields: Any) -> str:
    """The path of a new trajectory."""
    reply = await service.post("/v1/trajectories", sent(**fields))
    assert reply.status == 201, reply.body
    return str(reply.headers["Location"])


async def creation(service: Service, kind: str) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """The path and body of one of the operations that take a key, and another body."""
    match kind:
        case "trajectory":
            return "/v1/trajectories", sent(name="a"), sent(name="b")
        case "workflow":
            return "/v1/workflows", {"name": "a"}, {"name": "b"}
        case "duplicate":
            return f"{await new_trajectory(service)}/duplicate", {}, {"name": "b"}
    path = await new_trajectory(service, is_generated=False)
    return f"{path}/steps", {"steps": [{"a": 1}]}, {"steps": [{"b": 1}]}


creations = pytest.mark.parametrize("kind", ["trajectory", "workflow", "duplicate", "steps"])


async def made(service: Service) -> tuple[int, int, int]:
    """How many trajectories, steps and workflows there are."""
    page = (await service.get("/v1/trajectories?is_generated=null")).json
    steps = sum(len(item["trajectory_data"] or ()) for item in page["items"])
    return page["total"], steps, (await service.get("/v1/workflows")).json["total"]


def assert_same(first: Reply, again: Reply) -> None:
    assert (again.status, again.body) == (first.status, first.body)
    for header in ("Location", "ETag", "Content-Type"):
        assert again.headers[header] == first.headers[header]
    assert again.headers["Idempotency-Replayed"] == "true"
    assert "Idempotency-Replayed" not in first.headers


@creations
async def test_retry_with_the_same_key_gets_the_first_answer_and_makes_nothing(
    service: Service, kind: str
) -> None:
    path, body, _ = await creation(service, kind)
    headers = {"Idempotency-Key": new_key()}
    first = await service.post(path, body, headers=headers)
    assert first.status in (200, 201), first.body
    before = await made(service)
    assert_same(first, await service.post(path, body, headers=headers))
    assert await made(service) == before
    # And without it, it is another one.
    assert (await service.post(path, body)).json != first.json
    assert await made(service) != before


@creations
async def test_two_at_once_with_one_key_are_one(service: Service, kind: str) -> None:
    path, body, _ = await creation(service, kind)
    before = await made(service)
    headers = {"Idempotency-Key": new_key()}
    replies = await asyncio.gather(*(service.post(path, body, headers=headers) for _ in range(6)))
    assert len({(reply.status, reply.body) for reply in replies}) == 1
    assert sum("Idempotency-Replayed" not in reply.headers for reply in replies) == 1
    assert sum(await made(service)) in (sum(before) + 1, sum(before) + 2)


@creations
async def test_same_key_for_another_request_is_422(service: Service, kind: str) -> None:
    path, body, other = await creation(service, kind)
    headers = {"Idempotency-Key": new_key()}
    await service.post(path, body, headers=headers)
    before = await made(service)
    reply = await service.post(path, other, headers=headers)
    assert reply.faults == [(["header", "Idempotency-Key"], "idempotency_key_reused")]
    assert await made(service) == before


@creations
async def test_bare_and_quoted_are_one_key(service: Service, kind: str) -> None:
    path, body, _ = await creation(service, kind)
    key = new_key()
    first = await service.post(path, body, headers={"Idempotency-Key": key})
    before = await made(service)
    assert_same(first, await service.post(path, body, headers={"Idempotency-Key": f'"{key}"'}))
    assert await made(service) == before


@creations
async def test_malformed_key_is_422(service: Service, kind: str) -> None:
    path, body, _ = await creation(service, kind)
    for key in ("a b", '"a'):
        reply = await service.post(path, body, headers={"Idempotency-Key": key})
        ((loc, _),) = reply.faults
        assert loc == ["header", "Idempotency-Key"]


async def test_key_of_another_organization_is_another_key(service: Service) -> None:
    other, headers = await service.elsewhere(), {"Idempotency-Key": new_key()}
    first = await service.post("/v1/workflows", {"name": "a"}, headers=headers)
    second = await other.post("/v1/workflows", {"name": "b"}, headers=headers)
    assert (first.status, second.status) == (201, 201)


async def test_first_answer_stands_after_the_trajectory_was_changed_and_deleted(
    service: Service,
) -> None:
    headers = {"Idempotency-Key": new_key()}
    first = await service.post("/v1/trajectories", sent(), headers=headers)
    path = first.headers["Location"]
    await service.request("PATCH", path, {"name": "changed"})
    assert_same(first, await service.post("/v1/trajectories", sent(), headers=headers))
    assert (await service.request("DELETE", path)).status == 204
    assert_same(first, await service.post("/v1/trajectories", sent(), headers=headers))
    assert (await service.get(path)).status == 404


async def test_appending_under_a_key_is_replayed_whatever_the_version_and_the_state_are_by_now(
    service: Service,
) -> None:
    created = await service.post("/v1/trajectories", sent(is_generated=False))
    path, body = str(created.headers["Location"]), {"steps": list[dict[str, Any]]([{}])}
    headers = {"Idempotency-Key": new_key(), "If-Match": created.headers["ETag"]}
    first = await service.post(f"{path}/steps", body, headers=headers)
    assert first.status == 200
    await service.request("PATCH", path, {"is_generated": True})
    assert_same(first, await service.post(f"{path}/steps", body, headers=headers))


async def test_refused_creation_does_not_use_the_key(service: Service) -> None:
    own, headers = str(uuid4()), {"Idempotency-Key": new_key()}
    path = await new_trajectory(service, id=own)
    reply = await service.post("/v1/trajectories", sent(id=own), headers=headers)
    assert (reply.status, reply.problem) == (409, "already-exists")
    await service.request("DELETE", path)
    assert (await service.post("/v1/trajectories", sent(id=own), headers=headers)).status == 201
