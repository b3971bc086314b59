import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tornado.httputil import HTTPHeaders, HTTPServerRequest, RequestStartLine

from schemas.http.problems import ProblemError
from schemas.resources.sessions import SessionQuery
from schemas.resources.tokens import Scope
from server.identity import authentication
from server.identity.secret_lookup import FailedAttempts
from server.identity.sessions import (
    Sessions,
    check_own_request,
    check_own_websocket,
    is_https,
)
from server.store.identity.sessions import SessionStore
from tests.service import PATIENCE_SECONDS, Service

HOUR = 3600.0
ADDRESS = "192.0.2.1"


def sessions_of(
    service: Service, *, cache_seconds: float = -1.0, lifetime: float = HOUR, idle: float = HOUR
) -> Sessions:
    services, failed_attempts = service.server.services, FailedAttempts()
    return Sessions(
        SessionStore(services.operation.database),
        service.stores.tokens,
        authentication.Authenticator(
            service.stores.tokens,
            services.background,
            cache_seconds,
            failed_attempts,
        ),
        services.background,
        failed_attempts,
        cache_seconds=cache_seconds,
        lifetime=lifetime,
        idle=idle,
    )


async def refused(sessions: Sessions, secret: str) -> ProblemError:
    with pytest.raises(ProblemError) as caught:
        await sessions.principal(secret, ADDRESS)
    return caught.value


async def test_session_stands_for_its_token(service: Service) -> None:
    token = await service.new_token(Scope.MACHINES_READ)
    sessions = sessions_of(service)
    begun = await sessions.begin(token, ADDRESS)
    principal, expires_at = await sessions.principal(begun.secret, ADDRESS)
    assert principal == begun.principal
    assert principal.scopes == {Scope.MACHINES_READ}
    assert principal.organization_id == service.organization_id
    left = expires_at - datetime.now(UTC)
    assert timedelta(minutes=59) < left <= timedelta(hours=1)


async def test_session_has_256_random_bits_and_says_nothing_of_its_token(service: Service) -> None:
    sessions = sessions_of(service)
    secrets = {(await sessions.begin(service.token, ADDRESS)).secret for _ in range(3)}
    assert len(secrets) == 3
    assert {len(secret) for secret in secrets} == {43}
    assert not [secret for secret in secrets if secret in service.token]


@pytest.mark.parametrize("secret", ["", "unknown", "\u00fc", "x" * 101, "x" * 43])
async def test_text_that_is_no_session_is_401(service: Service, secret: str) -> None:
    problem = await refused(sessions_of(service), secret)
    assert (problem.problem_type.status, problem.detail) == (
        401,
        "the session has ended: sign in again",
    )


@pytest.mark.parametrize("token", ["", "fh_unknown", "fh_\u00fc", "x" * 201])
async def test_nobody_signs_in_with_what_is_no_token(service: Service, token: str) -> None:
    with pytest.raises(ProblemError, match="not known or was revoked"):
        await sessions_of(service).begin(token, ADDRESS)


async def test_machine_does_not_sign_in(service: Service) -> None:
    machine = await service.new_machine()
    with pytest.raises(ProblemError, match="token of a machine") as caught:
        await sessions_of(service).begin(machine.token, ADDRESS)
    assert caught.value.problem_type.status == 403


async def test_session_ends_with_the_revocation_of_its_token(service: Service) -> None:
    token = await service.new_token(Scope.MACHINES_READ)
    sessions = sessions_of(service)
    begun = await sessions.begin(token, ADDRESS)
    tokens = service.stores.tokens
    await tokens.revoke(service.organization_id, begun.principal.token_id)
    assert (await refused(sessions, begun.secret)).problem_type.status == 401


async def test_session_does_not_outlive_its_token(service: Service) -> None:
    expires_at = datetime.now(UTC).replace(microsecond=0) + timedelta(minutes=5)
    token = await service.new_token(Scope.MACHINES_READ, expires_at=expires_at)
    assert (await sessions_of(service).begin(token, ADDRESS)).expires_at == expires_at


async def test_session_ends_with_its_lifetime_and_when_nobody_uses_it(service: Service) -> None:
    begun = await sessions_of(service, lifetime=-1.0).begin(service.token, ADDRESS)
    assert (await refused(sessions_of(service), begun.secret)).problem_type.status == 401
    begun = await sessions_of(service).begin(service.token, ADDRESS)
    assert (await refused(sessions_of(service, idle=-1.0), begun.secret)).problem_type.status == 401
    assert await sessions_of(service).principal(begun.secret, ADDRESS)


async def test_what_a_browser_calls_itself_is_kept_short_and_without_controls(
    service: Service,
) -> None:
    sessions = sessions_of(service)
    for said, kept in (
        ("x\x9b31m\t" + "y" * 500, ("x31m" + "y" * 500)[:200]),
        (" \x07 ", None),
        ("", None),
    ):
        begun = await sessions.begin(service.token, ADDRESS, said)
        page = await sessions.page(begun.principal, SessionQuery(limit=1), None)
        assert page.items[0].user_agent == kept


async def test_session_is_ended_by_its_id_wherever_it_is_remembered(service: Service) -> None:
    here = sessions_of(service, cache_seconds=HOUR)
    begun = await here.begin(service.token, ADDRESS)
    await here.principal(begun.secret, ADDRESS)
    own = authentication.secret_hash(begun.secret)
    [found] = (await here.page(begun.principal, SessionQuery(), own)).items
    assert found.current
    await here.end_one(begun.principal, found.id)
    await refused(here, begun.secret)
    await refused(sessions_of(service), begun.secret)
    with pytest.raises(ProblemError, match="there is no session"):
        await here.end_one(begun.principal, found.id)


async def test_session_that_was_ended_is_forgotten_at_once_and_everywhere(service: Service) -> None:
    sessions = sessions_of(service, cache_seconds=HOUR)
    begun = await sessions.begin(service.token, ADDRESS)
    await sessions.principal(begun.secret, ADDRESS)
    await sessions.end(begun.secret)
    await refused(sessions, begun.secret)
    await refused(sessions_of(service), begun.secret)


async def test_session_is_read_again_only_after_the_time_for_which_it_is_remembered(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    find, reads = SessionStore.find, []

    async def counted(store: SessionStore, digest: bytes) -> Any:
        reads.append(digest)
        return await find(store, digest)

    monkeypatch.setattr(SessionStore, "find", counted)
    patient = sessions_of(service, cache_seconds=HOUR)
    begun = await patient.begin(service.token, ADDRESS)
    for _ in range(3):
        await patient.principal(begun.secret, ADDRESS)
    assert len(reads) == 1
    hurried = sessions_of(service)
    for _ in range(3):
        await hurried.principal(begun.secret, ADDRESS)
    assert len(reads) == 4


async def test_use_is_noted_so_that_who_works_stays_signed_in(service: Service) -> None:
    sessions = sessions_of(service)
    begun = await sessions.begin(service.token, ADDRESS)
    digest = authentication.secret_hash(begun.secret)
    store = SessionStore(service.server.services.operation.database)
    early = datetime.now(UTC) - timedelta(minutes=5)
    await service.server.services.operation.database.collection("sessions").update_one(
        {"_id": digest}, {"$set": {"used_at": early}}
    )
    await sessions.principal(begun.secret, ADDRESS)
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            found = await store.find(digest)
            assert found is not None
            if found.used_at > early + timedelta(minutes=4):
                break
            await asyncio.sleep(0.01)


def request(method: str, **headers: str) -> HTTPServerRequest:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return HTTPServerRequest(
        headers=HTTPHeaders({"Host": "farhand.example", **named}),
        start_line=RequestStartLine(method, "/", "HTTP/1.1"),
    )


OWN = {"Origin": "https://farhand.example", "Farhand_Console": "1"}


@pytest.mark.parametrize(
    ("method", "headers"),
    [
        ("GET", {}),
        ("GET", {"Sec_Fetch_Site": "same-origin"}),
        ("GET", {"Sec_Fetch_Site": "none"}),
        ("HEAD", {}),
        ("POST", OWN),
        ("POST", {**OWN, "Origin": "http://FARHAND.example"}),
        ("DELETE", {"Farhand_Console": "1", "Sec_Fetch_Site": "same-origin"}),
        # A proxy may have taken the port from the Host that the browser asked.
        (
            "POST",
            {**OWN, "Origin": "https://farhand.example:8443", "Sec_Fetch_Site": "same-origin"},
        ),
    ],
)
def test_request_of_the_console_itself_is_taken(method: str, headers: Mapping[str, str]) -> None:
    check_own_request(request(method, **headers))


@pytest.mark.parametrize(
    ("method", "headers"),
    [
        ("GET", {"Sec_Fetch_Site": "cross-site"}),
        ("GET", {"Sec_Fetch_Site": "same-site"}),
        ("POST", {}),
        ("POST", {"Farhand_Console": "1"}),
        ("POST", {"Origin": "https://farhand.example"}),
        ("POST", {**OWN, "Origin": "null"}),
        ("POST", {**OWN, "Origin": "https://evil.example"}),
        ("POST", {**OWN, "Origin": "https://farhand.example:8601"}),
        ("POST", {**OWN, "Origin": "https://farhand.example.evil.example"}),
        ("POST", {**OWN, "Sec_Fetch_Site": "cross-site"}),
        ("POST", {**OWN, "Sec_Fetch_Site": "same-site"}),
        ("PATCH", {**OWN, "Farhand_Console": "0"}),
    ],
)
def test_request_that_another_page_could_have_sent_is_403(
    method: str, headers: Mapping[str, str]
) -> None:
    with pytest.raises(ProblemError) as caught:
        check_own_request(request(method, **headers))
    assert caught.value.problem_type.name == "cross-site-request"


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({}, False),
        ({"Origin": "http://farhand.example"}, False),
        ({"Origin": "https://farhand.example"}, True),
        ({"X_Forwarded_Proto": "https"}, True),
    ],
)
def test_https_is_known_behind_a_proxy(headers: Mapping[str, str], expected: bool) -> None:
    assert is_https(request("POST", **headers)) is expected


@pytest.mark.parametrize(
    ("headers", "has_session", "is_own"),
    [
        ({"Origin": "https://farhand.example"}, True, True),
        ({"Origin": "https://evil.example"}, True, False),
        ({"Origin": "https://farhand.example:8443"}, True, False),
        ({"Sec_Fetch_Site": "same-origin"}, True, True),
        ({"Sec_Fetch_Site": "same-site", "Origin": "https://farhand.example"}, True, False),
        # A cookie without a word of where it comes from is no browser's, and no program's either.
        ({}, True, False),
        ({"Origin": "null"}, True, False),
        ({}, False, True),
        ({"Origin": "https://evil.example"}, False, False),
    ],
)
def test_websocket_is_for_the_consoles_own_pages_and_for_programs(
    headers: dict[str, str], has_session: bool, is_own: bool
) -> None:
    opened = request("GET", **headers)
    if is_own:
        check_own_websocket(opened, has_session=has_session)
    else:
        with pytest.raises(ProblemError) as refused:
            check_own_websocket(opened, has_session=has_session)
        assert refused.value.problem_type.name == "cross-site-request"
