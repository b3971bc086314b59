"""Encrypts and decrypts the secrets of runs, which are in memory only while they are needed."""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID


class SealedError(Exception):
    """Sealed secrets cannot be opened; ``str()`` says why, and nothing of them."""


@dataclass(frozen=True, slots=True)
class Sealed:
    """Secrets as the database has them: which key encrypted them, and the ciphertext."""

    key_id: str
    content: bytes


class Vault:
    """Seals with its first key, and opens with any of them."""

    def key_id(self) -> str:
        """The first key's id, which tells nothing of the key."""
        raise NotImplementedError

    def seal(self, owner: UUID, secrets: Mapping[str, str]) -> Sealed:
        """Secrets by their names, bound to what has them, such as a run: nobody else's opens."""
        raise NotImplementedError

    def opened(self, owner: UUID, sealed: Sealed) -> dict[str, str]:
        """What was sealed.  Raises SealedError."""
        raise NotImplementedError
