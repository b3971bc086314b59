from datetime import timedelta
from hashlib import sha256
from uuid import uuid4

import pytest

from schemas.http.queries import PageQuery
from server.errors import AlreadyExists
from server.store.identity.tokens import TokenStore
from server.store.mongodb.database import Database
from server.store.times import now
from tests.store import ORGANIZATION, OTHER_ORGANIZATION, insert_token, there


def hashed(secret: str) -> bytes:
    return sha256(secret.encode()).digest()


@pytest.fixture
def tokens(database: Database) -> TokenStore:
    return TokenStore(database)


async def test_token_is_found_by_its_hash(tokens: TokenStore) -> None:
    made = await insert_token(
        tokens,
        ORGANIZATION,
        "robot",
        hashed("a"),
        ["input:send", "machines:read"],
        user_id=uuid4(),
        machine_id="desk",
        expires_at=now() + timedelta(days=1),
    )
    assert await tokens.find_by_hash(hashed("a")) == made
    assert await tokens.find_by_hash(hashed("b")) is None
    assert made.scopes == ("input:send", "machines:read")


async def test_a_hash_is_kept_once(tokens: TokenStore) -> None:
    await insert_token(tokens, ORGANIZATION, "one", hashed("a"), [])
    with pytest.raises(AlreadyExists):
        await insert_token(tokens, OTHER_ORGANIZATION, "two", hashed("a"), [])


async def test_get_and_list_stay_inside_the_organization(tokens: TokenStore) -> None:
    made = [await insert_token(tokens, ORGANIZATION, name, hashed(name), []) for name in "abc"]
    theirs = await insert_token(tokens, OTHER_ORGANIZATION, "d", hashed("d"), [])
    assert await tokens.get(ORGANIZATION, made[0].id) == made[0]
    assert await tokens.get(ORGANIZATION, theirs.id) is None
    items, total = await tokens.list(ORGANIZATION, PageQuery(skip=1))
    newest = sorted(made, key=lambda one: (one.created_at, one.id.bytes), reverse=True)
    assert (items, total) == (newest[1:], 3)


async def test_tokens_of_machines_are_listed_alone_or_left_out(tokens: TokenStore) -> None:
    desk = await insert_token(tokens, ORGANIZATION, "a", hashed("a"), [], machine_id="desk")
    anna = await insert_token(tokens, ORGANIZATION, "b", hashed("b"), [])
    page = PageQuery()
    assert await tokens.list(ORGANIZATION, page, of_machines=True) == ([desk], 1)
    assert await tokens.list(ORGANIZATION, page, of_machines=False) == ([anna], 1)
    assert (await tokens.list(ORGANIZATION, page))[1] == 2


async def test_revoking_keeps_the_first_time_and_stays_inside(tokens: TokenStore) -> None:
    made = await insert_token(tokens, ORGANIZATION, "a", hashed("a"), [])
    assert not await tokens.revoke(OTHER_ORGANIZATION, made.id)
    assert there(await tokens.get(ORGANIZATION, made.id)).is_usable(now())
    revoked = there(await tokens.revoke(ORGANIZATION, made.id))
    assert (revoked.id, revoked.is_usable(now())) == (made.id, False)
    assert await tokens.revoke(ORGANIZATION, made.id) == revoked
    assert await tokens.get(ORGANIZATION, made.id) == revoked


async def test_tokens_of_one_machine_are_revoked_together(tokens: TokenStore) -> None:
    bound = [
        await insert_token(tokens, ORGANIZATION, name, hashed(name), [], machine_id="desk")
        for name in "ab"
    ]
    others = [
        await insert_token(tokens, ORGANIZATION, "c", hashed("c"), [], machine_id="chair"),
        await insert_token(tokens, OTHER_ORGANIZATION, "d", hashed("d"), [], machine_id="desk"),
        await insert_token(tokens, ORGANIZATION, "e", hashed("e"), []),
    ]
    assert await tokens.revoke_of_machine(ORGANIZATION, "desk") == 2
    assert await tokens.revoke_of_machine(ORGANIZATION, "desk") == 0
    usable = await tokens.usable(token.id for token in [*bound, *others])
    assert usable == {token.id for token in others}


async def test_usable_leaves_out_expired_revoked_and_unknown(tokens: TokenStore) -> None:
    good = await insert_token(
        tokens, ORGANIZATION, "a", hashed("a"), [], expires_at=now() + timedelta(hours=1)
    )
    expired = await insert_token(tokens, ORGANIZATION, "b", hashed("b"), [], expires_at=now())
    revoked = await insert_token(tokens, ORGANIZATION, "c", hashed("c"), [])
    await tokens.revoke(ORGANIZATION, revoked.id)
    assert await tokens.usable([good.id, expired.id, revoked.id, uuid4()]) == {good.id}
    assert not expired.is_usable(now())


async def test_last_use_never_goes_back(tokens: TokenStore) -> None:
    made = await insert_token(tokens, ORGANIZATION, "a", hashed("a"), [])
    assert made.last_used_at is None
    late = now()
    await tokens.touch(made.id, late)
    await tokens.touch(made.id, late - timedelta(minutes=1))
    # Uses are not waited for; a majority that has this later write has them too.
    await insert_token(tokens, ORGANIZATION, "b", hashed("b"), [])
    assert there(await tokens.get(ORGANIZATION, made.id)).last_used_at == late


async def test_any_token_of_anyone_counts(tokens: TokenStore) -> None:
    assert not await tokens.any()
    await insert_token(tokens, OTHER_ORGANIZATION, "a", hashed("a"), [])
    assert await tokens.any()
