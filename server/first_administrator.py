"""The administrator's token: made once, however many nodes start at once, and kept complete."""

import asyncio
import fcntl
import logging
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from uuid import uuid5

from schemas.resources.tokens import ADMINISTRATOR_SCOPES, Role
from server.data_directory import ADMIN_TOKEN_FILE
from server.errors import AlreadyExists
from server.foundation import cannot_write, write_private
from server.identity.authentication import new_secret, secret_hash
from server.store.identity.administrators import grant_new_scopes
from server.store.identity.organizations import Organization, OrganizationStore
from server.store.identity.tokens import TokenStore, new_token
from server.store.mongodb.database import Database

logger = logging.getLogger(__name__)

CANDIDATE_FILE = f"{ADMIN_TOKEN_FILE}.new"
LOCK_FILE = "first-administrator.lock"
LOCK_POLL_SECONDS = 0.02


async def make_first_administrator(
    organizations: OrganizationStore, tokens: TokenStore, directory: Path
) -> Organization:
    """On an empty database: the organization ``default`` and a token that may do anything.

    Of several nodes one makes the token and has its file; the others have neither.  The secret is
    in a file before its hash is stored, as a token that nobody knows would lock everybody out: a
    start that was cut short between is made up for by the next.  Returns the organization.
    """
    organization, _ = await organizations.ensure_default()
    if (directory / CANDIDATE_FILE).exists() or not await tokens.any():
        # Workers share a directory: one must not overwrite the secret whose hash another stores.
        async with _alone_in(directory):
            await _make_token(organization, tokens, directory)
    return organization


async def _make_token(organization: Organization, tokens: TokenStore, directory: Path) -> None:
    candidate = directory / CANDIDATE_FILE
    if not await tokens.any():
        secret = new_secret()
        write_private(candidate, secret)
        # Every node derives the same id, so the database takes the first one's only.
        with suppress(AlreadyExists):
            administrator = new_token(
                organization.id,
                "administrator",
                secret_hash(secret),
                ADMINISTRATOR_SCOPES,
                role=Role.ADMINISTRATOR,
                token_id=uuid5(organization.id, "the first administrator"),
            )
            await tokens.insert(administrator)
    if not candidate.exists():
        return
    if await tokens.find_by_hash(secret_hash(candidate.read_text().strip())) is None:
        candidate.unlink()
        return
    file = candidate.replace(directory / ADMIN_TOKEN_FILE)
    logger.info("made an administrator's token, in %s", file)


@asynccontextmanager
async def _alone_in(directory: Path) -> AsyncIterator[None]:
    """One process at a time; the lock of one that dies is free."""
    try:
        lock = os.open(directory / LOCK_FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise cannot_write(directory / LOCK_FILE, error) from None
    try:
        while not _is_locked(lock):  # noqa: ASYNC110 - no event tells
            await asyncio.sleep(LOCK_POLL_SECONDS)
        yield
    finally:
        os.close(lock)


def _is_locked(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


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
