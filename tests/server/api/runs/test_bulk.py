"""Many runs begun by one request: run by run, once under a key, and no secret in any answer."""

from typing import Any
from uuid import uuid4

import pytest

from server.api.runs import bulk
from server.store.runs import writes
from tests.events import listening
from tests.runs import approved, steps
from tests.server.api.runs.test_runs import ON_DESK, SECRET, TYPED
from tests.server.fleet.test_reach import bound, put
from tests.service import Service

BULK = "/v1/runs/bulk"


def item(trajectory: Any, **more: Any) -> dict[str, Any]:
    return {"trajectory_id": trajectory["id"], **ON_DESK, **more}


async def total(service: Service) -> Any:
    return (await service.get("/v1/runs")).json["total"]


async def test_each_is_begun_or_refused_alone(service: Service) -> None:
    await service.new_machine()
    await service.new_machine("desk-2")
    typed, plain = await approved(service, [TYPED, SECRET]), await approved(service, steps("a"))
    secret = f"canary-{uuid4()}"
    right = {"input_values": {"order": "4711"}, "sensitive_input_values": {"password": secret}}
    wanted = [
        item(typed, **right),
        item(typed, **{**right, "input_values": {"order": "many"}}),
        item(plain, machine_id="desk-2", priority=9),
        item(typed, input_values={"order": secret}),
        item(plain, machine_id="nowhere"),
        item({"id": str(uuid4())}),
        {"trajectory_id": plain["id"], "pool_ids": [str(uuid4())]},
        item(plain),
    ]
    async with listening(service, "?types=run") as told:
        reply = await service.post(BULK, {"items": wanted})
        assert reply.status == 200, reply.body
        assert secret not in reply.body.decode()
        answer = reply.json
        events = [(await told.next()).data["id"] for _ in range(3)]
    assert (answer["begun"], answer["refused"]) == (3, 5)
    begun = [each["run_id"] for each in answer["items"] if each["status"] == "begun"]
    assert [each["run_id"] for each in answer["items"]] == [
        *(begun[0], None, begun[1], None, None, None, None, begun[2])
    ]
    assert events == begun
    details = [each["detail"] or "" for each in answer["items"]]
    for place, words in (
        *((1, "input_values.order: "), (3, "sensitive_input_values.password: is needed")),
        *((4, "'nowhere'"), (5, "trajectory_id: There is no such trajectory.")),
        (6, "pool_ids"),
    ):
        assert words in details[place], details
    first = (await service.get(f"/v1/runs/{begun[0]}")).json
    assert (first["input_values"], first["secrets"]) == ({"order": "4711"}, ["password"])
    second = (await service.get(f"/v1/runs/{begun[1]}")).json
    assert (second["machine_id"], second["priority"]) == ("desk-2", 9)
    audited = (await service.get("/v1/audit?action=run.created")).json["items"]
    assert {(each["target"], each["machine_id"]) for each in audited} == {
        *((begun[0], "desk-1"), (begun[1], "desk-2"), (begun[2], "desk-1"))
    }
    assert await total(service) == 3


async def test_all_or_none_begins_none_where_one_is_refused(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    await service.new_machine()
    trajectory = await approved(service, steps("a"))
    three = [item(trajectory), item(trajectory, machine_id="nowhere"), item(trajectory)]
    refused = (await service.post(BULK, {"items": three, "all_or_none": True})).json
    assert (refused["begun"], refused["refused"], await total(service)) == (0, 3, 0)
    assert ["'nowhere'" in each["detail"] for each in refused["items"]] == [False, True, False]
    assert "another was refused" in refused["items"][0]["detail"]
    right = {"items": [item(trajectory)] * 3, "all_or_none": True}
    with monkeypatch.context() as patched:
        patched.setattr(writes, "MOST_WAITING", 2)
        refused = (await service.post(BULK, right)).json
        assert (refused["begun"], await total(service)) == (0, 0)
        assert "wait for their turn" in refused["items"][2]["detail"]
    assert (await service.post(BULK, right)).json["begun"] == 3


async def test_under_one_key_they_are_begun_once(service: Service) -> None:
    await service.new_machine()
    trajectory = await approved(service, [SECRET])
    headers = {"Idempotency-Key": f"bulk-{uuid4()}"}

    async def posted(secret: str) -> Any:
        items = [item(trajectory, sensitive_input_values={"password": secret})] * 2
        return await service.post(BULK, {"items": [*items, item(trajectory)]}, headers=headers)

    first, again = await posted("a"), await posted("a")
    assert (first.status, again.status, first.body) == (200, 200, again.body)
    assert again.headers["Idempotency-Replayed"] == "true"
    assert len({each["run_id"] for each in first.json["items"]}) == 3
    other = await posted("b")
    assert other.faults == [(["header", "Idempotency-Key"], "idempotency_key_reused")]
    assert await total(service) == 2
    assert (await service.get("/v1/audit?action=run.created")).json["total"] == 2


async def test_those_for_which_the_queue_has_no_room_are_refused(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    await service.new_machine()
    await service.new_machine("desk-2")
    trajectory = await approved(service, steps("a"))
    monkeypatch.setattr(writes, "MOST_WAITING_OF_MACHINE", 2)
    monkeypatch.setattr(writes, "MOST_WAITING", 4)
    wanted = [*[item(trajectory)] * 3, *[item(trajectory, machine_id="desk-2")] * 3]
    answer = (await service.post(BULK, {"items": wanted})).json
    assert [each["status"] == "begun" for each in answer["items"]] == [
        *(True, True, False, True, True, False)
    ]
    assert "runs wait for machine 'desk-1'" in answer["items"][2]["detail"]
    assert "of the organization" in answer["items"][5]["detail"]
    assert await total(service) == 4
    full = await service.post("/v1/runs", item(trajectory))
    assert full.refusal == (409, "wrong-state")
    nothing = (await service.post(BULK, {"items": wanted})).json
    assert (nothing["begun"], nothing["refused"]) == (0, 6)


@pytest.mark.parametrize(
    ("wrong", "loc"),
    [
        ([], ["body", "items"]),
        ([{}] * 1001, ["body", "items"]),
        ([ON_DESK], ["body", "items", "0"]),
        ([{"priority": 10}], ["body", "items", "0", "priority"]),
        ([{"more": 1}], ["body", "items", "0", "more"]),
    ],
)
async def test_wrong_request_begins_nothing(service: Service, wrong: Any, loc: list[str]) -> None:
    reply = await service.post(BULK, {"items": wrong})
    assert reply.status == 422, reply.body
    assert loc in [place[: len(loc)] for place, _ in reply.faults]


async def test_thousand_are_begun_and_more_bytes_than_may_be_are_not(service: Service) -> None:
    await service.new_machine()
    trajectory = await approved(service, steps("a"))
    answer = (await service.post(BULK, {"items": [item(trajectory)] * 1000})).json
    assert (answer["begun"], await total(service)) == (1000, 1000)
    values = {"input_values": {"order": "x" * bulk.MAX_BYTES}}
    assert (await service.post(BULK, {"items": [values]})).refusal == (413, "body-too-large")


async def test_token_of_pools_begins_runs_within_them_alone(service: Service) -> None:
    await service.new_machine()
    await service.new_machine("desk-2")
    pool_id, token = await bound(service)
    await put(service, "desk-2", pool_id)
    trajectory = await approved(service, steps("a"))
    wanted = [item(trajectory), item(trajectory, machine_id="desk-2")]
    answer = (await service.post(BULK, {"items": wanted}, token=token)).json
    assert [each["status"] for each in answer["items"]] == ["refused", "begun"]
    assert answer["items"][0]["detail"] == "there is no machine 'desk-1'"
