"""How a token is made and shown."""

from schemas.resources.tokens import NewToken, Scope
from server.identity.authentication import secret_hash
from server.identity.tokens import make_token, token_view
from tests.service import Service
from tests.store import ORGANIZATION


async def test_only_the_hash_of_a_secret_is_stored(service: Service) -> None:
    tokens = service.stores.tokens
    made = make_token(
        service.organization_id, NewToken(name="of a program", scopes=[Scope.INPUT_SEND])
    )
    await tokens.insert(made.stored)
    stored = await tokens.find_by_hash(secret_hash(made.secret))
    assert stored is not None
    assert token_view(stored).model_dump() == made.view.model_dump(exclude={"token"})
    assert made.view.token == made.secret
    assert made.secret not in repr(stored)


def test_scope_that_is_named_twice_is_stored_once() -> None:
    scopes = [Scope.INPUT_SEND, Scope.MACHINES_READ, Scope.INPUT_SEND]
    made = make_token(ORGANIZATION, NewToken(name="of a program", scopes=scopes))
    assert made.view.role is None
    assert made.view.scopes == [Scope.INPUT_SEND, Scope.MACHINES_READ]
