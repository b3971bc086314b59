from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from schemas.http.queries import PageQuery
from schemas.link.close_codes import CloseCode
from schemas.resources.machines import CreatedMachine, Machine
from schemas.resources.tokens import Scope
from schemas.values.times import format_time
from server.dispatch.machine_views import MachineViews
from server.errors import StoreUnavailable
from tests.links import hello
from tests.service import ScriptedMachine, Service


async def test_added_machine_gets_a_token_that_connects_it(service: Service) -> None:
    reply = await service.post("/v1/machines", {"id": "front-desk", "name": "Front desk"})
    assert reply.status == 201
    made = CreatedMachine.model_validate(reply.json)
    assert (made.id, made.name, made.state) == ("front-desk", "Front desk", "offline")
    assert made.reason == "it has never connected"
    assert made.token.scopes == ["machine:connect"]
    assert made.token.machine_id == "front-desk"
    machine = ScriptedMachine(service, "front-desk", made.token.token)
    async with machine.connected():
        assert (await service.get("/v1/machines/front-desk")).json["state"] == "online"


async def test_machine_without_an_id_gets_one(service: Service) -> None:
    body = (await service.post("/v1/machines", {})).json
    assert UUID(body["id"])
    assert body["name"] == body["id"]


async def test_taken_id_is_409_but_only_inside_the_organization(service: Service) -> None:
    other = await service.elsewhere()
    assert (await service.post("/v1/machines", {"id": "desk"})).status == 201
    assert (await service.post("/v1/machines", {"id": "desk"})).refusal == (409, "already-exists")
    assert (await other.post("/v1/machines", {"id": "desk"})).status == 201


@pytest.mark.parametrize(
    ("body", "loc"),
    [
        ({"id": ""}, ["body", "id"]),
        ({"id": "a b"}, ["body", "id"]),
        ({"id": "a/b"}, ["body", "id"]),
        ({"name": ""}, ["body", "name"]),
        ({"owner": "me"}, ["body", "owner"]),
    ],
)
async def test_wrong_machine_is_422(
    service: Service, body: dict[str, object], loc: list[str]
) -> None:
    ((place, _),) = (await service.post("/v1/machines", body)).faults
    assert place == loc


async def test_machine_is_shown_as_its_client_described_it(service: Service) -> None:
    async with service.joined() as (machine, _):
        shown = Machine.model_validate((await service.get("/v1/machines/desk-1")).json)
        assert (shown.state, shown.reason, shown.paused) == ("online", "connected", False)
        assert (shown.platform, shown.client_version) == ("Linux of the test", "1.2.3")
        assert shown.desktop == "x11"
        assert shown.displays == hello().displays
    await machine.until_gone()
    gone = Machine.model_validate((await service.get("/v1/machines/desk-1")).json)
    assert gone.state == "offline"
    assert gone.since >= shown.since
    assert gone.platform == "Linux of the test"
    assert gone.round_trip_ms is None


async def test_machine_that_cannot_inject_is_shown_with_its_reason(service: Service) -> None:
    async with service.joined(hello(no_input="no display")):
        shown = (await service.get("/v1/machines/desk-1")).json
        assert (shown["state"], shown["reason"]) == ("no_input", "no display")


async def test_machine_is_renamed_paused_and_resumed(service: Service) -> None:
    await service.new_machine()
    reply = await service.request("PATCH", "/v1/machines/desk-1", {"name": "$renamed"})
    assert (reply.status, reply.json["name"], reply.json["paused"]) == (200, "$renamed", False)
    paused = (await service.request("PATCH", "/v1/machines/desk-1", {"paused": True})).json
    assert (paused["state"], paused["paused"], paused["name"]) == ("paused", True, "$renamed")
    again = (await service.request("PATCH", "/v1/machines/desk-1", {"paused": True})).json
    assert again["since"] == paused["since"]
    resumed = (await service.request("PATCH", "/v1/machines/desk-1", {"paused": False})).json
    assert resumed["state"] == "offline"
    unchanged = await service.request("PATCH", "/v1/machines/desk-1", {})
    assert unchanged.json == resumed


async def test_pause_outlives_the_link(service: Service) -> None:
    machine = await service.new_machine()
    await service.request("PATCH", "/v1/machines/desk-1", {"paused": True})
    async with machine.connected():
        assert (await machine.move()).json["reason"] == "paused"


async def test_pause_says_who_why_and_until_when(service: Service) -> None:
    await service.new_machine()
    token = await service.new_token(Scope.MACHINES_WRITE, Scope.MACHINES_READ)
    assert (await service.get("/v1/machines/desk-1")).json["pause"] is None
    end = format_time(datetime.now(UTC) + timedelta(days=29))
    body = {"paused": True, "pause_reason": "the printer", "pause_until": end}
    paused = (await service.request("PATCH", "/v1/machines/desk-1", body, token=token)).json
    since = paused["since"]
    told = {"since": since, "by": "of a test", "reason": "the printer", "until": end}
    assert paused["pause"] == told
    assert paused["reason"] == f"of a test paused the machine until {end}: the printer"
    assert (await service.get("/v1/machines")).json["items"][0]["pause"] == told
    anew = (await service.request("PATCH", "/v1/machines/desk-1", {"paused": True})).json
    told = {"since": since, "by": "administrator", "reason": None, "until": None}
    assert anew["pause"] == told
    resumed = await service.request("PATCH", "/v1/machines/desk-1", {"paused": False})
    assert resumed.json["pause"] is None
    entries = (await service.get("/v1/audit?action=machine.paused")).json["items"]
    assert [entry["note"] for entry in entries] == [None, "the printer"]


@pytest.mark.parametrize(
    ("details", "loc", "kind"),
    [
        ({"paused": True, "pause_reason": ""}, ["body", "pause_reason"], "string_too_short"),
        ({"paused": True, "pause_reason": "x" * 201}, ["body", "pause_reason"], "string_too_long"),
        ({"pause_reason": "x"}, ["body"], "no_pause"),
        ({"paused": False, "pause_until": "2124-05-06T07:08:09Z"}, ["body"], "no_pause"),
        ({"paused": True, "pause_until": "soon"}, ["body", "pause_until"], "datetime_parsing"),
        (
            {"paused": True, "pause_until": "2024-05-06T07:08:09Z"},
            ["body", "pause_until"],
            "future_time",
        ),
        (
            {"paused": True, "pause_until": "2124-05-06T07:08:09Z"},
            ["body", "pause_until"],
            "pause_too_long",
        ),
    ],
)
async def test_wrong_pause_is_422_and_none(
    service: Service, details: dict[str, object], loc: list[str], kind: str
) -> None:
    await service.new_machine()
    reply = await service.request("PATCH", "/v1/machines/desk-1", details)
    assert reply.faults == [(loc, kind)]
    assert (await service.get("/v1/machines/desk-1")).json["paused"] is False


@pytest.mark.parametrize("body", [{"paused": "yes"}, {"name": ""}, {"state": "online"}])
async def test_wrong_change_is_422(service: Service, body: dict[str, object]) -> None:
    await service.new_machine()
    assert (await service.request("PATCH", "/v1/machines/desk-1", body)).status == 422


async def test_machines_are_listed_by_id_in_pages(service: Service) -> None:
    for name in ("c", "a", "b"):
        await service.post("/v1/machines", {"id": name})
    page = (await service.get("/v1/machines")).json
    assert [item["id"] for item in page["items"]] == ["a", "b", "c"]
    page = (await service.get("/v1/machines?skip=1&limit=1")).json
    assert [item["id"] for item in page["items"]] == ["b"]
    assert (page["total"], page["skip"], page["limit"]) == (3, 1, 1)


async def test_removed_machine_its_link_and_its_token_are_gone(service: Service) -> None:
    async with service.joined() as (_, link):
        assert (await service.request("DELETE", "/v1/machines/desk-1")).status == 204
        assert (await link.closed())[0] == CloseCode.MACHINE_REMOVED
    assert (await service.get("/v1/machines/desk-1")).status == 404
    assert (await service.request("DELETE", "/v1/machines/desk-1")).status == 404
    stored, _ = await service.stores.tokens.list(service.organization_id, PageQuery())
    assert all(token.revoked_at for token in stored if token.machine_id == "desk-1")


async def test_what_another_organization_has_does_not_exist(service: Service) -> None:
    machine = await service.new_machine()
    other = await service.elsewhere()
    async with machine.connected():
        for method, body in (("GET", None), ("PATCH", {"paused": True}), ("DELETE", None)):
            reply = await other.request(method, "/v1/machines/desk-1", body)
            assert (reply.status, reply.problem) == (404, "not-found")
        assert (await other.get("/v1/machines")).json["items"] == []
        shown = (await service.get("/v1/machines/desk-1")).json
        assert (shown["state"], shown["paused"]) == ("online", False)


async def test_what_was_done_is_in_the_audit_though_nobody_can_be_shown_how_the_machine_is(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(*_: object) -> None:
        raise StoreUnavailable("away")

    with monkeypatch.context() as patch:
        patch.setattr(MachineViews, "of", away)
        assert (await service.post("/v1/machines", {"id": "desk-1"})).status == 503
        changed = await service.request("PATCH", "/v1/machines/desk-1", {"paused": True})
        assert changed.status == 503
    entries = (await service.get("/v1/audit?machine_id=desk-1")).json["items"]
    assert [entry["action"] for entry in entries] == ["machine.paused", "machine.added"]
