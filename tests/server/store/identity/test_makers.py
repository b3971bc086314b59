"""The users behind tokens are told from the tokens between, of whichever organization."""

from datetime import timedelta
from uuid import UUID, uuid4

from server.store.identity.tokens import StoredToken, TokenStore
from server.store.mongodb.database import Database
from server.store.transactions import Transactions
from tests.store import ORGANIZATION, OTHER_ORGANIZATION, insert_token


async def test_users_are_found_behind_their_tokens(database: Database) -> None:
    tokens = TokenStore(database)
    transactions = Transactions(database, key_lifetime=timedelta(hours=1))

    async def made(*makers: UUID, of: UUID = ORGANIZATION) -> StoredToken:
        return await insert_token(tokens, of, "t", uuid4().bytes, (), makers=makers)

    async def behind(*made: StoredToken) -> set[UUID]:
        ids = [each.id for each in made]
        return await transactions.run(lambda each: each.makers.users_behind(ids))

    user, other = uuid4(), uuid4()
    first = await made(of=OTHER_ORGANIZATION)
    second = await made(first.id)
    third = await made(first.id, second.id, user)
    fourth = await made(first.id, other)
    assert await behind() == await behind(first, second) == set()
    assert await behind(third) == {user}
    assert await behind(second, third, fourth) == {user, other}
    for token in (second, third):
        await tokens.revoke(ORGANIZATION, token.id)
    assert await behind(third) == {user}
