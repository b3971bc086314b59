"""Encrypts and decrypts secrets, which are in memory only while they are needed."""

import json
import secrets as random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final
from uuid import UUID

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

KEY_BYTES: Final = 32
NONCE_BYTES: Final = 12

_ID_OF: Final = b"farhand secret key "


class SealedError(Exception):
    """Sealed secrets cannot be opened; ``str()`` says why, and nothing of them."""


@dataclass(frozen=True, slots=True)
class Sealed:
    """Secrets as the database has them: which key encrypted them, and the ciphertext."""

    key_id: str
    content: bytes = field(repr=False)


class Vault:
    """Seals with its first key, and opens with any of them; there is one at least.

    What is sealed says by its length how long the secrets are together, and nothing else of them.
    """

    def __init__(self, keys: Sequence[bytes]) -> None:
        self._ciphers = {key_id(key): AESGCM(key) for key in keys}
        self.key_id = key_id(keys[0])

    @property
    def key_ids(self) -> frozenset[str]:
        """The ids of all its keys, which tell nothing of the keys."""
        return frozenset(self._ciphers)

    def seal(self, owner: UUID, secrets: Mapping[str, str]) -> Sealed:
        """Secrets by their names, bound to what has them, such as a run: nobody else's opens."""
        nonce = random.token_bytes(NONCE_BYTES)
        plain = json.dumps(dict(secrets)).encode()
        sealed = self._ciphers[self.key_id].encrypt(nonce, plain, owner.bytes)
        return Sealed(self.key_id, nonce + sealed)

    def opened(self, owner: UUID, sealed: Sealed) -> dict[str, str]:
        """What was sealed.  Raises SealedError."""
        cipher = self._ciphers.get(sealed.key_id)
        if cipher is None:
            raise SealedError(f"they are encrypted with the key {sealed.key_id}, which is not here")
        nonce, content = sealed.content[:NONCE_BYTES], sealed.content[NONCE_BYTES:]
        try:
            opened: dict[str, str] = json.loads(cipher.decrypt(nonce, content, owner.bytes))
        except (InvalidTag, ValueError):
            raise SealedError("they are not what was encrypted, or another's") from None
        return opened


def key_id(key: bytes) -> str:
    """What a key is called; nobody gets from it to the key."""
    return sha256(_ID_OF + key).hexdigest()[:16]
