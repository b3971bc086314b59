"""Secrets that are kept, encrypted, for as long as what has them lasts."""

from collections.abc import Mapping
from uuid import UUID

from server.secrets.vault import Sealed, SealedError, Vault
from server.store.sealed_secrets import SealedSecretStore


class SecretKeyError(Exception):
    """Nothing can be encrypted, or others could not read it; ``str()`` has why, and the remedy."""


NO_KEY = "of several nodes each needs the same key for secrets: give all of them a secret_key_file"


class KeptSecrets:
    """Keeps, tells and erases secrets; without a vault it refuses to keep any."""

    def __init__(self, vault: Vault | None, store: SealedSecretStore) -> None:
        self._vault = vault
        self._store = store

    async def check(self) -> None:
        """Raise SecretKeyError where secrets are kept that could not be opened here.

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

    async def keep(self, owner: UUID, secrets: Mapping[str, str]) -> None:
        """Keep secrets for their owner.  Raises SecretKeyError and StoreUnavailable."""
        if self._vault is None:
            raise SecretKeyError(NO_KEY)
        sealed = self._vault.seal(owner, secrets)
        if not await self._store.use_key(sealed.key_id, self._vault.key_ids):
            await self.check()
            raise SecretKeyError("the key for secrets was just changed by another node: try again")
        await self._store.put(owner, sealed.key_id, sealed.content)

    async def opened(self, owner: UUID) -> dict[str, str]:
        """The secrets of an owner; none where it has none, or they were erased.

        Raises SealedError and StoreUnavailable.
        """
        found = await self._store.get(owner)
        if found is None:
            return {}
        if self._vault is None:
            raise SealedError(NO_KEY)
        return self._vault.opened(owner, Sealed(*found))

    async def erase(self, owner: UUID) -> None:
        """Keep nothing of its owner any more.  Raises StoreUnavailable."""
        await self._store.erase(owner)
