"""How a token is made and shown: its secret once, and never again."""

from uuid import UUID

from schemas.resources.tokens import CreatedToken, NewToken, Token
from server.identity.authentication import known_scopes, new_secret, secret_hash
from server.store.identity.tokens import StoredToken, TokenStore


async def create_token(store: TokenStore, organization_id: UUID, new: NewToken) -> CreatedToken:
    """Make a token and show its secret, this once."""
    secret = new_secret()
    stored = await store.create(
        organization_id,
        new.name,
        secret_hash(secret),
        tuple(dict.fromkeys(new.scopes)),
        user_id=new.user_id,
        machine_id=new.machine_id,
        expires_at=new.expires_at,
    )
    return CreatedToken(**dict(token_view(stored)), token=secret)


def token_view(stored: StoredToken) -> Token:
    """A stored token without its hash."""
    return Token(
        id=stored.id,
        name=stored.name,
        organization_id=stored.organization_id,
        user_id=stored.user_id,
        scopes=known_scopes(stored),
        machine_id=stored.machine_id,
        created_at=stored.created_at,
        expires_at=stored.expires_at,
        last_used_at=stored.last_used_at,
    )
