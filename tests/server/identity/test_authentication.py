import asyncio
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from schemas.http.problems import ProblemError
from schemas.resources.tokens import Scope
from server.identity import authentication
from server.identity.authentication import Authenticator, new_secret, secret_hash
from server.identity.secret_lookup import FailedAttempts
from server.store.identity.tokens import TokenStore
from server.tasks import Tasks
from tests.clock import Clock
from tests.service import PATIENCE_SECONDS, Service
from tests.store import insert_token

ADDRESS = "192.0.2.1"


def authenticator_of(service: Service, cache_seconds: float = 60.0) -> Authenticator:
    services = service.server.services
    return Authenticator(
        service.stores.tokens,
        services.background,
        cache_seconds,
        FailedAttempts(),
    )


def test_secrets_have_the_public_beginning_and_256_random_bits() -> None:
    secrets = {new_secret() for _ in range(100)}
    assert len(secrets) == 100
    for secret in secrets:
        assert secret.startswith("fh_")
        assert len(secret) == 3 + 43


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "Bearer",
        "Bearer ",
        "Basic dTpw",
        "fh_abc",
        "Bearer fh_\u00fc",
        "Bearer " + "x" * 201,
    ],
)
async def test_header_that_holds_no_token_is_401(service: Service, header: str | None) -> None:
    with pytest.raises(ProblemError) as caught:
        await authenticator_of(service).principal(header, ADDRESS)
    assert caught.value.problem_type.status == 401
    assert caught.value.headers["WWW-Authenticate"].startswith("Bearer")


@pytest.mark.parametrize("form", ["Bearer {}", "bearer {}", "BEARER   {} "])
async def test_scheme_has_any_case(service: Service, form: str) -> None:
    principal = await authenticator_of(service).principal(form.format(service.token), ADDRESS)
    assert principal.organization_id == service.organization_id
    assert Scope.INPUT_SEND in principal.scopes


async def test_token_is_read_again_only_after_the_time_for_which_it_is_remembered(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    find, reads = TokenStore.find_by_hash, []

    async def counted(store: TokenStore, digest: bytes) -> Any:
        reads.append(digest)
        return await find(store, digest)

    monkeypatch.setattr(TokenStore, "find_by_hash", counted)
    header = f"Bearer {service.token}"
    patient = authenticator_of(service)
    await patient.principal(header, ADDRESS)
    await patient.principal(header, ADDRESS)
    assert reads == [secret_hash(service.token)]
    hurried = authenticator_of(service, cache_seconds=-1.0)
    await hurried.principal(header, ADDRESS)
    await hurried.principal(header, ADDRESS)
    assert len(reads) == 3


async def test_revoked_token_is_401_when_it_is_read_again(service: Service) -> None:
    token = await service.new_token(Scope.MACHINES_READ)
    authenticator = authenticator_of(service, cache_seconds=-1.0)
    principal = await authenticator.principal(f"Bearer {token}", ADDRESS)
    await service.stores.tokens.revoke(service.organization_id, principal.token_id)
    with pytest.raises(ProblemError, match="revoked"):
        await authenticator.principal(f"Bearer {token}", ADDRESS)


async def test_token_that_expires_while_it_is_remembered_is_401(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret, began = new_secret(), datetime.now(UTC)
    expires_at, clock = began + timedelta(seconds=60), Clock()
    wall = SimpleNamespace(now=lambda _: began + timedelta(seconds=clock.now))
    monkeypatch.setattr(authentication, "datetime", wall)
    monkeypatch.setattr(authentication, "time", SimpleNamespace(monotonic=clock))
    tokens = service.stores.tokens
    await insert_token(
        tokens, service.organization_id, "soon", secret_hash(secret), [], expires_at=expires_at
    )
    authenticator = authenticator_of(service, cache_seconds=3600.0)
    for clock.now in (0.0, 59.0):
        await authenticator.principal(f"Bearer {secret}", ADDRESS)
    clock.now = 60.0
    with pytest.raises(ProblemError, match="expired"):
        await authenticator.principal(f"Bearer {secret}", ADDRESS)


async def test_only_so_many_tokens_are_remembered(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(authentication, "MAX_CACHED", 2)
    authenticator = authenticator_of(service)
    for _ in range(4):
        token = await service.new_token(Scope.MACHINES_READ)
        await authenticator.principal(f"Bearer {token}", ADDRESS)
    assert len(authenticator._cache) == 2


async def test_unknown_tokens_are_not_remembered(service: Service) -> None:
    authenticator = authenticator_of(service)
    for _ in range(3):
        with pytest.raises(ProblemError):
            await authenticator.principal(f"Bearer {new_secret()}", ADDRESS)
    assert not authenticator._cache


async def test_use_of_a_token_is_noted_once_a_minute(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    touch, touched = TokenStore.touch, []

    async def counted(store: TokenStore, token_id: Any, when: datetime) -> None:
        touched.append(when)
        await touch(store, token_id, when)

    monkeypatch.setattr(TokenStore, "touch", counted)
    background = Tasks()
    authenticator = Authenticator(service.stores.tokens, background, -1.0, FailedAttempts())
    for _ in range(3):
        await authenticator.principal(f"Bearer {service.token}", ADDRESS)
        await asyncio.sleep(0)
    await background.close(PATIENCE_SECONDS)
    assert len(touched) == 1
    # Uses are not waited for; a majority that has this later write has them too.
    await service.new_token(Scope.MACHINES_READ)
    stored = await service.stores.tokens.find_by_hash(secret_hash(service.token))
    assert stored is not None
    assert stored.last_used_at is not None
