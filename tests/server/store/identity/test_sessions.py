from datetime import timedelta
from uuid import uuid4

import pytest

from schemas.http.queries import PageQuery
from server.identity import authentication
from server.store.identity import sessions as sessions_module
from server.store.identity.sessions import SessionStore
from server.store.times import now
from tests.service import Service


def store_of(service: Service) -> SessionStore:
    return SessionStore(service.server.services.operation.database)


def unique() -> bytes:
    """A hash that no other test uses."""
    return uuid4().bytes + uuid4().bytes


async def test_session_is_found_by_its_hash_as_it_was_made(service: Service) -> None:
    store, digest, token = store_of(service), unique(), unique()
    expires_at = now() + timedelta(hours=1)
    made = await store.create(digest, token, service.organization_id, expires_at)
    found = await store.find(digest)
    assert found == made
    assert (made.token_hash, made.expires_at) == (token, expires_at)
    assert made.used_at == made.created_at


async def test_unknown_session_is_none(service: Service) -> None:
    assert await store_of(service).find(unique()) is None


async def test_ended_session_is_gone_and_ending_it_again_does_nothing(service: Service) -> None:
    store, digest = store_of(service), unique()
    await store.create(digest, unique(), service.organization_id, now() + timedelta(hours=1))
    await store.delete(digest)
    await store.delete(digest)
    assert await store.find(digest) is None


async def test_sessions_of_the_organization_are_listed_with_their_tokens(service: Service) -> None:
    store, idle, expires_at = store_of(service), timedelta(hours=1), now() + timedelta(hours=1)
    theirs = await service.elsewhere()
    for of in (service, theirs):
        digest = authentication.secret_hash(of.token)
        await store.create(unique(), digest, of.organization_id, expires_at, "A browser")
    # Without a token that is there, and over.
    await store.create(unique(), unique(), service.organization_id, expires_at)
    await store.create(unique(), digest, theirs.organization_id, now() - timedelta(seconds=1))
    for of in (service, theirs):
        [found], total = await store.list(of.organization_id, PageQuery(), idle)
        assert (found.session.user_agent, total) == ("A browser", 1)
        assert found.token.organization_id == of.organization_id
        assert await store.get(of.organization_id, found.session.id, idle) == found
        assert await store.list(of.organization_id, PageQuery(), timedelta(0)) == ([], 0)
        assert await store.get(of.organization_id, found.session.id, timedelta(0)) is None
    assert await store.get(service.organization_id, found.session.id, idle) is None
    assert await store.get(service.organization_id, uuid4(), idle) is None


async def test_earlier_use_does_not_replace_a_later_one(service: Service) -> None:
    store, digest = store_of(service), unique()
    made = await store.create(digest, unique(), service.organization_id, now() + timedelta(hours=1))
    later = made.used_at + timedelta(minutes=2)
    await store.touch(digest, later)
    await store.touch(digest, later - timedelta(minutes=1))
    # Uses are not waited for; a majority that has this later write has them too.
    await store.create(unique(), unique(), service.organization_id, later)
    found = await store.find(digest)
    assert found is not None
    assert found.used_at == later


async def test_oldest_sessions_of_a_token_end_beyond_the_bound(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions_module, "MAX_FOR_A_TOKEN", 2)
    store, token = store_of(service), unique()
    other = unique()
    expires_at = now() + timedelta(hours=1)
    await store.create(other, unique(), service.organization_id, expires_at)
    made = []
    times = iter(now() + timedelta(seconds=number) for number in range(4))
    monkeypatch.setattr(sessions_module, "now", lambda: next(times))
    for _ in range(4):
        made.append(unique())
        await store.create(made[-1], token, service.organization_id, expires_at)
    assert [await store.find(digest) is not None for digest in made] == [False, False, True, True]
    assert await store.find(other) is not None
