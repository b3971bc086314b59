"""How a token is made and shown."""

import pytest

from schemas.resources.tokens import NewToken, Scope
from server.identity.authentication import secret_hash
from server.identity.tokens import create_token, token_view
from tests.service import Service


@pytest.mark.gen_test
async def test_only_the_hash_of_a_secret_is_stored(service: Service) -> None:
    tokens = service.server.services.tokens
    new = NewToken(name="of a program", scopes=[Scope.INPUT_SEND])
    made = await create_token(tokens, service.organization_id, new)
    stored = await tokens.find_by_hash(secret_hash(made.token))
    assert stored is not None
    shown = token_view(stored)
    assert shown.model_dump() == made.model_dump(exclude={"token"})
    assert made.token not in repr(stored)


@pytest.mark.gen_test
async def test_scope_that_is_named_twice_is_stored_once(service: Service) -> None:
    scopes = [Scope.INPUT_SEND, Scope.MACHINES_READ, Scope.INPUT_SEND]
    new = NewToken(name="of a program", scopes=scopes)
    made = await create_token(service.server.services.tokens, service.organization_id, new)
    assert made.scopes == [Scope.INPUT_SEND, Scope.MACHINES_READ]
