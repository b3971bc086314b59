"""What makes two requests under one Idempotency-Key the same, without saying what they asked for.

A fingerprint is kept in the ledger and in machines' journals, and a typed password is short: from
a plain hash it could be guessed.  So it is keyed with a secret of the installation, which machines
never see, and with the key of the request, which is kept nowhere: equal texts under different keys
have nothing in common, and whoever has a copy of the whole database still lacks a random key.
"""

import hmac
from collections.abc import Iterable
from uuid import UUID


class Fingerprints:
    """Makes the fingerprints of an installation."""

    def __init__(self, secret: bytes) -> None:
        # Copied for each fingerprint: to begin anew takes several times as long.
        self._begun = hmac.new(secret, digestmod="sha256")

    def of(self, organization_id: UUID, key: str, content: Iterable[bytes]) -> str:
        """The fingerprint of what is asked for under a key, 64 hexadecimal digits."""
        digest = self._begun.copy()
        digest.update(b"%s%s\n" % (organization_id.bytes, key.encode()))
        for piece in content:
            digest.update(piece)
        return digest.hexdigest()
