"""``GET /v1/audit``: every change leaves an entry before it is answered."""

import asyncio
import csv
import json
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from io import StringIO
from typing import Any
from uuid import UUID

import pytest
from tornado.simple_httpclient import HTTPStreamClosedError

from schemas.resources.audit import CSV_COLUMNS, AuditPage, AuditQuery
from schemas.resources.tokens import Scope
from server.errors import StoreUnavailable
from server.process import long_answers
from server.store.audit import AuditEntry, AuditStore
from tests.commands import accepted
from tests.events import listening
from tests.links import COMPLETED
from tests.service import PATIENCE_SECONDS, Service, until
from tests.trajectories import sent


async def actions(service: Service, query: str = "") -> list[tuple[str, str | None]]:
    """Action and target of the entries, oldest first."""
    page = AuditPage.model_validate((await service.get(f"/v1/audit{query}")).json)
    return [(entry.action, entry.target) for entry in reversed(page.items)]


async def test_changes_of_machines_are_recorded(service: Service) -> None:
    path = "/v1/machines/desk-1"
    await service.post("/v1/machines", {"id": "desk-1"})
    for change in ({"paused": True}, {"paused": False, "name": "New"}, {}):
        await service.request("PATCH", path, change)
    await service.request("DELETE", path)
    names = ("added", "paused", "renamed", "resumed", "removed")
    expected = [(f"machine.{name}", "desk-1") for name in names]
    assert await actions(service) == expected
    assert await actions(service, "?machine_id=desk-1") == expected
    assert await actions(service, "?action=machine.paused") == [("machine.paused", "desk-1")]


async def test_changes_of_trajectories_and_workflows_are_recorded(service: Service) -> None:
    workflow = (await service.post("/v1/workflows", {"name": "w"})).json
    await service.request("PATCH", f"/v1/workflows/{workflow['id']}", {"name": "x"})
    await service.request("DELETE", f"/v1/workflows/{workflow['id']}")
    body = sent(is_generated=False)
    made = (await service.post("/v1/trajectories", body)).json["id"]
    path = f"/v1/trajectories/{made}"
    await service.post(f"{path}/steps", {"steps": [{"action": "click"}]})
    for change in ({"is_generated": True}, {"is_approved": True}, {"is_approved": False}):
        assert (await service.request("PATCH", path, change)).status == 200
    copy = (await service.post(f"{path}/duplicate", {})).json["id"]
    await service.request("DELETE", path)
    assert await actions(service) == [
        ("workflow.created", workflow["id"]),
        ("workflow.changed", workflow["id"]),
        ("workflow.deleted", workflow["id"]),
        ("trajectory.created", made),
        ("trajectory.extended", made),
        ("trajectory.changed", made),
        ("trajectory.marked_approved", made),
        ("trajectory.marked_unapproved", made),
        ("trajectory.duplicated", copy),
        ("trajectory.deleted", made),
    ]


@pytest.mark.parametrize("path", ["/v1/trajectories", "/v1/workflows"])
async def test_creation_that_is_replayed_is_recorded_once(service: Service, path: str) -> None:
    body = sent() if path == "/v1/trajectories" else {"name": "w"}
    for _ in range(2):
        assert (await service.post(path, body, headers={"Idempotency-Key": "k"})).status == 201
    assert len(await actions(service)) == 1


async def test_tokens_and_organizations_are_recorded_on_both_sides(service: Service) -> None:
    made = (await service.post("/v1/organizations", {"name": "Other"})).json["id"]
    other = Service(
        service.server,
        UUID(made),
        await service.new_token(Scope.AUDIT_READ, organization_id=UUID(made)),
    )
    new = {"name": "n", "scopes": ["machines:read"], "organization_id": made}
    theirs = (await service.post("/v1/tokens", new)).json["id"]
    own = (await service.post("/v1/tokens", {"name": "n", "scopes": ["machines:read"]})).json["id"]
    await service.request("DELETE", f"/v1/tokens/{own}")
    assert await actions(service) == [
        ("organization.added", made),
        ("token.created", theirs),
        ("token.created", own),
        ("token.revoked", own),
    ]
    assert await actions(other) == [("token.created", theirs)]


async def test_entries_about_a_token_keep_its_name_and_what_it_allowed(service: Service) -> None:
    made = (await service.post("/v1/tokens", {"name": "of Anna", "role": "viewer"})).json
    scopes = made["scopes"]
    bare = {"name": "robot", "scopes": ["input:send"]}
    robot = (await service.post("/v1/tokens", bare)).json["id"]
    for token_id in (made["id"], robot):
        await service.request("DELETE", f"/v1/tokens/{token_id}")
    # As if they had been forgotten since, too.
    await service.server.services.operation.database.collection("tokens").delete_many(
        {"name": {"$in": ["of Anna", "robot"]}}
    )
    page = AuditPage.model_validate((await service.get("/v1/audit?action=token")).json)
    kept = [
        (each.action, each.target_name, each.grant and each.grant.model_dump())
        for each in reversed(page.items)
    ]
    grants = {"role": "viewer", "scopes": scopes}, {"role": None, "scopes": ["input:send"]}
    assert kept == [
        (f"token.{done}", name, grant)
        for done in ("created", "revoked")
        for name, grant in zip(("of Anna", "robot"), grants, strict=True)
    ]


async def test_entry_about_nothing_that_is_forgotten_has_no_name_and_no_grant(
    service: Service,
) -> None:
    await service.post("/v1/machines", {"id": "desk-1"})
    await service.post("/v1/organizations", {"name": "Branch"})
    page = AuditPage.model_validate((await service.get("/v1/audit")).json)
    assert [(each.target_name, each.grant) for each in page.items] == [
        ("Branch", None),
        (None, None),
    ]


async def test_entry_says_who_and_under_which_request(service: Service) -> None:
    token = await service.new_token(Scope.MACHINES_WRITE)
    await service.post("/v1/machines", {"id": "d"}, token=token, headers={"X-Request-Id": "r-77"})
    (entry,) = AuditPage.model_validate((await service.get("/v1/audit")).json).items
    assert (entry.token_name, entry.request_id, entry.command) == ("of a test", "r-77", None)
    listed = (await service.get("/v1/tokens")).json["items"]
    (token_id,) = [each["id"] for each in listed if each["name"] == "of a test"]
    assert str(entry.token_id) == token_id
    assert await actions(service, f"?token_id={token_id}") == [("machine.added", "d")]
    assert await actions(service, f"?token_id={service.organization_id}") == []


async def test_what_is_only_read_or_refused_is_not_recorded(service: Service) -> None:
    await service.get("/v1/machines")
    await service.request("PATCH", "/v1/machines/none", {"paused": True})
    await service.request("DELETE", "/v1/machines/none")
    await service.request("DELETE", f"/v1/trajectories/{service.organization_id}")
    assert await actions(service) == []


async def test_inputs_are_in_it_and_their_text_is_not(service: Service) -> None:
    machine = await service.new_machine()
    services = service.server.services
    async with machine.connected() as link:
        sending = services.background.start(
            service.post(machine.input_path("keyboard/key"), {"text": "h u n t e r 2"}), "typing"
        )
        await link.obey(COMPLETED)
        answer = (await sending).json
    await until(lambda: services.operation.recorder.waiting == 0)
    reply = await service.get("/v1/audit?action=input")
    (entry,) = AuditPage.model_validate(reply.json).items
    assert entry.action == "input.keyboard.key"
    assert entry.command is not None
    assert str(entry.command.command_id) == entry.target == answer["command_id"]
    assert (entry.machine_id, entry.command.outcome) == ("desk-1", "completed")
    stored = await services.operation.database.collection("audit").find_one({"_id": entry.id})
    assert "t e r" not in json.dumps(reply.json) + repr(stored)


async def test_change_is_not_confirmed_before_it_is_recorded(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    await service.new_machine()

    async def add(*_: Any) -> None:
        raise StoreUnavailable("The database does not answer.")

    monkeypatch.setattr(AuditStore, "add", add)
    reply = await service.request("PATCH", "/v1/machines/desk-1", {"paused": True})
    assert (reply.status, reply.problem) == (503, "storage-unavailable")


async def test_another_organization_sees_nothing_of_it(service: Service) -> None:
    await service.post("/v1/machines", {"id": "desk-1"})
    other = await service.elsewhere()
    assert await actions(other) == []
    assert await actions(other, "?machine_id=desk-1") == []


@pytest.mark.parametrize(
    ("query", "loc"),
    [
        ("?action=Machine", "action"),
        ("?action=a.b.c.d", "action"),
        ("?machine_id=a/b", "machine_id"),
        ("?token_id=7", "token_id"),
        ("?created_at_from=yesterday", "created_at_from"),
        ("?limit=1001", "limit"),
    ],
)
async def test_wrong_query_is_422(service: Service, query: str, loc: str) -> None:
    ((place, _),) = (await service.get(f"/v1/audit{query}")).faults
    assert place == ["query", loc]


async def test_commands_of_a_machine_are_listed_newest_first(service: Service) -> None:
    await service.new_machine()
    services = service.server.services
    commands = [accepted(service, token_name="t") for _ in range(3)]
    for number, command in enumerate(commands):
        object.__setattr__(command, "accepted_at", command.accepted_at + number)
        services.operation.recorder.ended(command, COMPLETED)
    await until(lambda: services.operation.recorder.waiting == 0)
    page = (await service.get("/v1/machines/desk-1/commands?skip=1&limit=1")).json
    assert (page["total"], page["skip"], page["limit"]) == (3, 1, 1)
    (item,) = page["items"]
    assert item["command_id"] == str(commands[1].id)
    assert set(item) == {
        *("command_id", "operation", "token_name", "token_id", "accepted_at", "completed_at"),
        *("outcome", "code", "duration_ms", "inputs", "note"),
    }


async def test_commands_of_an_unknown_machine_and_of_another_organization_are_404(
    service: Service,
) -> None:
    other = await service.elsewhere()
    await other.new_machine()
    assert (await service.get("/v1/machines/desk-1/commands")).refusal == (404, "not-found")


async def exported(service: Service, query: str = "") -> list[dict[str, str]]:
    """The rows of an export, by the names in its head."""
    reply = await service.get(f"/v1/audit/export{query}")
    assert reply.status == 200, reply.body
    assert reply.headers["Content-Type"] == "text/csv; charset=utf-8; header=present"
    assert reply.headers["Content-Disposition"] == 'attachment; filename="audit.csv"'
    return list(csv.DictReader(StringIO(reply.body.decode(), newline=""), strict=True))


async def test_export_is_the_list_as_a_table_with_a_head(service: Service) -> None:
    assert await exported(service) == []
    async with service.joined() as (machine, link):
        await link.obeys(machine.moving())
        token = await service.new_token(Scope.MACHINES_WRITE, Scope.TOKENS_WRITE)
        path = "/v1/machines/desk-1"
        reason = {"paused": True, "pause_reason": '=1+1, "now"'}
        await service.request("PATCH", path, reason, token=token)
        await service.post("/v1/tokens", {"name": "+1", "role": "viewer"})
        async with asyncio.timeout(PATIENCE_SECONDS):
            while len(rows := await exported(service)) < 3:  # noqa: ASYNC110 - it is in the database
                await asyncio.sleep(0.02)
    listed = (await service.get("/v1/audit")).json["items"]
    assert [row["id"] for row in rows] == [entry["id"] for entry in listed]
    assert [*rows[0]] == [*CSV_COLUMNS]
    made, paused, moved = rows
    assert (made["action"], made["target_name"], made["role"]) == ("token.created", "'+1", "viewer")
    assert made["scopes"].split() == listed[0]["grant"]["scopes"]
    assert (paused["note"], paused["token_name"]) == ('\'=1+1, "now"', "of a test")
    assert (moved["action"], moved["outcome"]) == ("input.mouse.move", "completed")
    for query, actions in (
        ("?action=machine", ["machine.paused"]),
        ("?token_name=of%20a%20test", ["machine.paused"]),
        ("?machine_id=desk-1", ["machine.paused", "input.mouse.move"]),
        (f"?created_at_from={made['created_at']}", ["token.created"]),
    ):
        assert [row["action"] for row in await exported(service, query)] == actions
    assert await exported(await service.elsewhere()) == []


async def test_export_takes_what_the_list_takes_but_for_pages(service: Service) -> None:
    for query, field in (("action=A", "action"), ("limit=1", "limit"), ("skip=1", "skip")):
        ((place, _),) = (await service.get(f"/v1/audit/export?{query}")).faults
        assert place == ["query", field]


async def test_export_has_one_of_the_places_for_long_answers(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(long_answers, "WAIT_SECONDS", 0.01)
    places = service.server.services.operation.long_answers
    token_id = UUID((await service.get("/v1/tokens")).json["items"][0]["id"])
    async with AsyncExitStack() as stack:
        for _ in range(long_answers.MOST_OF_A_CALLER):
            await stack.enter_async_context(places.place(token_id))
        assert (await service.get("/v1/audit/export")).refusal == (429, "too-many-streams")
        assert (await service.get("/v1/audit")).status == 200


async def test_export_that_breaks_off_does_not_look_whole(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    await service.post("/v1/machines", {"id": "desk-1"})

    store = service.server.services.audit
    ((entry,), _) = await store.list(service.organization_id, AuditQuery())

    async def broken(*_: object) -> AsyncGenerator[AuditEntry, None]:
        for _each in range(1000):
            yield entry
        raise StoreUnavailable("it is away")

    monkeypatch.setattr(store, "exported", broken)
    with pytest.raises(HTTPStreamClosedError):
        await service.get("/v1/audit/export")


async def test_new_entries_are_told_to_whom_may_read_them_and_asks(service: Service) -> None:
    both = await service.new_token(Scope.MACHINES_READ, Scope.AUDIT_READ)
    one = await service.new_token(Scope.MACHINES_READ)
    assert (await service.get("/v1/events?types=audit", token=one)).refusal == (403, "forbidden")
    elsewhere = await service.elsewhere()
    async with (
        service.joined() as (machine, link),
        listening(service, "?types=audit", token=both) as stream,
        listening(service, "?types=audit&machine_id=desk-1") as of_machine,
        listening(service) as unasked,
    ):
        await elsewhere.post("/v1/machines", {"id": "secret"})
        await link.obeys(machine.moving())
        await service.post("/v1/workflows", {"name": "w"})
        await service.request("PATCH", "/v1/machines/desk-1", {"paused": True})
        told = [await stream.next() for _ in range(2)]
        assert {each.type for each in told} == {"audit"}
        listed = (await service.get("/v1/audit?limit=2")).json["items"]
        assert [each.data for each in reversed(told)] == listed
        assert (await of_machine.next()).data == listed[0]
        # The link's own change, the input and the pause.
        kinds = {(await unasked.next()).type for _ in range(2)}
        assert kinds <= {"machine", "command"}
