"""Secrets that are stored, encrypted, with whatever has them, for as long as it lasts."""

from collections.abc import Mapping
from typing import Final
from uuid import UUID

from server.secrets.vault import Sealed, SealedError, Vault
from server.store.secret_keys import SecretKeyStore

NO_KEY: Final = (
    "of several nodes each needs the same key for secrets: give all of them a secret_key_file"
)


class SecretKeyError(Exception):
    """Nothing can be encrypted, or others could not read it; ``str()`` has why, and the remedy."""


class Sealing:
    """Seals secrets that every node can open; without a vault it refuses to seal any."""

    def __init__(self, vault: Vault | None, store: SecretKeyStore) -> None:
        self._vault = vault
        self._store = store

    async def check(self) -> None:
        """Raise SecretKeyError where secrets are stored that could not be opened here.

        Raises StoreUnavailable.
        """
        key_id = await self._store.key_id()
        if key_id is None or (self._vault is not None and key_id in self._vault.key_ids):
            return
        if self._vault is None:
            raise SecretKeyError(f"secrets are encrypted with the key {key_id}: {NO_KEY}")
        raise SecretKeyError(
            f"secrets are encrypted with the key {key_id}, and secret_key_file has "
            f"{' and '.join(sorted(self._vault.key_ids))}: give this node the file that the others "
            "have, or that the data directory had before"
        )

    async def seal(self, owner: UUID, secrets: Mapping[str, str]) -> Sealed:
        """Secrets as they are stored with their owner.

        Raises SecretKeyError and StoreUnavailable.
        """
        if self._vault is None:
            raise SecretKeyError(NO_KEY)
        sealed = self._vault.seal(owner, secrets)
        if not await self._store.use_key(sealed.key_id, self._vault.key_ids):
            await self.check()
            raise SecretKeyError("the key for secrets was just changed by another node: try again")
        return sealed

    def opened(self, owner: UUID, sealed: Sealed) -> dict[str, str]:
        """What was sealed for its owner.  Raises SealedError."""
        if self._vault is None:
            raise SealedError(NO_KEY)
        return self._vault.opened(owner, sealed)
