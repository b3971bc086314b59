"""Pools and tags: from their making to the machines that have them."""

import hashlib
from typing import Any
from uuid import UUID, uuid4

import pytest
from websockets.asyncio.client import connect
from websockets.typing import Subprotocol

from schemas.link.messages import CONNECT_PATH, HOST_HEADER, JOIN_HEADER, SUBPROTOCOL, Welcome
from schemas.resources.pools import MOST_POOLS, MOST_TAGS
from schemas.resources.tokens import Scope
from server.store.machines.documents import Labels
from server.store.machines.machines import MachineStore
from server.store.machines.pools import PoolStore
from server.store.mongodb.database import Database
from tests.links import hello
from tests.service import ScriptedLink, Service
from tests.store import ORGANIZATION, there


async def made(service: Service, name: str, **more: Any) -> Any:
    reply = await service.post("/v1/pools", {"name": name, **more})
    assert reply.status == 201, reply.body
    return reply.json


async def machine(service: Service, machine_id: str = "desk-1") -> Any:
    return (await service.get(f"/v1/machines/{machine_id}")).json


async def audited(service: Service, kind: str) -> list[tuple[str, str | None, str | None]]:
    entries = (await service.get(f"/v1/audit?action={kind}")).json["items"]
    return [(each["action"], each["target_name"], each["note"]) for each in reversed(entries)]


async def test_pool_is_made_listed_renamed_and_deleted(service: Service) -> None:
    berlin = await made(service, "Berlin", description="the tills")
    await made(service, "Aachen")
    assert (berlin["machines"], berlin["created_by"]) == (0, "administrator")
    page = (await service.get("/v1/pools?limit=1")).json
    assert ([each["name"] for each in page["items"]], page["total"]) == (["Aachen"], 2)
    path = f"/v1/pools/{berlin['id']}"
    renamed = (await service.request("PATCH", path, {"name": "Potsdam"})).json
    assert (renamed["name"], renamed["description"]) == ("Potsdam", "the tills")
    assert (await service.request("PATCH", path, {"description": None})).json["description"] is None
    assert (await service.request("PATCH", path, {})).json == (await service.get(path)).json
    assert (await service.request("DELETE", path)).status == 204
    for method in ("GET", "PATCH", "DELETE"):
        body = {"name": "x"} if method == "PATCH" else None
        reply = await service.request(method, path, body)
        assert reply.refusal == (404, "not-found")
    assert await audited(service, "pool") == [
        ("pool.created", "Berlin", None),
        ("pool.created", "Aachen", None),
        ("pool.changed", "Potsdam", None),
        ("pool.changed", "Potsdam", None),
        ("pool.changed", "Potsdam", None),
        ("pool.deleted", "Potsdam", None),
    ]


async def test_name_is_taken_once_in_an_organization(service: Service) -> None:
    berlin = await made(service, "Berlin")
    aachen = await made(service, "Aachen")
    assert (await service.post("/v1/pools", {"name": "Berlin"})).refusal == (409, "already-exists")
    path = f"/v1/pools/{aachen['id']}"
    again = await service.request("PATCH", path, {"name": "Berlin"})
    assert again.refusal == (409, "already-exists")
    other = await service.elsewhere()
    await made(other, "Berlin")
    assert (await other.get(f"/v1/pools/{berlin['id']}")).status == 404


@pytest.mark.parametrize(
    "name", ["", " Berlin", "Berlin ", "Berlin, Mitte", "x" * 65, "two\nlines", str(UUID(int=7))]
)
async def test_wrong_name_is_422(service: Service, name: str) -> None:
    reply = await service.post("/v1/pools", {"name": name})
    assert [loc for loc, _ in reply.faults] == [["body", "name"]]


async def test_organization_has_a_bounded_number_of_pools(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def full(*_: object) -> int:
        return MOST_POOLS

    monkeypatch.setattr(PoolStore, "count", full)
    assert (await service.post("/v1/pools", {"name": "x"})).refusal == (409, "wrong-state")


async def test_machine_is_added_with_tags_and_pools_and_shows_their_names(service: Service) -> None:
    berlin, aachen = await made(service, "Berlin"), await made(service, "Aachen")
    body = {"id": "desk-1", "tags": ["till", "2nd", "till"]}
    added = await service.post(
        "/v1/machines", {**body, "pool_ids": [berlin["id"], aachen["id"], aachen["id"]]}
    )
    assert added.status == 201
    references = [{"id": each["id"], "name": each["name"]} for each in (aachen, berlin)]
    for shown in (
        added.json,
        await machine(service),
        (await service.get("/v1/machines")).json["items"][0],
    ):
        assert (shown["tags"], shown["pools"]) == (["2nd", "till"], references)
    assert (await service.get(f"/v1/pools/{berlin['id']}")).json["machines"] == 1
    await service.request("PATCH", f"/v1/pools/{berlin['id']}", {"name": "Zossen"})
    assert [each["name"] for each in (await machine(service))["pools"]] == ["Aachen", "Zossen"]
    await service.request("DELETE", f"/v1/pools/{aachen['id']}")
    assert [each["name"] for each in (await machine(service))["pools"]] == ["Zossen"]


async def test_pool_that_is_not_there_is_422_and_no_machine(service: Service) -> None:
    other = await service.elsewhere()
    theirs = await made(other, "theirs")
    for path in ("/v1/machines", "/v1/invitations"):
        reply = await service.post(path, {"pool_ids": [theirs["id"]]})
        assert reply.faults == [(["body", "pool_ids", "0"], "no_pool")]
    assert (await service.get("/v1/machines")).json["total"] == 0


async def test_tags_are_changed_and_told(service: Service) -> None:
    await service.new_machine()
    for tags, note in ((["$name", "a"], "$name a"), ([], "no tags")):
        changed = await service.request("PATCH", "/v1/machines/desk-1", {"tags": tags})
        assert (changed.status, changed.json["tags"]) == (200, tags)
        assert (await audited(service, "machine.tagged"))[-1] == ("machine.tagged", None, note)
    # What is left out stays.
    await service.request("PATCH", "/v1/machines/desk-1", {"tags": ["a"]})
    renamed = await service.request("PATCH", "/v1/machines/desk-1", {"name": "x"})
    assert renamed.json["tags"] == ["a"]


@pytest.mark.parametrize(
    "tags",
    [["two words"], ["a,b"], [""], ["x" * 65], [f"t{each}" for each in range(MOST_TAGS + 1)], "a"],
)
async def test_wrong_tags_are_422_and_change_nothing(service: Service, tags: object) -> None:
    await service.new_machine()
    reply = await service.request("PATCH", "/v1/machines/desk-1", {"tags": tags, "name": "new"})
    assert reply.status == 422
    assert all(loc[:2] == ["body", "tags"] for loc, _ in reply.faults)
    assert (await machine(service))["name"] == "desk-1"


async def test_tags_and_pools_need_their_own_scope(service: Service) -> None:
    await service.new_machine()
    token = await service.new_token(Scope.MACHINES_WRITE, Scope.MACHINES_READ)
    pool = await made(service, "Berlin")
    for method, path, body in (
        ("PATCH", "/v1/machines/desk-1", {"tags": ["a"]}),
        ("POST", "/v1/machines", {"tags": ["a"]}),
        ("POST", "/v1/machines", {"pool_ids": [pool["id"]]}),
        ("POST", "/v1/pools", {"name": "x"}),
        ("DELETE", f"/v1/pools/{pool['id']}", None),
    ):
        reply = await service.request(method, path, body, token=token)
        assert reply.refusal == (403, "forbidden")
        assert reply.json["scope"] == "pools:write"
    assert (await service.get("/v1/pools", token=token)).json["total"] == 1


async def joined(service: Service, code: str) -> str:
    """The machine that a host becomes with a code."""
    token = f"fh_made_by_the_host_{uuid4()}"
    attempt = connect(
        service.url.replace("http:", "ws:") + CONNECT_PATH,
        additional_headers={
            "Authorization": f"Bearer {code}",
            JOIN_HEADER: hashlib.sha256(token.encode()).hexdigest(),
            HOST_HEADER: "reception",
        },
        subprotocols=[Subprotocol(SUBPROTOCOL)],
        proxy=None,
    )
    async with attempt as websocket:
        link = ScriptedLink(websocket)
        await link.say(hello())
        return (await link.heard(Welcome)).machine_id


async def test_whoever_joins_gets_what_the_invitation_says(service: Service) -> None:
    pool = await made(service, "Berlin")
    wanted = {"tags": ["$new", "a"], "pool_ids": [pool["id"]]}
    made_ = (await service.post("/v1/invitations", wanted)).json
    reference = {"id": pool["id"], "name": "Berlin"}
    listed = (await service.get("/v1/invitations")).json["items"][0]
    for shown in (made_, listed):
        assert (shown["tags"], shown["pools"]) == (["$new", "a"], [reference])
    became = await machine(service, await joined(service, made_["code"]))
    assert (became["tags"], became["pools"]) == (["$new", "a"], [reference])


async def test_machine_that_is_there_keeps_its_tags_and_gets_what_fits(service: Service) -> None:
    full = [f"t{each:02}" for each in range(MOST_TAGS - 1)]
    await service.post("/v1/machines", {"id": "desk-1", "tags": full})
    wanted = {"machine_id": "desk-1", "tags": ["y", "z"]}
    invitation = (await service.post("/v1/invitations", wanted)).json
    assert await joined(service, invitation["code"]) == "desk-1"
    tags = (await machine(service))["tags"]
    assert len(tags) == MOST_TAGS
    assert set(full) < set(tags)


async def test_pool_that_was_deleted_half_is_shown_nowhere(service: Service) -> None:
    pool = await made(service, "Berlin")
    await service.post("/v1/machines", {"id": "desk-1", "pool_ids": [pool["id"]]})
    database = service.server.services.operation.database
    await database.collection("pools").delete_one({"_id": UUID(pool["id"])})
    assert (await machine(service))["pools"] == []


async def test_labels_beyond_the_bound_are_not_given(database: Database) -> None:
    store = MachineStore(database)
    await store.create(ORGANIZATION, "desk", "d", labels=Labels(["a"]))
    more = Labels([f"t{each}" for each in range(MOST_TAGS)])
    assert await store.label(ORGANIZATION, "desk", more) is None
    some = there(await store.label(ORGANIZATION, "desk", Labels(["b"]), Labels(["a"])))
    assert some.labels.tags == ("b",)
