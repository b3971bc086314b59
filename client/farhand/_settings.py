"""Where the server is and who calls it, checked before anything is sent."""

import os
import ssl
from dataclasses import dataclass, field
from functools import cache
from urllib.parse import urlsplit

URL_VARIABLE = "FARHAND_URL"
TOKEN_VARIABLE = "FARHAND_TOKEN"  # noqa: S105 - a variable's name
MAX_ANSWER_BYTES = 100 * 1024 * 1024
CONNECT_SECONDS = 10.0


@dataclass(frozen=True)
class Server:
    """A server's address, and the token to call it with."""

    url: str
    token: str = field(repr=False)

    @property
    def headers(self) -> dict[str, str]:
        """What every request says."""
        return {
            "Authorization": f"Bearer {self.token}",
            # What has not been compressed is as long in memory as it came.
            "Accept-Encoding": "identity",
        }


def server_of(url: str | None, token: str | None) -> Server:
    """The server that is given, or that the environment names.  Raises ValueError."""
    url = _given(url, URL_VARIABLE, "the server's address, such as https://farhand.example")
    if not _is_address(url):
        # Whoever puts a password into an address would find it in a log.
        shown = repr(url) if "@" not in url else "what is given"
        raise ValueError(f"{shown} is no server's address: give one such as http://127.0.0.1:8600")
    token = _given(token, TOKEN_VARIABLE, "a token, which farhand token create makes")
    if not token.isascii() or not token.isprintable() or " " in token:
        raise ValueError("the token has characters that no token has: look at how it was read")
    return Server(url.rstrip("/"), token)


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        is_one = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
    return is_one and not (parts.query or parts.fragment or parts.username)


def _given(value: str | None, variable: str, what: str) -> str:
    found = os.environ.get(variable, "") if value is None else value
    if not found.strip():
        raise ValueError(f"give {what}, or set {variable}")
    return found.strip()


@cache
def system_trust(*, is_needed: bool) -> ssl.SSLContext:
    """Whom the system trusts, and not a list that came with a library; it takes a while to read."""
    return ssl.create_default_context() if is_needed else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
