"""Runs over HTTP: what is refused before anything, lists, rights, and what they are told to do."""

import asyncio
from typing import Any
from uuid import UUID, uuid4

import pytest

from schemas.resources.tokens import Scope
from tests.events import listening
from tests.runs import approve, approved, begun, run_of, steps
from tests.server.fleet.test_reach import bound, put
from tests.service import Service

RUNS = "/v1/runs"
TYPED = {
    "operation": "keyboard.type",
    "body": {"text": "{{order}}"},
    "parameters": {"order": {"type": "integer", "max_length": 6}},
}
SECRET = {"operation": "keyboard.type", "body": {}, "secret": "password"}
ON_DESK = {"machine_id": "desk-1"}


async def posted(service: Service, trajectory: Any, **more: Any) -> Any:
    body = {"trajectory_id": trajectory["id"], **ON_DESK, **more}
    return await service.post(RUNS, {name: value for name, value in body.items() if value})


async def test_run_is_begun_once_listed_and_told(service: Service) -> None:
    await service.new_machine()
    trajectory = await approved(service, [TYPED], is_main=True)
    headers = {"Idempotency-Key": f"run-{uuid4()}"}
    body = {"workflow_id": trajectory["workflow_id"], **ON_DESK, "input_values": {"order": "4711"}}
    async with listening(service, "?types=run") as told:
        first, again = [await service.post(RUNS, body, headers=headers) for _ in range(2)]
        assert (first.status, again.status, first.body) == (201, 201, again.body)
        assert again.headers["Idempotency-Replayed"] == "true"
        run = first.json
        assert first.headers["Location"] == f"{RUNS}/{run['id']}"
        assert (await told.next()).data == {
            name: value for name, value in run.items() if name != "steps"
        }
    assert (run["status"], run["step"], run["by"]) == ("scheduling", 1, "administrator")
    assert (run["trajectory_id"], run["content_hash"]) == (
        *(trajectory["id"], trajectory["content_hash"]),
    )
    assert await run_of(service, run) == run
    for query, total in (
        ("", 1),
        ("?status=scheduling&machine_id=desk-1", 1),
        (f"?workflow_id={trajectory['workflow_id']}", 1),
        *(("?status=success", 0), ("?machine_id=desk-2", 0)),
    ):
        assert (await service.get(f"{RUNS}{query}")).json["total"] == total, query
    assert (await service.get(f"{RUNS}?status=new")).status == 422


async def test_retry_gets_the_first_answer_whatever_has_become_of_the_content(
    service: Service,
) -> None:
    await service.new_machine()
    trajectory = await approved(service, steps("a"))
    headers = {"Idempotency-Key": f"run-{uuid4()}"}
    body = {"trajectory_id": trajectory["id"], **ON_DESK}
    first = await service.post(RUNS, body, headers=headers)
    path = f"/v1/trajectories/{trajectory['id']}/steps/1"
    assert (await service.request("PATCH", path, {"body": {"text": "b"}})).status == 200
    assert (await service.post(RUNS, body)).status == 422
    again = await service.post(RUNS, body, headers=headers)
    assert (first.status, again.status, again.body) == (201, 201, first.body)


@pytest.mark.parametrize(
    ("wrong", "loc"),
    [
        ({"input_values": {}}, ["body", "input_values", "order"]),
        ({"input_values": {"order": "many"}}, ["body", "input_values", "order"]),
        ({"input_values": {"order": "1\n"}}, ["body", "input_values", "order"]),
        ({"input_values": {"order": "1234567"}}, ["body", "input_values", "order"]),
        ({"input_values": {"order": "1", "more": "1"}}, ["body", "input_values", "more"]),
        ({"sensitive_input_values": {}}, ["body", "sensitive_input_values", "password"]),
        ({"workflow_id": str(uuid4())}, ["body"]),
        ({"pool_ids": [str(uuid4())]}, ["body"]),
        ({"machine_id": None}, ["body"]),
        ({"trajectory_id": str(uuid4())}, ["body", "trajectory_id"]),
        ({"priority": 10}, ["body", "priority"]),
        ({"halt_timeout": -1}, ["body", "halt_timeout"]),
        ({"machine_id": None, "pool_ids": [str(uuid4())]}, ["body", "pool_ids", "0"]),
    ],
)
async def test_wrong_run_is_refused_before_anything(
    service: Service, wrong: dict[str, Any], loc: list[str]
) -> None:
    await service.new_machine()
    trajectory = await approved(service, [TYPED, SECRET])
    right = {"input_values": {"order": "1"}, "sensitive_input_values": {"password": "s3cret-1"}}
    reply = await posted(service, trajectory, **{**right, **wrong})
    assert reply.status == 422, reply.body
    assert reply.json["detail"][0]["loc"][: len(loc)] == loc
    assert b"s3cret-1" not in reply.body
    assert (await service.get(RUNS)).json["total"] == 0


async def test_only_approved_content_is_run(service: Service) -> None:
    await service.new_machine()
    trajectory = await approved(service, steps("a"))
    workflow = {"workflow_id": trajectory["workflow_id"], **ON_DESK}
    reply = await service.post(RUNS, workflow)
    assert reply.faults == [(["body", "workflow_id"], "not_runnable")]
    assert "no main trajectory" in reply.json["detail"][0]["msg"]
    path = f"/v1/trajectories/{trajectory['id']}"
    await service.request("PATCH", path, {"is_main": True})
    assert (await service.post(RUNS, workflow)).status == 201
    await service.request("PATCH", f"{path}/steps/1", {"body": {"text": "b"}})
    for body in (workflow, {"trajectory_id": trajectory["id"], **ON_DESK}):
        refused = await service.post(RUNS, body)
        assert [kind for _, kind in refused.faults] == ["not_runnable"]
    await approve(service, path)
    assert (await service.post(RUNS, workflow)).status == 201
    # What only says that it was approved is not run.
    sent = {
        "workflow_id": trajectory["workflow_id"],
        "dimensions": {"width": 1, "height": 1},
        "trajectory_data": steps("a"),
        "is_approved": True,
    }
    imported = (await service.post("/v1/trajectories", sent)).json
    assert (await posted(service, imported)).status == 422


async def test_secrets_are_in_no_answer_and_encrypted(service: Service) -> None:
    await service.new_machine()
    trajectory = await approved(service, [SECRET])
    secret = f"canary-{uuid4()}"
    reply = await posted(service, trajectory, sensitive_input_values={"password": secret})
    assert (reply.status, reply.json["secrets"]) == (201, ["password"])
    database = service.server.services.operation.database
    run_id = {"_id": UUID(reply.json["id"])}
    stored = await database.collection("runs").find_one(run_id)
    assert stored is not None
    assert secret not in repr(stored) + reply.body.decode()
    assert secret.encode() not in stored["sealed"]["content"]
    path = f"{RUNS}/{reply.json['id']}"
    assert (await service.post(f"{path}/cancel")).json["status"] == "cancelled"
    ended = await database.collection("runs").find_one(run_id)
    assert ended is not None
    assert "sealed" not in ended
    without = await service.post(f"{path}/retry")
    assert without.status == 422
    again = await service.post(f"{path}/retry", {"sensitive_input_values": {"password": secret}})
    assert (again.status, again.json["retry_of"]) == (201, reply.json["id"])


async def test_waiting_run_is_cancelled_at_once_and_begun_again(service: Service) -> None:
    await service.new_machine()
    run = await begun(service, await approved(service, steps("a")))
    path = f"{RUNS}/{run['id']}"
    assert (await service.post(f"{path}/retry")).refusal == (409, "wrong-state")
    assert (await service.post(f"{path}/continue")).refusal == (409, "wrong-state")
    first, again = [await service.post(f"{path}/cancel") for _ in range(2)]
    assert (first.json["status"], again.json) == ("cancelled", first.json)
    retried = (await service.post(f"{path}/retry")).json
    assert (retried["retry_of"], retried["status"]) == (run["id"], "scheduling")
    actions = [each["action"] for each in (await service.get("/v1/audit?action=run")).json["items"]]
    assert actions == ["run.created", "run.cancelled", "run.created"]


async def test_pools_have_to_have_a_machine(service: Service) -> None:
    await service.new_machine()
    trajectory = await approved(service, steps("a"))
    pool = (await service.post("/v1/pools", {"name": f"pool {uuid4()}"})).json["id"]
    empty = await posted(service, trajectory, machine_id=None, pool_ids=[pool])
    assert empty.faults == [(["body", "pool_ids"], "pools_empty")]
    await put(service, "desk-1", pool)
    run = (await posted(service, trajectory, machine_id=None, pool_ids=[pool])).json
    assert (run["machine_id"], run["pool_ids"]) == (None, [pool])


async def test_token_of_pools_sees_and_begins_runs_within_them_alone(service: Service) -> None:
    await service.new_machine()
    pool_id, token = await bound(service)
    trajectory = await approved(service, steps("a"))
    run = await begun(service, trajectory)
    body = {"trajectory_id": trajectory["id"]}
    assert (await service.post(RUNS, {**body, **ON_DESK}, token=token)).status == 404
    other = (await service.post("/v1/pools", {"name": f"pool {uuid4()}"})).json["id"]
    refused = await service.post(RUNS, {**body, "pool_ids": [other]}, token=token)
    assert refused.faults == [(["body", "pool_ids", "0"], "no_pool")]
    path = f"{RUNS}/{run['id']}"
    for method, address in (
        *(("GET", path), ("POST", f"{path}/cancel")),
        *(("POST", f"{path}/continue"), ("POST", f"{path}/retry")),
    ):
        assert (await service.request(method, address, token=token)).status == 404
    assert (await service.get(RUNS, token=token)).json["total"] == 0
    await put(service, "desk-1", pool_id)
    assert (await service.get(RUNS, token=token)).json["total"] == 1
    waiting = await service.post(RUNS, {**body, "pool_ids": [pool_id]}, token=token)
    assert waiting.status == 201
    assert (await service.get(RUNS, token=token)).json["total"] == 2
    assert (await service.post(f"{path}/cancel", token=token)).json["status"] == "cancelled"


async def test_token_of_pools_begins_no_run_again_that_went_beyond_them(service: Service) -> None:
    await service.new_machine()
    pool_id, token = await bound(service)
    await put(service, "desk-1", pool_id)
    other = (await service.post("/v1/pools", {"name": f"pool {uuid4()}"})).json["id"]
    trajectory = await approved(service, steps("a"))
    path = f"{RUNS}/{(await begun(service, trajectory, pool_ids=[pool_id, other]))['id']}"
    await service.post(f"{path}/cancel")
    refused = await service.post(f"{path}/retry", token=token)
    assert refused.faults == [(["body", "pool_ids", "1"], "no_pool")]
    assert (await service.post(f"{path}/retry")).status == 201


async def test_run_whose_trajectory_has_gone_is_not_begun_again(service: Service) -> None:
    await service.new_machine()
    trajectory = await approved(service, steps("a"))
    path = f"{RUNS}/{(await begun(service, trajectory))['id']}"
    await service.post(f"{path}/cancel")
    deleted = await service.request("DELETE", f"/v1/trajectories/{trajectory['id']}")
    assert deleted.status == 204
    refused = await service.post(f"{path}/retry")
    assert refused.refusal == (409, "wrong-state")
    assert "not there any more" in refused.json["detail"]


async def test_runs_are_told_to_those_who_may_read_them(service: Service) -> None:
    await service.new_machine()
    trajectory = await approved(service, steps("a"))
    blind = await service.new_token(Scope.MACHINES_READ)
    assert (await service.get("/v1/events?types=run", token=blind)).refusal == (403, "forbidden")
    async with listening(service, token=blind) as told:
        run = await begun(service, trajectory)
        path = f"/v1/machines/{run['machine_id']}"
        assert (await service.request("PATCH", path, {"paused": True})).status == 200
        assert (await told.next()).type == "machine"


async def test_of_two_who_begin_under_other_keys_each_has_a_run(service: Service) -> None:
    await service.new_machine()
    trajectory = await approved(service, steps("a"))
    made = await asyncio.gather(*(posted(service, trajectory) for _ in range(2)))
    assert len({each.json["id"] for each in made}) == 2
    reader = await service.new_token(Scope.RUNS_READ)
    assert (await service.get(RUNS, token=reader)).json["total"] == 2
