"""The websocket to the server: how it is opened, and messages without a task between.

The library's own ``recv`` and ``send`` are coroutines, with a queue and a turn of the event loop
for each message: measured, about 60 of the 570 µs that an input took.  Its connection can be
replaced by a subclass (``create_connection``); what is used of its parts is used here only.
"""

import asyncio
import logging
import re
import ssl
import sys
import urllib.request
from collections.abc import Callable, Mapping
from typing import Any, cast
from urllib.parse import urlsplit

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import NegotiationError
from websockets.frames import Frame, Opcode
from websockets.protocol import Event, State
from websockets.typing import Subprotocol

from machine_client import __version__
from machine_client.link.failures import MisconfiguredError
from machine_client.settings import MachineSettings, check_proxy_address
from schemas.link.messages import MAX_MESSAGE_BYTES, SUBPROTOCOL

_quiet = logging.getLogger("machine_client.link.websocket.library")
# What it says of each try is said by us; and with debugging it would say the token.
_quiet.setLevel(logging.ERROR)

OPEN_SECONDS = 15.0
CLOSE_SECONDS = 2.0
"""For the other side to agree that a link ends: what is held is released only after it."""


class Connecting(connect):
    """The library's way to connect, which follows no redirect: the token is for one address."""

    def process_redirect(self, exc: Exception) -> Exception:
        """Take a redirect as the failure that it is."""
        return exc


class DirectConnection(ClientConnection):
    """A connection whose whole text messages go to ``deliver`` at once, where that is set.

    Fragmented and binary messages, and those that came before, are still there for ``recv``.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.deliver: Callable[[bytes], None] | None = None

    @property
    def was_closed_by_other_side(self) -> bool:
        """Whether the other side began to close it, so that code and reason are its own."""
        protocol = self.protocol
        return protocol.close_rcvd is not None and protocol.close_rcvd_then_sent is not False

    async def handshake(self, *arguments: Any, **options: Any) -> None:
        """Open it; what answers without our subprotocol is something else."""
        await super().handshake(*arguments, **options)
        if self.subprotocol is None:
            raise NegotiationError("it chose no subprotocol")

    async def close(self, code: int = 1000, reason: str = "") -> None:
        """Close it in a bounded time, even where the other side takes nothing any more.

        The library waits without end until what is to be written before its close frame is taken.
        """
        try:
            async with asyncio.timeout(2 * CLOSE_SECONDS):
                await super().close(code, reason)
        except TimeoutError:
            self.transport.abort()

    async def keepalive(self) -> None:
        """Ping for as long as it is open: one that nobody looks after any more is ended."""
        await super().keepalive()
        if self.state is State.OPEN:
            self.transport.abort()

    def process_event(self, event: Event) -> None:
        """Take what the protocol has read."""
        if (
            self.deliver is not None
            and isinstance(event, Frame)
            and event.opcode is Opcode.TEXT
            and event.fin
        ):
            self.deliver(bytes(event.data))
        else:
            super().process_event(event)

    def write(self, text: str) -> int:
        """Write a text message now; on a connection that is ending nobody would hear it.

        Returns how many bytes wait for the network.
        """
        if self.state is not State.OPEN:
            return 0
        self.protocol.send_text(text.encode())
        self.send_data()
        return self.transport.get_write_buffer_size()

    def write_bytes(self, content: bytes) -> int:
        """As ``write``, for a binary message."""
        if self.state is not State.OPEN:
            return 0
        self.protocol.send_binary(content)
        self.send_data()
        return self.transport.get_write_buffer_size()


async def open_websocket(
    settings: MachineSettings,
    headers: Mapping[str, str],
    proxy: str | None,
    *,
    seconds: float = OPEN_SECONDS,
) -> DirectConnection:
    """Open the websocket to the server, or try to, for so many ``seconds``.

    ``headers`` say who calls.
    Raises whatever the library raises, which `machine_client.link.failures` can explain.
    """
    websocket = await Connecting(
        settings.websocket_url,
        additional_headers=headers,
        subprotocols=[Subprotocol(SUBPROTOCOL)],
        user_agent_header=f"farhand-machine/{__version__}",
        # Measured by the design: 13.5 KiB for an idle link without, 159 KiB with.
        compression=None,
        max_size=MAX_MESSAGE_BYTES,
        open_timeout=seconds,
        close_timeout=CLOSE_SECONDS,
        ping_interval=settings.heartbeat,
        ping_timeout=settings.heartbeat,
        proxy=proxy,
        ssl=tls_context(settings),
        create_connection=DirectConnection,
        logger=_quiet,
    )
    return cast("DirectConnection", websocket)


def proxy_for(settings: MachineSettings) -> str | None:
    """The proxy that the websocket goes through: that of the settings, or the environment's.

    Raises MisconfiguredError where the environment's cannot be one.
    """
    if settings.proxy is not None:
        return settings.proxy
    if (proxy := _environment_proxy(settings.websocket_url)) is None:
        return None
    try:
        return check_proxy_address(proxy)
    except ValueError as error:
        # The address is not repeated: it can hold a password.
        raise MisconfiguredError(f"the environment's proxy cannot be used: it {error}") from None


def _environment_proxy(url: str) -> str | None:
    """The proxy for a websocket's address that the environment names, or the system's settings.

    One for websockets alone comes first, and then SOCKS, as RFC 6455 advises (section 4.1).
    """
    parts = urlsplit(url)
    is_encrypted = parts.scheme == "wss"
    port = parts.port or (443 if is_encrypted else 80)
    if urllib.request.proxy_bypass(f"{parts.hostname}:{port}"):
        return None
    proxies = urllib.request.getproxies()
    for kind in ("wss", "socks", "https") if is_encrypted else ("ws", "socks", "https", "http"):
        if kind in proxies:
            return _socks_address(proxies[kind]) if kind == "socks" else proxies[kind]
    return None


def _socks_address(proxy: str) -> str:
    """A SOCKS proxy with its version; macOS' settings name one as if it spoke HTTP.

    Those of Windows know no version, and mean 4 (as `urllib.request.getproxies` has it, too).
    """
    if sys.platform == "win32":
        return re.sub("^socks://", "socks4://", proxy)
    return re.sub("^http://", "socks5h://", proxy)


def tls_context(settings: MachineSettings) -> ssl.SSLContext | None:
    """How to check the server's certificate; None where the link is not encrypted."""
    if urlsplit(settings.websocket_url).scheme != "wss":
        return None
    try:
        # Anew for each try: certificates are renewed while a machine client runs.
        return ssl.create_default_context(cafile=settings.ca_file)
    except OSError as error:
        raise OSError(f"{settings.ca_file} cannot be read as certificates: {error}") from error
