"""A token that is bound to pools: what is outside of them does not exist for it, anywhere."""

from typing import Any
from uuid import UUID, uuid4

from schemas.resources.tokens import ADMINISTRATOR_SCOPES, Scope
from server.store.machines.documents import NO_LABELS, Labels
from tests.commands import accepted, keep_sent
from tests.events import listening
from tests.hand_client import HandClient, hand_path
from tests.server.api.machines.test_control import begin, confirms
from tests.server.api.route_table import ANY_TOKEN, PUBLIC, TABLE, Row
from tests.server.api.test_mcp_authorization import PAIRS, by_mcp
from tests.service import Reply, Service, new_key

KEPT_WITHIN = {
    *(("GET", "/v1/machines"), ("POST", "/v1/machines"), ("POST", "/v1/machines/bulk")),
    *(("GET", "/v1/pools"), ("GET", "/v1/pools/{pool_id}"), ("POST", "/v1/invitations")),
    *(("GET", "/v1/commands/{command_id}"), ("GET", "/v1/events")),
    *(("GET", "/v1/recordings"), ("GET", "/v1/recordings/{recording_id}")),
    ("POST", "/v1/recordings/{recording_id}/stop"),
    *(("GET", "/v1/runs"), ("POST", "/v1/runs"), ("GET", "/v1/runs/{run_id}")),
    *(("POST", "/v1/runs/{run_id}/cancel"), ("POST", "/v1/runs/{run_id}/continue")),
    *(("POST", "/v1/runs/{run_id}/retry"), ("POST", "/v1/runs/bulk")),
    ("POST", "/v1/recordings/{recording_id}/secret"),
    *(("GET", "/v1/help"), ("POST", "/v1/help"), ("GET", "/v1/help/{help_id}")),
    *(("POST", "/v1/help/{help_id}/answer"), ("POST", "/v1/help/{help_id}/withdraw")),
    *(("GET", "/v1/audit"), ("GET", "/v1/audit/export")),
    *(("GET", "/v1/tokens"), ("POST", "/v1/tokens")),
    *(("GET", "/v1/tokens/{token_id}"), ("DELETE", "/v1/tokens/{token_id}")),
}
"""What names no machine in its path, and keeps such a token within its pools by itself."""


async def bound(service: Service, *scopes: Scope) -> tuple[str, str]:
    """A new pool, and a token that is bound to it."""
    pool_id = (await service.post("/v1/pools", {"name": f"pool {uuid4()}"})).json["id"]
    return pool_id, await service.new_token(*(scopes or ADMINISTRATOR_SCOPES), pool_ids=[pool_id])


async def put(service: Service, machine_id: str, pool_id: str, *, out: bool = False) -> None:
    """Put a machine in a pool, or take it out."""
    action = "remove_from_pool" if out else "add_to_pool"
    body = {"action": action, "machine_ids": [machine_id], "pool_id": pool_id}
    assert (await service.post("/v1/machines/bulk", body)).json["done"] == 1


async def placed(service: Service, pool_id: str | None = None) -> str:
    """The id of a new machine, which is in this pool."""
    machine_id = f"desk-{uuid4()}"
    await service.new_machine(machine_id)
    if pool_id is not None:
        labels = Labels(pools=[UUID(pool_id)])
        machines = service.stores.machines
        await machines.label(service.organization_id, machine_id, labels, NO_LABELS)
    return machine_id


async def asked(service: Service, row: Row, machine_id: str, token: str) -> Reply:
    """A right request of a row about a machine."""
    ids = {"machine_id": machine_id, "lease": "guessed"}
    if "{command_id}" in row.path and machine_id != "nowhere":
        kept = await keep_sent(service, accepted(service, new_key(), machine_id=machine_id))
        ids["command_id"] = str(kept.command_id)
    path = row.path.format(**{"command_id": uuid4(), **ids})
    return await service.request(row.method, path, row.body, token=token, headers=row.headers)


def told(reply: Reply, machine_id: str) -> tuple[int, Any]:
    """What an answer says, but for which machine and request it is about."""
    detail = reply.json["detail"].replace(machine_id, "it")
    return reply.status, {**reply.json, "detail": detail, "instance": None}


async def test_no_cell_of_the_matrix_is_wrong(service: Service) -> None:
    pool_id, token = await bound(service)
    wrong: list[tuple[object, ...]] = []
    rows = [row for row in TABLE if "{machine_id}" in row.path]
    for row in rows:
        inside, outside = await placed(service, pool_id), await placed(service)
        unknown = told(await asked(service, row, "nowhere", token), "nowhere")
        refused = told(await asked(service, row, outside, token), outside)
        if refused[0] != 404 or refused != unknown:
            wrong.append((row.method, row.path, "outside", refused))
        if (reply := await asked(service, row, inside, token)).status != row.status:
            wrong.append((row.method, row.path, "inside", reply.status))
        # Nothing of what was refused was done.
        if (reply := await asked(service, row, outside, "")).status != row.status:
            wrong.append((row.method, row.path, "for all", reply.status))
    assert wrong == []
    assert len(rows) >= 25


async def test_all_else_is_kept_within_concerns_no_machine_or_is_refused(service: Service) -> None:
    _, token = await bound(service)
    for row in TABLE:
        is_free = row.scope in (PUBLIC, ANY_TOKEN) or row.scope.startswith("trajectories:")
        is_kept = (row.method, row.path) in KEPT_WITHIN or row.path == "/v1/machines/connect"
        if is_free or is_kept or "{machine_id}" in row.path:
            continue
        ids = dict.fromkeys(
            ("pool_id", "invitation_id", "join_id", "webhook_id", "delivery_id", "session_id"),
            uuid4(),
        )
        reply = await service.request(row.method, row.path.format(**ids), row.body, token=token)
        assert (reply.status, reply.problem) == (403, "forbidden"), row.path
        assert "bound to pools" in reply.json["detail"]


async def test_tools_reach_what_requests_reach(service: Service) -> None:
    pool_id, token = await bound(service)
    await service.new_machine()
    for pair in PAIRS:
        expected = "done" if pair.tool == "list_machines" else "not-found"
        assert await by_mcp(service, pair, token) == expected, pair.name
    await put(service, "desk-1", pool_id)
    for pair in PAIRS:
        assert await by_mcp(service, pair, token) == await by_mcp(service, pair, service.token)


async def test_lists_audit_bulk_and_commands_have_its_machines_alone(service: Service) -> None:
    pool_id, token = await bound(service)
    hidden_pool, _ = await bound(service)
    inside, outside = await placed(service, pool_id), await placed(service, hidden_pool)
    page = (await service.get("/v1/machines?counts=true", token=token)).json
    assert [each["id"] for each in page["items"]] == [inside]
    assert (page["total"], page["counts"]["not_set_up"]) == (1, 1)
    for pool in (hidden_pool, str(uuid4())):
        assert (await service.get(f"/v1/machines?pool={pool}", token=token)).status == 422
    pools = (await service.get("/v1/pools", token=token)).json
    assert ([each["id"] for each in pools["items"]], pools["total"]) == ([pool_id], 1)
    assert (await service.get(f"/v1/pools/{hidden_pool}", token=token)).status == 404
    body = {"action": "pause", "machine_ids": [outside, inside, "nowhere"]}
    items = (await service.post("/v1/machines/bulk", body, token=token)).json["items"]
    assert [each["status"] for each in items] == ["not_found", "done", "not_found"]
    everything = {"action": "resume", "filter": {}}
    assert (await service.post("/v1/machines/bulk", everything, token=token)).json["done"] == 1
    stolen = {"action": "add_to_pool", "machine_ids": [inside], "pool_id": hidden_pool}
    assert (await service.post("/v1/machines/bulk", stolen, token=token)).status == 422
    await service.request("PATCH", f"/v1/machines/{outside}", {"name": "n"})
    for query in ("", f"?machine_id={inside}"):
        audit = (await service.get(f"/v1/audit{query}", token=token)).json
        assert {each["machine_id"] for each in audit["items"]} == {inside}
        assert audit["total"] == len(audit["items"])
    assert (await service.get(f"/v1/audit?machine_id={outside}", token=token)).json["total"] == 0
    exported = (await service.get("/v1/audit/export", token=token)).body.decode()
    assert (inside in exported, outside in exported) == (True, False)
    for machine_id, status in ((inside, 200), (outside, 404)):
        kept = await keep_sent(service, accepted(service, new_key(), machine_id=machine_id))
        path = f"/v1/commands/{kept.command_id}"
        assert (await service.get(path, token=token)).status == status


async def test_it_makes_and_sees_nothing_that_reaches_further(service: Service) -> None:
    pool_id, token = await bound(service)
    other_pool, _ = await bound(service)
    inside, outside = await placed(service, pool_id), await placed(service)
    new = {"name": "n", "scopes": ["input:send"]}
    made = (await service.post("/v1/tokens", new, token=token)).json
    assert made["pool_ids"] == [pool_id]
    for wrong in ([other_pool], [pool_id, other_pool], [str(uuid4())]):
        reply = await service.post("/v1/tokens", {**new, "pool_ids": wrong}, token=token)
        assert reply.faults == [(["body", "pool_ids", str(len(wrong) - 1)], "no_pool")]
    unknown = await service.post("/v1/tokens", {**new, "pool_ids": [str(uuid4())]})
    assert unknown.faults == [(["body", "pool_ids", "0"], "no_pool")]
    connecting = {"name": "n", "scopes": ["machine:connect"]}
    for machine_id, status in ((inside, 201), (outside, 422)):
        body = {**connecting, "machine_id": machine_id}
        assert (await service.post("/v1/tokens", body, token=token)).status == status
    free = (await service.post("/v1/tokens", new)).json
    listed = (await service.get("/v1/tokens", token=token)).json
    assert made["id"] in {each["id"] for each in listed["items"]}
    assert all(each["pool_ids"] == [pool_id] for each in listed["items"])
    assert listed["total"] == len(listed["items"]) == 2
    for token_id, status in ((free["id"], 404), (made["id"], 204)):
        path = f"/v1/tokens/{token_id}"
        assert (await service.request("DELETE", path, token=token)).status == status
    assert (await service.get(f"/v1/tokens/{free['id']}", token=token)).status == 404
    for path in ("/v1/machines", "/v1/invitations"):
        for pools, status in (([], 403), ([other_pool], 422), ([pool_id], 201)):
            reply = await service.post(path, {"pool_ids": pools}, token=token)
            assert reply.status == status, (path, pools)
    body = {"machine_id": outside, "pool_ids": [pool_id]}
    assert (await service.post("/v1/invitations", body, token=token)).status == 404
    body = {**new, "organization_id": str((await service.branch()).organization_id)}
    assert (await service.post("/v1/tokens", body, token=token)).status == 403


async def test_pool_that_is_deleted_shows_nothing_more(service: Service) -> None:
    pool_id, token = await bound(service)
    inside = await placed(service, pool_id)
    assert (await service.get(f"/v1/machines/{inside}", token=token)).status == 200
    assert (await service.request("DELETE", f"/v1/pools/{pool_id}")).status == 204
    assert (await service.get(f"/v1/machines/{inside}", token=token)).status == 404
    assert (await service.get("/v1/machines", token=token)).json["total"] == 0


async def test_events_follow_machines_into_the_pools_and_out(service: Service) -> None:
    pool_id, token = await bound(service)
    inside, outside = await placed(service, pool_id), await placed(service)
    path = "/v1/events"
    assert (await service.get(f"{path}?machine_id={outside}", token=token)).status == 404
    async with listening(service, token=token) as stream:
        await service.request("PATCH", f"/v1/machines/{outside}", {"name": "unheard"})
        await put(service, outside, pool_id)
        await stream.until(lambda told: told.data["id"] == outside)
        await put(service, inside, pool_id, out=True)
        gone = await stream.until(lambda told: told.data["id"] == inside)
        assert (gone.type, gone.data) == ("machine_removed", {"id": inside})
        await service.request("PATCH", f"/v1/machines/{inside}", {"name": "unheard"})
        await service.request("PATCH", f"/v1/machines/{outside}", {"name": "heard"})
        told = await stream.next()
        assert (told.type, told.data["name"]) == ("machine", "heard")
    async with listening(service, token=token, last_event_id=stream.last_id) as stream:
        # What has left meanwhile is not named to whoever comes back: everything is read again.
        assert (await stream.next()).type == "reset"


async def test_hand_ends_when_its_machine_leaves(service: Service) -> None:
    pool_id, token = await bound(service)
    async with service.joined() as (_, link):
        await put(service, "desk-1", pool_id)
        taking = begin(service, "POST", token=token)
        await confirms(link)
        path = hand_path("desk-1", (await taking).json["id"])
        async with HandClient.on(service.url, path, token) as hand:
            await put(service, "desk-1", pool_id, out=True)
            assert (await hand.closed())[0] == 4501
