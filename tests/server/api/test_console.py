"""The console's files, signing in and out, and the cookie in the place of the token."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from http.cookies import Morsel, SimpleCookie
from typing import Any

import pytest

from schemas.resources.tokens import Scope
from schemas.values.times import format_time
from tests.service import Reply, Service, until

OWN = {"Farhand-Console": "1", "Sec-Fetch-Site": "same-origin"}


def cookie_in(reply: Reply) -> Morsel[str]:
    return SimpleCookie(reply.headers["Set-Cookie"])["farhand_session"]


async def sign_in(service: Service, token: str, **headers: str) -> Reply:
    sent = {**OWN, **headers}
    return await service.post("/console/session", {"token": token}, token=None, headers=sent)


async def signed_in(service: Service, token: str = "") -> dict[str, str]:
    """The headers of a browser that has signed in."""
    reply = await sign_in(service, token or service.token)
    assert reply.status == 204, reply.body
    return {**OWN, "Cookie": f"farhand_session={cookie_in(reply).value}"}


async def ask(service: Service, path: str, headers: Mapping[str, str], **options: Any) -> Reply:
    return await service.request(
        options.pop("method", "GET"), path, token=None, headers=headers, **options
    )


async def test_console_is_found_without_its_last_slash_whatever_is_before_it(
    service: Service,
) -> None:
    reply = await service.get("/console", token=None)
    assert (reply.status, reply.headers["Location"]) == (302, "console/")


async def test_page_allows_nothing_but_its_own_files(service: Service) -> None:
    reply = await service.get("/console/", token=None)
    assert reply.status == 200
    assert reply.headers["Content-Type"] == "text/html; charset=utf-8"
    policy = dict(
        part.split(" ", 1) for part in reply.headers["Content-Security-Policy"].split("; ")
    )
    assert policy.pop("require-trusted-types-for") == "'script'"
    assert policy.pop("trusted-types") == "'none'"
    assert policy == {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self'",
        "img-src": "'self' blob:",
        "connect-src": "'self'",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
    }
    for name, value in {
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Opener-Policy": "same-origin",
        "X-Frame-Options": "DENY",
        "Cache-Control": "no-cache",
    }.items():
        assert reply.headers[name] == value
    assert "Server" not in reply.headers


async def test_files_of_the_page_are_kept_for_good_under_their_version(service: Service) -> None:
    page = (await service.get("/console/", token=None)).body.decode()
    addresses = re.findall(r'(?:href|src)="(static/[^"]+)"', page)
    assert len(addresses) > 10
    for address in addresses:
        reply = await service.get(f"/console/{address}", token=None)
        assert reply.status == 200
        assert reply.headers["Cache-Control"] == "public, max-age=31536000, immutable"
        assert reply.headers["X-Content-Type-Options"] == "nosniff"
        kind = {"js": "text/javascript", "css": "text/css", "svg": "image/svg+xml"}
        assert reply.headers["Content-Type"].startswith(kind[address.rpartition(".")[2]])


async def test_file_of_another_version_is_not_kept(service: Service) -> None:
    reply = await service.get("/console/static/0123456789abcdef/app.js", token=None)
    assert (reply.status, reply.headers["Cache-Control"]) == (200, "no-cache")


@pytest.mark.parametrize("path", ["/console/", "/console/static/1/app.js"])
async def test_file_that_the_browser_has_is_not_sent_again(service: Service, path: str) -> None:
    tag = (await service.get(path, token=None)).headers["ETag"]
    reply = await service.get(path, token=None, headers={"If-None-Match": tag})
    assert (reply.status, reply.body) == (304, b"")
    other = await service.get(path, token=None, headers={"If-None-Match": '"another"'})
    assert other.status == 200


@pytest.mark.parametrize(
    "name", ["nothing.js", "index.html", "..%2fassets.py", "%2e%2e%2f__init__.py", "app.js%00"]
)
async def test_file_that_the_console_does_not_have_is_404(service: Service, name: str) -> None:
    reply = await service.get(f"/console/static/1/{name}", token=None)
    assert (reply.status, reply.problem) == (404, "not-found")


async def test_token_becomes_a_cookie_that_scripts_and_other_sites_do_not_get(
    service: Service,
) -> None:
    reply = await sign_in(service, f" {service.token}\n")
    assert (reply.status, reply.body) == (204, b"")
    cookie = cookie_in(reply)
    assert (cookie["httponly"], cookie["samesite"], cookie["path"]) == (True, "Strict", "/")
    assert cookie["secure"] == ""
    assert cookie["expires"]
    assert cookie.value not in service.token


async def test_cookie_is_for_https_alone_where_that_is_spoken(service: Service) -> None:
    reply = await sign_in(service, service.token, **{"X-Forwarded-Proto": "https"})
    assert cookie_in(reply)["secure"] is True


async def test_session_says_who_is_signed_in(service: Service) -> None:
    token = await service.new_token(Scope.MACHINES_READ, Scope.INPUT_SEND)
    reply = await ask(service, "/console/session", await signed_in(service, token))
    assert reply.status == 200
    said = reply.json
    assert said.pop("expires_at").endswith("Z")
    assert said == {
        "token_name": "of a test",
        "organization_id": str(service.organization_id),
        "scopes": ["input:send", "machines:read"],
    }
    assert reply.headers["Cache-Control"] == "no-store"


async def test_session_makes_no_token_that_outlives_its_own(service: Service) -> None:
    end = datetime.now(UTC).replace(microsecond=0) + timedelta(hours=1)
    headers = await signed_in(service, await service.new_token(Scope.TOKENS_WRITE, expires_at=end))
    body: dict[str, Any] = {"name": "t", "scopes": ["tokens:write"]}
    made = await ask(service, "/v1/tokens", headers, method="POST", body=body)
    assert made.json["expires_at"] == format_time(end)
    later = {**body, "expires_at": format_time(end + timedelta(days=1))}
    assert (await ask(service, "/v1/tokens", headers, method="POST", body=later)).status == 422


async def test_bearer_of_a_token_is_told_who_he_is_too(service: Service) -> None:
    reply = await service.get("/console/session")
    assert (reply.status, reply.json["expires_at"]) == (200, None)


async def test_wrong_token_is_401_and_sets_no_cookie(service: Service) -> None:
    reply = await sign_in(service, "fh_wrong")
    assert (reply.status, reply.problem) == (401, "unauthenticated")
    assert "Set-Cookie" not in reply.headers


async def test_body_that_is_no_sign_in_is_422(service: Service) -> None:
    for body in ({}, {"token": 5}, {"token": ""}, {"token": "fh_x", "more": 1}):
        assert (await service.post("/console/session", body, token=None, headers=OWN)).status == 422


@pytest.mark.parametrize("lacking", sorted(OWN))
async def test_other_page_signs_nobody_in(service: Service, lacking: str) -> None:
    headers = {name: value for name, value in OWN.items() if name != lacking}
    reply = await service.post(
        "/console/session", {"token": service.token}, token=None, headers=headers
    )
    assert (reply.status, reply.problem) == (403, "cross-site-request")


async def test_cookie_does_what_its_token_may_and_no_more(service: Service) -> None:
    await service.new_machine("desk-1")
    headers = await signed_in(service, await service.new_token(Scope.MACHINES_READ))
    assert (await ask(service, "/v1/machines/desk-1", headers)).status == 200
    reply = await ask(service, "/v1/trajectories", headers)
    assert (reply.status, reply.json["scope"]) == (403, "trajectories:read")


async def test_cookie_sends_inputs_and_changes_when_the_request_is_the_consoles_own(
    service: Service,
) -> None:
    machine = await service.new_machine("desk-1")
    headers = await signed_in(service)
    async with machine.connected() as link:
        moving = service.server.services.background.start(
            ask(service, machine.input_path(), headers, method="POST", body={"x": 3, "y": 4}),
            "a browser",
        )
        await link.obeys(moving)
    path = "/v1/machines/desk-1"
    reply = await ask(service, path, headers, method="PATCH", body={"paused": True})
    assert (reply.status, reply.json["paused"]) == (200, True)


@pytest.mark.parametrize(
    "wrong",
    [
        {"Farhand-Console": ""},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "", "Origin": "http://evil.example"},
        {"Sec-Fetch-Site": ""},
    ],
)
async def test_other_page_changes_nothing_with_the_cookie(
    service: Service, wrong: Mapping[str, str]
) -> None:
    await service.new_machine("desk-1")
    headers = await signed_in(service)
    for method, body in (("PATCH", {"paused": True}), ("DELETE", None)):
        reply = await ask(
            service, "/v1/machines/desk-1", {**headers, **wrong}, method=method, body=body
        )
        assert (reply.status, reply.problem) == (403, "cross-site-request")
    assert (await service.get("/v1/machines/desk-1")).json["paused"] is False


async def test_other_page_reads_nothing_with_the_cookie(service: Service) -> None:
    headers = {**await signed_in(service), "Sec-Fetch-Site": "same-site"}
    assert (await ask(service, "/v1/machines", headers)).problem == "cross-site-request"


async def test_origin_will_do_where_the_browser_says_no_more(service: Service) -> None:
    await service.new_machine("desk-1")
    headers = {**await signed_in(service), "Origin": service.url}
    del headers["Sec-Fetch-Site"]
    reply = await ask(
        service, "/v1/machines/desk-1", headers, method="PATCH", body={"paused": True}
    )
    assert reply.status == 200


async def test_token_in_the_header_counts_more_than_the_cookie(service: Service) -> None:
    elsewhere = await service.elsewhere()
    headers = {**await signed_in(elsewhere), "Sec-Fetch-Site": "cross-site"}
    reply = await service.get("/console/session", headers=headers)
    assert reply.json["organization_id"] == str(service.organization_id)


async def test_signed_out_cookie_opens_nothing_even_where_it_was_copied(service: Service) -> None:
    headers = await signed_in(service)
    assert (await ask(service, "/v1/machines", headers)).status == 200
    reply = await ask(service, "/console/session", headers, method="DELETE")
    assert (reply.status, reply.body) == (204, b"")
    assert cookie_in(reply).value == ""
    again = await ask(service, "/v1/machines", headers)
    assert (again.status, again.problem) == (401, "unauthenticated")
    assert "sign in again" in again.json["detail"]


async def test_signing_out_without_a_session_is_no_error(service: Service) -> None:
    assert (await ask(service, "/console/session", {}, method="DELETE")).status == 204
    headers = {**OWN, "Cookie": "farhand_session=\xfc"}
    assert (await ask(service, "/console/session", headers, method="DELETE")).status == 204


async def test_signing_in_and_out_is_in_the_audit(service: Service) -> None:
    headers = await signed_in(service, await service.new_token(Scope.MACHINES_READ))
    await ask(service, "/console/session", headers, method="DELETE")
    entries = (await service.get("/v1/audit?action=session")).json["items"]
    assert [entry["action"] for entry in entries] == ["session.ended", "session.started"]
    assert [entry["grant"] for entry in entries] == [
        {"role": None, "scopes": ["machines:read"]}
    ] * 2
    assert {entry["token_name"] for entry in entries} == {"of a test"}
    assert {entry["target_name"] for entry in entries} == {"of a test"}


async def test_other_page_signs_nobody_out(service: Service) -> None:
    headers = await signed_in(service)
    wrong = {**headers, "Sec-Fetch-Site": "cross-site"}
    assert (await ask(service, "/console/session", wrong, method="DELETE")).status == 403
    assert (await ask(service, "/console/session", headers)).status == 200


async def test_signing_in_again_ends_the_session_before(service: Service) -> None:
    before = await signed_in(service)
    reply = await service.post(
        "/console/session", {"token": service.token}, token=None, headers=before
    )
    assert reply.status == 204
    assert (await ask(service, "/console/session", before)).status == 401


async def test_session_is_over_soon_after_its_token_was_revoked(service: Service) -> None:
    token = await service.new_token(Scope.MACHINES_READ)
    headers = await signed_in(service, token)
    assert (await ask(service, "/v1/machines", headers)).status == 200
    tokens = (await service.get("/v1/tokens")).json["items"]
    (wanted,) = [each["id"] for each in tokens if each["name"] == "of a test"]
    assert (await service.request("DELETE", f"/v1/tokens/{wanted}")).status == 204
    statuses: list[int] = []

    async def look() -> None:
        statuses.append((await ask(service, "/v1/machines", headers)).status)

    background = service.server.services.background

    def ended() -> bool:
        background.start(look(), "look")
        return 401 in statuses

    await until(ended)


async def test_neither_token_nor_session_is_in_the_log(
    service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level("DEBUG"):
        headers = await signed_in(service)
        await ask(service, "/console/session", headers)
        service.flush_access_log()
    assert "/console/session 204" in caplog.text
    assert service.token not in caplog.text
    assert headers["Cookie"].partition("=")[2] not in caplog.text
