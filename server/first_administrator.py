"""The administrator's token of a new installation: one, however many nodes start at once."""

import logging
from contextlib import suppress
from pathlib import Path
from uuid import uuid5

from schemas.tokens import ADMINISTRATOR_SCOPES
from server.api.authentication import new_secret, secret_hash
from server.foundation import write_private
from server.settings import ADMIN_TOKEN_FILE
from server.store.errors import AlreadyExists
from server.store.organizations import OrganizationStore
from server.store.tokens import TokenStore

logger = logging.getLogger(__name__)

CANDIDATE_FILE = f"{ADMIN_TOKEN_FILE}.new"


async def make_first_administrator(
    organizations: OrganizationStore, tokens: TokenStore, directory: Path
) -> None:
    """On an empty database: the organization ``default`` and a token that may do anything.

    Of several nodes one makes the token and has its file; the others have neither.  The secret is
    in a file before its hash is stored, as a token that nobody knows would lock everybody out: a
    start that was cut short between is made up for by the next.
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
        return
    if await tokens.find_by_hash(secret_hash(candidate.read_text().strip())) is None:
        candidate.unlink()
        return
    file = candidate.replace(directory / ADMIN_TOKEN_FILE)
    logger.info("made an administrator's token, in %s", file)
