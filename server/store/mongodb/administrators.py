"""Gives the administrator's token the scopes that a newer Farhand brings.

Nobody could make a token with such a scope otherwise, as no token gives away what it lacks.
"""

from dataclasses import dataclass
from typing import Final
from uuid import UUID

from server.store.mongodb.database import Database
from server.store.mongodb.documents import Document
from server.store.tokens import StoredToken, stored_token

FIRST_SCOPES: Final = (
    *("trajectories:read", "trajectories:write", "machines:read", "machines:write"),
    *("input:send", "screen:read", "tokens:write", "organizations:write"),
    *("audit:read", "metrics:read"),
)
"""What an administrator could have where nothing is written down about it yet."""


@dataclass(frozen=True)
class NewScopes:
    """Scopes that were new to an installation, and the token that has them now, if there is one."""

    scopes: tuple[str, ...]
    token: StoredToken | None


async def grant_new_scopes(
    database: Database, organization_id: UUID, scopes: tuple[str, ...]
) -> NewScopes:
    """Add what is new among ``scopes`` to the administrator's token of the default organization.

    That is the oldest token in force that never ends and has every scope there was: the one of the
    first start or, where that was revoked, its oldest equal.  Where there is none, the scopes stay
    new until there is one.
    """
    facts, tokens = database.collection("installation"), database.collection("tokens")
    async with database.operation():
        noted = await facts.find_one({"_id": "scopes"})
    known = FIRST_SCOPES if noted is None else noted["known"]
    new = tuple(scope for scope in scopes if scope not in known)
    if not new:
        return NewScopes((), None)
    administrators: Document = {
        "organization_id": organization_id,
        "revoked_at": None,
        "expires_at": None,
        "machine_id": None,
        "scopes": {"$all": list(known)},
    }
    async with database.operation():
        found = await tokens.find_one_and_update(
            administrators,
            {"$addToSet": {"scopes": {"$each": list(new)}}},
            sort=[("created_at", 1), ("_id", 1)],
        )
    if found is None:
        return NewScopes(new, None)
    async with database.operation():
        await facts.update_one(
            {"_id": "scopes"}, {"$addToSet": {"known": {"$each": [*known, *new]}}}, upsert=True
        )
    return NewScopes(new, stored_token(found))
