"""New scopes reach the administrator's token, and no other."""

import asyncio
from datetime import datetime, timedelta
from uuid import UUID

import pytest
from tornado.ioloop import IOLoop

from server.store.identity.administrators import grant_new_scopes
from server.store.identity.tokens import StoredToken, TokenStore
from server.store.mongodb.database import Database
from server.store.times import now
from tests.store import ORGANIZATION, OTHER_ORGANIZATION, insert_token, there

FIRST_SCOPES = ("machines:read", "machines:write", "input:send")
NEW = (*FIRST_SCOPES, "teleport")


async def made(
    database: Database,
    name: str,
    *scopes: str,
    of: UUID = ORGANIZATION,
    expires_at: datetime | None = None,
) -> StoredToken:
    """A token that is newer than any made before."""
    created = now()
    while now() == created:  # noqa: ASYNC110 - created_at has milliseconds
        await asyncio.sleep(0.0005)
    return await insert_token(
        TokenStore(database), of, name, name.encode(), scopes or FIRST_SCOPES, expires_at=expires_at
    )


async def scopes_of(database: Database, token: StoredToken) -> tuple[str, ...]:
    return there(await TokenStore(database).find_by_hash(token.hash)).scopes


@pytest.fixture
def database(io_loop: IOLoop, database: Database) -> Database:
    """A database whose first start knew the first scopes."""
    given = io_loop.run_sync(lambda: grant_new_scopes(database, ORGANIZATION, FIRST_SCOPES))
    assert given.scopes == ()
    return database


async def test_oldest_token_with_everything_gets_what_is_new(database: Database) -> None:
    stranger = await made(database, "stranger", of=OTHER_ORGANIZATION)
    weaker = await made(database, "weaker", *FIRST_SCOPES[1:])
    ending = await made(database, "ending", expires_at=now() + timedelta(days=1))
    revoked = await made(database, "revoked")
    await TokenStore(database).revoke(ORGANIZATION, revoked.id)
    first, second = await made(database, "first"), await made(database, "second")
    new = await grant_new_scopes(database, ORGANIZATION, NEW)
    assert new.scopes == ("teleport",)
    assert there(new.token).id == first.id
    assert await scopes_of(database, first) == NEW
    for other in (stranger, weaker, ending, revoked, second):
        assert "teleport" not in await scopes_of(database, other)


async def test_what_was_given_once_is_not_new_any_more(database: Database) -> None:
    first = await made(database, "first")
    await grant_new_scopes(database, ORGANIZATION, NEW)
    await TokenStore(database).revoke(ORGANIZATION, first.id)
    second = await made(database, "second", *NEW)
    assert (await grant_new_scopes(database, ORGANIZATION, NEW)).scopes == ()
    more = (*NEW, "fly")
    assert (await grant_new_scopes(database, ORGANIZATION, more)).scopes == ("fly",)
    assert await scopes_of(database, second) == more


async def test_scopes_stay_new_until_there_is_an_administrator(database: Database) -> None:
    lost = await grant_new_scopes(database, ORGANIZATION, NEW)
    assert (lost.scopes, lost.token) == (("teleport",), None)
    first = await made(database, "first")
    await grant_new_scopes(database, ORGANIZATION, NEW)
    assert await scopes_of(database, first) == NEW


async def test_many_nodes_give_to_one_token(database: Database) -> None:
    tokens = [await made(database, name) for name in ("first", "second", "third")]
    await asyncio.gather(*(grant_new_scopes(database, ORGANIZATION, NEW) for _ in range(8)))
    assert [await scopes_of(database, token) for token in tokens] == [
        NEW,
        FIRST_SCOPES,
        FIRST_SCOPES,
    ]
