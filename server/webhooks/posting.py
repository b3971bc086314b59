"""Posts deliveries: bounded in time, to addresses that were checked, following no redirect."""

import asyncio
import ssl
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

import httpcore

from server.webhooks.addresses import ForbiddenAddressError, Lookup, Network, checked_addresses

POST_SECONDS: Final = 15.0
"""From looking up the host to the head of the answer."""

_CONNECT_SECONDS: Final = 5.0


@dataclass(frozen=True)
class Posted:
    """How a try went: delivered where there is no ``error``, which is a sentence for a person."""

    status: int | None
    error: str | None


class CheckedBackend(httpcore.AsyncNetworkBackend):
    """Connects to addresses that were checked; TLS goes on checking the name of the URL."""

    def __init__(self, private: Sequence[Network], lookup: Lookup) -> None:
        self._private = private
        self._lookup = lookup
        self._backend = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """One address after another.  Raises ForbiddenAddressError before any is tried."""
        failure: Exception = OSError("its name has no address")
        for address in await checked_addresses(host, port, self._private, self._lookup):
            try:
                return await self._backend.connect_tcp(
                    address, port, timeout, local_address, socket_options
                )
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
        raise failure


class Poster:
    """Posts to whatever is not ``private``, or is in one of these networks."""

    def __init__(self, private: Sequence[Network], lookup: Lookup, seconds: float) -> None:
        self._backend = CheckedBackend(private, lookup)
        self._seconds = seconds
        self._trusted: ssl.SSLContext | None = None

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> Posted:
        """Post once.  The status alone counts: nothing of the answer's body is read."""
        try:
            async with asyncio.timeout(self._seconds):
                status = await self._status(url, headers, body)
        except TimeoutError:
            return Posted(None, f"it did not answer within {self._seconds:g} s")
        except ForbiddenAddressError as error:
            return Posted(None, str(error))
        except (OSError, httpcore.TimeoutException, httpcore.NetworkError) as error:
            return Posted(None, f"it could not be reached: {error or type(error).__name__}")
        except httpcore.ProtocolError:
            return Posted(None, "what it answered is no HTTP")
        # What it would redirect to was not asked: it was not named by whoever made the webhook.
        is_delivered = 200 <= status < 300
        return Posted(status, None if is_delivered else f"it answered with the status {status}")

    async def _trust(self, url: str) -> ssl.SSLContext | None:
        """Whom the system trusts, where an address needs it: loaded once, which takes 30 ms."""
        if self._trusted is None and urlsplit(url).scheme != "http":
            self._trusted = await asyncio.to_thread(ssl.create_default_context)
        return self._trusted

    async def _status(self, url: str, headers: Mapping[str, str], body: bytes) -> int:
        trust = await self._trust(url)
        # A connection of its own for each: none is held open at whoever receives it.
        async with (
            httpcore.AsyncConnectionPool(
                ssl_context=trust, max_connections=1, network_backend=self._backend
            ) as pool,
            pool.stream(
                "POST",
                url,
                headers=[*headers.items(), ("content-length", str(len(body)))],
                content=body,
                extensions={"timeout": dict.fromkeys(("connect",), _CONNECT_SECONDS)},
            ) as response,
        ):
            return response.status
