"""Sessions of the console: seen and ended by whoever looks after tokens."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

from schemas.resources.tokens import Scope
from tests.server.api.test_console import ask, cookie_in, sign_in, signed_in
from tests.service import Service


async def listed(service: Service, query: str = "") -> list[dict[str, Any]]:
    reply = await service.get(f"/v1/sessions{query}")
    assert reply.status == 200, reply.body
    items: list[dict[str, Any]] = reply.json["items"]
    assert reply.json["total"] >= len(items)
    return items


async def test_session_is_listed_with_its_token_browser_and_times(service: Service) -> None:
    before = datetime.now(UTC) - timedelta(seconds=1)
    token = (await service.post("/v1/tokens", {"name": "of Anna", "role": "viewer"})).json
    reply = await sign_in(service, token["token"], **{"User-Agent": "A browser"})
    [session] = await listed(service)
    told = {name: session[name] for name in ("token_id", "token_name", "user_agent", "current")}
    assert told == {
        "token_id": token["id"],
        "token_name": "of Anna",
        "user_agent": "A browser",
        "current": False,
    }
    begun, used, ends = (
        datetime.fromisoformat(session[name])
        for name in ("created_at", "last_used_at", "expires_at")
    )
    assert before < begun == used < ends
    secret = cookie_in(reply).value
    assert session["id"] not in secret
    # Neither is the id good for getting in, nor anything else that is shown.
    headers = {"Cookie": f"farhand_session={session['id']}"}
    assert (await ask(service, "/console/session", headers)).status == 401


async def test_list_has_parts_and_those_of_one_token(service: Service) -> None:
    token = (await service.post("/v1/tokens", {"name": "t", "role": "viewer"})).json
    for secret in (token["token"], service.token, token["token"]):
        await signed_in(service, secret)
    page = (await service.get("/v1/sessions?skip=1&limit=1")).json
    assert (page["total"], page["skip"], page["limit"], len(page["items"])) == (3, 1, 1, 1)
    assert [each["token_name"] for each in page["items"]] != ["t"]
    of_token = await listed(service, f"?token_id={token['id']}")
    assert [each["token_id"] for each in of_token] == [token["id"]] * 2
    assert of_token[0]["created_at"] >= of_token[1]["created_at"]
    assert await listed(service, f"?token_id={uuid4()}") == []
    beyond = (await service.get("/v1/sessions?skip=9")).json
    assert (beyond["items"], beyond["total"]) == ([], 3)
    assert (await service.get("/v1/sessions?token_id=mine")).status == 422


async def test_ended_session_opens_nothing_and_leaves_its_token_good(service: Service) -> None:
    token = await service.new_token(Scope.MACHINES_READ)
    headers, others = await signed_in(service, token), await signed_in(service, token)
    assert (await ask(service, "/v1/machines", headers)).status == 200
    session_id = (await listed(service))[1]["id"]
    assert (await service.request("DELETE", f"/v1/sessions/{session_id}")).status == 204
    reply = await ask(service, "/v1/machines", headers)
    assert (reply.status, reply.problem) == (401, "unauthenticated")
    assert (await ask(service, "/v1/machines", others)).status == 200
    assert (await service.get("/v1/machines", token=token)).status == 200
    assert session_id not in [each["id"] for each in await listed(service)]
    again = await service.request("DELETE", f"/v1/sessions/{session_id}")
    assert (again.status, again.problem) == (404, "not-found")


async def test_ones_own_session_is_marked_and_ending_it_is_signing_out(service: Service) -> None:
    await signed_in(service)
    headers = await signed_in(service)
    items = (await ask(service, "/v1/sessions", headers)).json["items"]
    assert [each["current"] for each in items] == [True, False]
    path = f"/v1/sessions/{items[0]['id']}"
    reply = await ask(service, path, headers, method="DELETE")
    assert reply.status == 204
    assert cookie_in(reply).value == ""
    assert (await ask(service, "/console/session", headers)).status == 401


async def test_another_page_ends_no_session(service: Service) -> None:
    headers = await signed_in(service)
    [session] = await listed(service)
    wrong = {**headers, "Sec-Fetch-Site": "cross-site"}
    reply = await ask(service, f"/v1/sessions/{session['id']}", wrong, method="DELETE")
    assert reply.problem == "cross-site-request"
    assert await listed(service) == [session]


async def test_ending_is_in_the_audit_with_the_token_of_the_session(service: Service) -> None:
    token = (await service.post("/v1/tokens", {"name": "of Anna", "role": "viewer"})).json
    await signed_in(service, token["token"])
    [session] = await listed(service)
    await service.request("DELETE", f"/v1/sessions/{session['id']}")
    entry = (await service.get("/v1/audit?action=session")).json["items"][0]
    assert (entry["action"], entry["target"]) == ("session.ended", token["id"])
    assert (entry["target_name"], entry["grant"]["role"]) == ("of Anna", "viewer")
    assert entry["token_name"] != "of Anna"


async def test_sessions_that_open_nothing_are_not_listed(service: Service) -> None:
    token = (await service.post("/v1/tokens", {"name": "t", "role": "viewer"})).json
    await signed_in(service, token["token"])
    await signed_in(service)
    assert len(await listed(service)) == 2
    await service.request("DELETE", f"/v1/tokens/{token['id']}")
    [left] = await listed(service)
    collection = service.server.services.operation.database.collection("sessions")
    long_ago = datetime.now(UTC) - timedelta(days=2)
    of_us = {"organization_id": service.organization_id}
    await collection.update_many(of_us, {"$set": {"used_at": long_ago}})
    assert await listed(service) == []
    refused = await service.request("DELETE", f"/v1/sessions/{left['id']}")
    assert refused.status == 404
