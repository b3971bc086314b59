"""Many machines changed in one request, each with its own answer and entry in the audit."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from schemas.resources.bulk import MOST_MACHINES
from schemas.resources.pools import MOST_TAGS
from schemas.resources.tokens import Scope
from schemas.values.times import format_time
from server.errors import StoreUnavailable
from server.fleet.bulk import AT_ONCE
from server.store.machines.machines import MachineStore
from tests.service import Service

IDS = ["desk-0", "desk-1", "desk-2"]


async def filled(service: Service, count: int = 3) -> None:
    for number in range(count):
        await service.stores.machines.create(
            service.organization_id, f"desk-{number}", f"Desk {number}"
        )


async def changed(service: Service, action: str, **more: Any) -> list[tuple[str, str]]:
    reply = await service.post("/v1/machines/bulk", {"action": action, **more})
    assert reply.status == 200, reply.body
    items = reply.json["items"]
    done = sum(each["status"] == "done" for each in items)
    assert (reply.json["done"], reply.json["failed"]) == (done, len(items) - done)
    return [(each["machine_id"], each["status"]) for each in items]


async def members(service: Service, query: str) -> list[str]:
    return [each["id"] for each in (await service.get(f"/v1/machines?{query}")).json["items"]]


async def notes(service: Service, action: str) -> list[tuple[str, str | None]]:
    entries = (await service.get(f"/v1/audit?action={action}")).json["items"]
    return sorted((each["machine_id"], each["note"]) for each in entries)


async def test_machines_are_paused_and_resumed(service: Service) -> None:
    await filled(service)
    until = format_time(datetime.now(UTC) + timedelta(days=1))
    details = {"pause_reason": "the move", "pause_until": until}
    named = ["desk-1", "nowhere", "desk-0", "desk-1"]
    assert await changed(service, "pause", machine_ids=named, **details) == [
        ("desk-1", "done"),
        ("nowhere", "not_found"),
        ("desk-0", "done"),
    ]
    paused = (await service.get("/v1/machines/desk-0")).json["pause"]
    assert (paused["reason"], paused["until"], paused["by"]) == ("the move", until, "administrator")
    told = [("desk-0", "the move"), ("desk-1", "the move")]
    assert await notes(service, "machine.paused") == told
    assert await changed(service, "resume", filter={"state": "paused"}) == [
        ("desk-0", "done"),
        ("desk-1", "done"),
    ]
    assert await members(service, "state=paused") == []


async def test_machines_are_tagged_and_put_in_pools(service: Service) -> None:
    await filled(service)
    pool = (await service.post("/v1/pools", {"name": "Berlin"})).json
    await changed(service, "tag", filter={}, tags=["a", "b"])
    await changed(service, "untag", machine_ids=["desk-0"], tags=["b", "c"])
    assert await members(service, "tag=b") == ["desk-1", "desk-2"]
    assert await notes(service, "machine.tagged") == [
        ("desk-0", "a"),
        ("desk-0", "a b"),
        ("desk-1", "a b"),
        ("desk-2", "a b"),
    ]
    await changed(service, "add_to_pool", filter={"tag": "b"}, pool_id=pool["id"])
    await changed(service, "add_to_pool", machine_ids=["desk-1"], pool_id=pool["id"])
    assert await members(service, "pool=Berlin") == ["desk-1", "desk-2"]
    await changed(service, "remove_from_pool", machine_ids=["desk-1"], pool_id=pool["id"])
    assert await members(service, "pool=Berlin") == ["desk-2"]
    assert await notes(service, "machine.unpooled") == [("desk-1", "Berlin")]
    assert len(await notes(service, "machine.pooled")) == 3


async def test_machines_are_removed_and_their_links_end(service: Service) -> None:
    async with service.joined() as (_, link):
        assert await changed(service, "remove", machine_ids=["desk-1"]) == [("desk-1", "done")]
        await link.closed()
    assert await members(service, "") == []


async def test_one_that_cannot_be_changed_does_not_keep_the_others(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    await filled(service)
    full = [f"t{number}" for number in range(MOST_TAGS)]
    await service.request("PATCH", "/v1/machines/desk-1", {"tags": full})
    label = MachineStore.label

    async def away(self: Any, organization_id: Any, machine_id: str, *labels: Any) -> Any:
        if machine_id == "desk-2":
            raise StoreUnavailable("the database is away")
        return await label(self, organization_id, machine_id, *labels)

    monkeypatch.setattr(MachineStore, "label", away)
    body = {"action": "tag", "machine_ids": IDS, "tags": ["new"]}
    items = (await service.post("/v1/machines/bulk", body)).json["items"]
    assert [each["status"] for each in items] == ["done", "failed", "failed"]
    assert "at most 32 tags" in items[1]["detail"]
    assert items[2]["detail"] == "the database is away"
    # The one before was tagged alone.
    assert [each for each, _ in await notes(service, "machine.tagged")] == ["desk-0", "desk-1"]
    assert await members(service, "tag=new") == ["desk-0"]


async def test_more_than_are_changed_at_once_are_all_changed(service: Service) -> None:
    await filled(service, 2 * AT_ONCE + 1)
    assert len(await changed(service, "tag", filter={}, tags=["x"])) == 2 * AT_ONCE + 1
    assert len(await members(service, "tag=x")) == 2 * AT_ONCE + 1


async def test_filter_that_finds_too_much_changes_nothing(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    await filled(service)
    monkeypatch.setattr("server.fleet.bulk.MOST_MACHINES", 2)
    reply = await service.post("/v1/machines/bulk", {"action": "pause", "filter": {}})
    assert reply.faults == [(["body", "filter"], "too_many_machines")]
    assert await members(service, "state=paused") == []


TOO_MANY = [f"desk-{number}" for number in range(MOST_MACHINES + 1)]


@pytest.mark.parametrize(
    ("body", "loc", "kind"),
    [
        ({"action": "pause"}, ["body"], "machines"),
        ({"action": "pause", "machine_ids": IDS, "filter": {}}, ["body"], "machines"),
        ({"action": "pause", "machine_ids": []}, ["body", "machine_ids"], "too_short"),
        ({"action": "pause", "machine_ids": TOO_MANY}, ["body", "machine_ids"], "too_long"),
        ({"action": "reboot", "machine_ids": IDS}, ["body", "action"], "literal_error"),
        ({"action": "tag", "machine_ids": IDS}, ["body"], "missing_for_action"),
        ({"action": "tag", "machine_ids": IDS, "tags": []}, ["body", "tags"], "too_short"),
        ({"action": "add_to_pool", "machine_ids": IDS}, ["body"], "missing_for_action"),
        ({"action": "resume", "machine_ids": IDS, "tags": ["a"]}, ["body"], "not_for_action"),
        (
            {"action": "add_to_pool", "machine_ids": IDS, "pool_id": str(uuid4())},
            ["body", "pool_id"],
            "no_pool",
        ),
        (
            {"action": "pause", "machine_ids": IDS, "pause_until": "2024-05-06T07:08:09Z"},
            ["body", "pause_until"],
            "future_time",
        ),
        ({"action": "pause", "filter": {"sort": "id"}}, ["body", "filter", "sort"], None),
    ],
)
async def test_wrong_request_is_422_and_changes_nothing(
    service: Service, body: dict[str, Any], loc: list[str], kind: str | None
) -> None:
    await filled(service)
    faults = (await service.post("/v1/machines/bulk", body)).faults
    assert [(where, kind and what) for where, what in faults] == [(loc, kind)]
    assert await members(service, "state=paused") == []


async def test_tags_pools_and_filters_need_their_scopes(service: Service) -> None:
    await filled(service)
    token = await service.new_token(Scope.MACHINES_WRITE)
    for body, scope in (
        ({"action": "tag", "machine_ids": IDS, "tags": ["a"]}, "pools:write"),
        ({"action": "pause", "filter": {}}, "machines:read"),
    ):
        reply = await service.post("/v1/machines/bulk", body, token=token)
        assert (reply.status, reply.json["scope"]) == (403, scope)


async def test_others_machines_are_not_found(service: Service) -> None:
    await filled(service)
    other = await service.elsewhere()
    assert await changed(other, "remove", machine_ids=["desk-0"]) == [("desk-0", "not_found")]
    assert await changed(other, "remove", filter={}) == []


@pytest.mark.parametrize("machine_id", ["bulk", "connect"])
async def test_what_stands_in_addresses_is_no_id(service: Service, machine_id: str) -> None:
    reply = await service.post("/v1/machines", {"id": machine_id})
    assert reply.faults == [(["body", "id"], "reserved")]
    reply = await service.post("/v1/invitations", {"machine_id": machine_id})
    assert reply.faults == [(["body", "machine_id"], "reserved")]
