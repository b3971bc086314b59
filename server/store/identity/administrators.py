"""Gives the administrator's token the scopes that a newer Farhand brings.

Nobody could make a token with such a scope otherwise, as no token gives away what it lacks.
"""

from dataclasses import dataclass
from uuid import UUID

from server.store.identity.tokens import StoredToken, stored_token
from server.store.mongodb.database import Database
from server.store.mongodb.documents import Document


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
    new until there is one.  To the first start nothing is new.
    """
    tokens = database.collection("tokens")
    async with database.operation():
        noted = await database.collection("installation").find_one({"_id": "scopes"})
    known = scopes if noted is None else noted["known"]
    new = tuple(scope for scope in scopes if scope not in known)
    if noted is None:
        await _note(database, scopes)
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
    await _note(database, new)
    return NewScopes(new, stored_token(found))


async def _note(database: Database, scopes: tuple[str, ...]) -> None:
    """Write down that an administrator of this installation has these."""
    change = {"$addToSet": {"known": {"$each": list(scopes)}}}
    async with database.operation():
        await database.collection("installation").update_one({"_id": "scopes"}, change, upsert=True)
