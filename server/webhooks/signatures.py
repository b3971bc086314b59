"""Signatures of deliveries, as https://www.standardwebhooks.com has them."""

import base64
import hashlib
import hmac
import secrets
from collections.abc import Sequence
from datetime import datetime

from schemas.resources.webhooks import SECRET_PREFIX


def new_secret() -> str:
    """A secret of 256 random bits."""
    return SECRET_PREFIX + base64.b64encode(secrets.token_bytes(32)).decode()


def signed_headers(
    secrets_: Sequence[str], delivery_id: str, moment: datetime, body: str
) -> dict[str, str]:
    """The headers that say which delivery it is, when it was sent, and who did: once per secret."""
    timestamp = str(int(moment.timestamp()))
    content = f"{delivery_id}.{timestamp}.{body}".encode()
    return {
        "webhook-id": delivery_id,
        "webhook-timestamp": timestamp,
        "webhook-signature": " ".join(_signature(each, content) for each in secrets_),
    }


def _signature(secret: str, content: bytes) -> str:
    key = base64.b64decode(secret.removeprefix(SECRET_PREFIX))
    return "v1," + base64.b64encode(hmac.digest(key, content, hashlib.sha256)).decode()
