"""The administrator's token: made once, however many nodes start at once, and kept complete."""

import logging
from contextlib import suppress
from pathlib import Path
from uuid import uuid5

from schemas.resources.tokens import ADMINISTRATOR_SCOPES
from server.data_directory import ADMIN_TOKEN_FILE
from server.foundation import write_private
from server.identity.authentication import new_secret, secret_hash
from server.store.errors import AlreadyExists
from server.store.mongodb.administrators import grant_new_scopes
from server.store.mongodb.database import Database
from server.store.organizations import Organization, OrganizationStore
from server.store.tokens import TokenStore

logger = logging.getLogger(__name__)

CANDIDATE_FILE = f"{ADMIN_TOKEN_FILE}.new"


async def make_first_administrator(
    organizations: OrganizationStore, tokens: TokenStore, directory: Path
) -> Organization:
    """On an empty database: the organization ``default`` and a token that may do anything.

    Of several nodes one makes the token and has its file; the others have neither.  The secret is
    in a file before its hash is stored, as a token that nobody knows would lock everybody out: a
    start that was cut short between is made up for by the next.  Returns the organization.
    """
    organization, _ = await organizations.ensure_default()
    candidate = directory / CANDIDATE_FILE
    if not await tokens.any():
        secret = new_secret()
        write_private(candidate, secret)
        # Every node derives the same id, so the database takes the first one's only.
        with suppress(AlreadyExists):
            await tokens.create(
                organization.id,
                "administrator",
                secret_hash(secret),
                ADMINISTRATOR_SCOPES,
                token_id=uuid5(organization.id, "the first administrator"),
            )
    if not candidate.exists():
        return organization
    if await tokens.find_by_hash(secret_hash(candidate.read_text().strip())) is None:
        candidate.unlink()
        return organization
    file = candidate.replace(directory / ADMIN_TOKEN_FILE)
    logger.info("made an administrator's token, in %s", file)
    return organization


async def give_new_scopes(database: Database, organization: Organization) -> None:
    """After an upgrade: give the administrator's token what this Farhand can newly allow."""
    new = await grant_new_scopes(database, organization.id, tuple(ADMINISTRATOR_SCOPES))
    if not new.scopes:
        return
    if new.token is None:
        logger.warning(
            "no token may give away what is new (%s): for that, the organization default "
            "needs a token in force that never ends and has every scope of before",
            ", ".join(new.scopes),
        )
    elif not set(new.scopes) <= set(new.token.scopes):
        logger.info(
            "gave the administrator's token %r (%s) the new scopes %s",
            new.token.name,
            new.token.id,
            ", ".join(new.scopes),
        )
