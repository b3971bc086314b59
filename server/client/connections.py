"""How the commands speak HTTP: to the server itself, with errors of one kind.

Whoever asks for help sends no request, and httpx takes a while to be imported: so this module is
imported with the first request alone.
"""

import ssl
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Final, Self

import httpx

from server.client.replies import Reply

MAX_PORT: Final = 65535
MAX_ANSWER_BYTES: Final = 100 * 1024 * 1024


class Connection:
    """Requests to one server, one after another.

    Whatever goes wrong with one is a ConnectionError, which says what; so is an address or a token
    that is none.  ``seconds`` is how long the server may say nothing: then it is a TimeoutError.
    """

    def __init__(
        self, url: str, token: str, seconds: float, connect_seconds: float | None = None
    ) -> None:
        timeout = httpx.Timeout(seconds, connect=connect_seconds or seconds)
        try:
            headers = {
                # The space at the end that an empty token would leave is no part of a header.
                "Authorization": f"Bearer {token}".rstrip(" "),
                # What has not been compressed is as long in memory as it came.
                "Accept-Encoding": "identity",
            }
            self._client = httpx.Client(
                base_url=url,
                headers=httpx.Headers(headers, encoding="latin-1"),
                timeout=timeout,
                # A proxy of the environment's is for others' servers, and would see the token.
                trust_env=False,
                verify=_trust(is_asked=url.lower().startswith("https:")),
            )
        except (httpx.InvalidURL, UnicodeEncodeError) as error:
            raise ConnectionError(str(error)) from None
        if (self._client.base_url.port or 0) > MAX_PORT:
            raise ConnectionError(f"there is no port above {MAX_PORT}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; nothing can be sent any more."""
        self._client.close()

    @contextmanager
    def opened(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Iterator[httpx.Response]:
        """Send a request, once, and read its answer as it comes."""
        given = {} if body is None else {"Content-Type": "application/json"}
        given.update(headers or {})
        try:
            with self._client.stream(method, path, content=body, headers=given) as response:
                yield response
        except httpx.HTTPError as error:
            kind = TimeoutError if isinstance(error, httpx.ReadTimeout) else ConnectionError
            raise kind(str(error).rstrip(".") or type(error).__name__) from None


def reply_of(response: httpx.Response, seconds: float) -> Reply:
    """An answer as a whole, which must be there in so many seconds."""
    deadline = time.monotonic() + seconds
    body = bytearray()
    for piece in response.iter_raw():
        body += piece
        if len(body) > MAX_ANSWER_BYTES or time.monotonic() > deadline:
            raise ConnectionError("the answer does not end")
    return Reply(response.status_code, response.headers, bytes(body))


@cache
def _trust(*, is_asked: bool) -> ssl.SSLContext:
    """Whom the system trusts, and not a list that came with a library; it takes a while to read."""
    return ssl.create_default_context() if is_asked else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
