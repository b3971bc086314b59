"""Tokens: who may give what to whom."""

import time
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest

from schemas.resources.tokens import Scope
from schemas.values.times import format_time
from tests.service import PATIENCE_SECONDS, Service


def wanted(*scopes: str, **fields: object) -> dict[str, object]:
    return {"name": "for a program", "scopes": list(scopes), **fields}


async def test_secret_is_shown_once_and_works(service: Service) -> None:
    reply = await service.post("/v1/tokens", wanted("machines:read"))
    assert reply.status == 201
    made = reply.json
    secret = made.pop("token")
    assert secret.startswith("fh_")
    assert len(secret) >= 3 + 256 // 6
    assert (await service.get("/v1/machines", token=secret)).status == 200
    shown = (await service.get(f"/v1/tokens/{made['id']}")).json
    assert {**shown, "last_used_at": None} == made
    listed = await service.get("/v1/tokens")
    assert secret.encode() not in listed.body


async def test_secrets_differ(service: Service) -> None:
    secrets = {
        (await service.post("/v1/tokens", wanted("machines:read"))).json["token"] for _ in range(3)
    }
    assert len(secrets) == 3


@pytest.mark.parametrize(
    ("body", "loc", "kind"),
    [
        (wanted(), ["body", "scopes"], "too_short"),
        (wanted("everything"), ["body", "scopes", "0"], "enum"),
        (wanted("machine:connect"), ["body"], "machine_missing"),
        (wanted("input:send", machine_id="desk-1"), ["body"], "scope_missing"),
        (
            wanted("machine:connect", machine_id="desk-9"),
            ["body", "machine_id"],
            "unknown_machine",
        ),
        (
            wanted("input:send", expires_at="2020-01-01T00:00:00Z"),
            ["body", "expires_at"],
            "future_time",
        ),
        (wanted("input:send", user_id="me"), ["body", "user_id"], "uuid_parsing"),
        (wanted("input:send", colour="red"), ["body", "colour"], "extra_forbidden"),
        (wanted("input:send", role="agent"), ["body"], "scopes_and_role"),
        ({"name": "n"}, ["body"], "scopes_missing"),
        ({"name": "n", "role": "king"}, ["body", "role"], "enum"),
    ],
)
async def test_wrong_token_is_422(
    service: Service, body: dict[str, object], loc: list[str], kind: str
) -> None:
    assert (await service.post("/v1/tokens", body)).faults == [(loc, kind)]


async def test_token_with_a_role_has_its_scopes_and_shows_both(service: Service) -> None:
    made = (await service.post("/v1/tokens", {"name": "n", "role": "viewer"})).json
    bare = (await service.post("/v1/tokens", wanted("machines:read"))).json
    assert (made["role"], bare["role"]) == ("viewer", None)
    assert set(made["scopes"]) == {
        *("machines:read", "screen:read", "trajectories:read", "runs:read"),
    }
    assert (await service.get(f"/v1/tokens/{made['id']}")).json["role"] == "viewer"
    listed = (await service.get("/v1/tokens")).json["items"]
    roles = {each["id"]: each["role"] for each in listed}
    assert (roles[made["id"]], roles[bare["id"]]) == ("viewer", None)
    assert (await service.get("/v1/machines", token=made["token"])).status == 200
    refused = await service.post("/v1/machines", {"id": "d"}, token=made["token"])
    assert (refused.status, refused.json["scope"]) == (403, "machines:write")


async def test_nobody_gives_away_a_role_with_a_scope_that_they_lack(service: Service) -> None:
    viewing = (
        *(Scope.MACHINES_READ, Scope.SCREEN_READ, Scope.TRAJECTORIES_READ),
        Scope.RUNS_READ,
    )
    token = await service.new_token(Scope.TOKENS_WRITE, *viewing)
    given = await service.post("/v1/tokens", {"name": "n", "role": "viewer"}, token=token)
    assert given.status == 201
    for role in ("operator", "agent", "reviewer", "administrator"):
        reply = await service.post("/v1/tokens", {"name": "n", "role": role}, token=token)
        assert (reply.status, reply.problem) == (403, "forbidden")
        assert reply.json["detail"].endswith(f"so it cannot give the role {role} away")
        assert reply.json["scope"] not in (*viewing, Scope.TOKENS_WRITE)


async def test_nobody_gives_away_a_scope_that_they_lack(service: Service) -> None:
    token = await service.new_token(Scope.TOKENS_WRITE, Scope.MACHINES_READ)
    assert (await service.post("/v1/tokens", wanted("machines:read"), token=token)).status == 201
    reply = await service.post("/v1/tokens", wanted("machines:read", "input:send"), token=token)
    assert (reply.status, reply.problem) == (403, "forbidden")
    assert reply.json["scope"] == "input:send"


async def test_machine_token_is_given_by_those_who_may_change_machines(service: Service) -> None:
    await service.new_machine()
    body = wanted("machine:connect", machine_id="desk-1")
    token = await service.new_token(Scope.TOKENS_WRITE)
    reply = await service.post("/v1/tokens", body, token=token)
    assert (reply.status, reply.json["scope"]) == (403, "machines:write")
    assert (await service.post("/v1/tokens", body)).status == 201


async def test_token_for_another_organization_needs_organizations_write(service: Service) -> None:
    other = await service.branch()
    body = wanted("input:send", organization_id=str(other.organization_id))
    token = await service.new_token(Scope.TOKENS_WRITE, Scope.INPUT_SEND)
    reply = await service.post("/v1/tokens", body, token=token)
    assert (reply.status, reply.json["scope"]) == (403, "organizations:write")
    made = await service.post("/v1/tokens", body)
    assert made.status == 201
    assert made.json["organization_id"] == str(other.organization_id)
    # It belongs to the other organization, and its maker does not see it any more.
    assert (await service.get(f"/v1/tokens/{made.json['id']}")).status == 404
    assert (await other.get(f"/v1/tokens/{made.json['id']}")).status == 200


async def test_own_organization_may_be_named_without_more_rights(service: Service) -> None:
    token = await service.new_token(Scope.TOKENS_WRITE)
    body = wanted("tokens:write", organization_id=str(service.organization_id))
    assert (await service.post("/v1/tokens", body, token=token)).status == 201


async def test_unknown_organization_is_404(service: Service) -> None:
    body = wanted("input:send", organization_id=str(uuid4()))
    assert (await service.post("/v1/tokens", body)).problem == "not-found"


async def test_token_for_an_organization_that_was_not_made_from_ones_own_is_404(
    service: Service,
) -> None:
    branch = await service.branch()
    twig, stranger = await branch.branch(), await service.elsewhere()
    for maker, other in ((service, stranger), (service, twig), (branch, service)):
        body = wanted("input:send", organization_id=str(other.organization_id))
        assert (await maker.post("/v1/tokens", body)).problem == "not-found"
    reply = await branch.post("/v1/organizations", {"name": "Twig"})
    assert reply.json["parent_id"] == str(branch.organization_id)


async def test_token_for_another_organization_carries_only_its_makers_scopes_and_end(
    service: Service,
) -> None:
    branch = await service.branch()
    own = (Scope.TOKENS_WRITE, Scope.ORGANIZATIONS_WRITE, Scope.INPUT_SEND)
    end = datetime.now(UTC).replace(microsecond=0) + timedelta(hours=1)
    token = await service.new_token(*own, expires_at=end)
    there = {"organization_id": str(branch.organization_id)}
    reply = await service.post("/v1/tokens", wanted("audit:read", **there), token=token)
    assert (reply.status, reply.json["scope"]) == (403, "audit:read")
    made = await service.post("/v1/tokens", wanted("input:send", **there), token=token)
    assert made.json["expires_at"] == format_time(end)


async def test_token_ends_with_its_maker_at_the_latest(service: Service) -> None:
    end = datetime.now(UTC).replace(microsecond=0) + timedelta(hours=1)
    token = await service.new_token(Scope.TOKENS_WRITE, expires_at=end)
    later = format_time(end + timedelta(milliseconds=1))
    reply = await service.post("/v1/tokens", wanted("tokens:write", expires_at=later), token=token)
    assert reply.faults == [(["body", "expires_at"], "later_than_maker")]
    assert format_time(end) in reply.json["detail"][0]["msg"]
    for asked, given in ((None, end), (end, end), (end - timedelta(minutes=1),) * 2):
        fields = {} if asked is None else {"expires_at": format_time(asked)}
        made = await service.post("/v1/tokens", wanted("tokens:write", **fields), token=token)
        assert made.json["expires_at"] == format_time(given)


async def test_token_without_an_end_makes_any(service: Service) -> None:
    end = format_time(datetime.now(UTC) + timedelta(days=4000))
    for fields in ({}, {"expires_at": end}):
        made = await service.post("/v1/tokens", wanted("audit:read", **fields))
        assert made.json["expires_at"] == fields.get("expires_at")


async def test_machines_own_token_outlives_its_maker_but_not_with_other_scopes(
    service: Service,
) -> None:
    await service.new_machine()
    end = datetime.now(UTC).replace(microsecond=0) + timedelta(hours=1)
    token = await service.new_token(
        *(Scope.TOKENS_WRITE, Scope.MACHINES_WRITE, Scope.INPUT_SEND), expires_at=end
    )
    alone = wanted("machine:connect", machine_id="desk-1")
    assert (await service.post("/v1/tokens", alone, token=token)).json["expires_at"] is None
    both = wanted("machine:connect", "input:send", machine_id="desk-1")
    made = await service.post("/v1/tokens", both, token=token)
    assert made.json["expires_at"] == format_time(end)


async def test_scope_and_role_of_a_newer_farhand_allow_nothing_and_harm_nothing(
    service: Service,
) -> None:
    made = (await service.post("/v1/tokens", wanted("machines:read"))).json
    tokens = service.server.services.operation.database.collection("tokens")
    newer = {"$addToSet": {"scopes": "teleport"}, "$set": {"role": "wizard"}}
    await tokens.update_one({"_id": UUID(made["id"])}, newer)
    assert (await service.get("/v1/machines", token=made["token"])).status == 200
    shown = (await service.get(f"/v1/tokens/{made['id']}")).json
    assert (shown["scopes"], shown["role"]) == (["machines:read"], None)


async def until_refused(service: Service, token: str) -> None:
    """Wait until the token opens nothing any more, for a few seconds at most."""
    give_up_at = time.monotonic() + PATIENCE_SECONDS
    while (await service.get("/v1/machines", token=token)).status == 200:
        assert time.monotonic() < give_up_at, "the token still works"
    assert (await service.get("/v1/machines", token=token)).refusal == (401, "unauthenticated")


@pytest.mark.parametrize("settings", [{"token_check": 0.1}])
async def test_revoked_token_stops_working_and_is_listed_no_more(service: Service) -> None:
    made = (await service.post("/v1/tokens", wanted("machines:read"))).json
    secret = made["token"]
    assert (await service.get("/v1/machines", token=secret)).status == 200
    assert (await service.request("DELETE", f"/v1/tokens/{made['id']}")).status == 204
    await until_refused(service, secret)
    listed = (await service.get("/v1/tokens")).json
    assert made["id"] not in [item["id"] for item in listed["items"]]


async def test_tokens_of_machines_are_left_out_of_a_list(service: Service) -> None:
    made = (await service.post("/v1/tokens", wanted("machines:read"))).json["id"]
    for value, is_there in (("false", True), ("true", False), ("", True)):
        listed = (await service.get(f"/v1/tokens?of_machines={value}")).json["items"]
        assert (made in [each["id"] for each in listed]) is is_there
    assert (await service.get("/v1/tokens?of_machines=some")).status == 422


async def test_what_another_organization_has_does_not_exist(service: Service) -> None:
    other = await service.elsewhere()
    made = (await service.post("/v1/tokens", wanted("machines:read"))).json
    for method in ("GET", "DELETE"):
        assert (await other.request(method, f"/v1/tokens/{made['id']}")).problem == "not-found"
    assert (await service.get("/v1/machines", token=made["token"])).status == 200
    ids = [item["id"] for item in (await other.get("/v1/tokens")).json["items"]]
    assert made["id"] not in ids


async def test_expired_token_is_401(service: Service) -> None:
    seconds, reply = 1, None
    # It has to end after the request has come, however long that takes.
    while reply is None or reply.status == 422:
        soon = format_time(datetime.now(UTC) + timedelta(seconds=seconds))
        reply = await service.post("/v1/tokens", wanted("machines:read", expires_at=soon))
        seconds *= 2
    assert reply.json["expires_at"] == soon
    await until_refused(service, reply.json["token"])
