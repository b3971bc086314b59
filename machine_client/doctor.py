"""Tries each hop from this desktop to the server, in order, so that a person sees which fails."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from websockets.asyncio.client import connect
from websockets.exceptions import InvalidProxy, InvalidStatus, WebSocketException
from websockets.proxy import get_proxy
from websockets.typing import Subprotocol
from websockets.uri import parse_uri

from machine_client.camera import open_camera
from machine_client.connection import OPEN_SECONDS, retry_or_stop, tls_context
from machine_client.desktop import DesktopError
from machine_client.injector import InjectionUnavailable, Injector
from machine_client.journal import JournalError
from machine_client.journal_file import JournalFile
from machine_client.settings import MachineSettings
from schemas.wire import SUBPROTOCOL


@dataclass(frozen=True)
class Finding:
    """What was found at one hop."""

    hop: str
    good: bool
    what: str


async def examine(settings: MachineSettings, token: str) -> list[Finding]:
    """Try every hop; after one of the network's fails, those behind it are not tried."""
    findings = [_desktop(settings)]
    if findings[0].good:
        findings.append(_screen(settings))
    findings.append(_journal(settings))
    async for finding in _network(settings, token):
        findings.append(finding)
        if not finding.good:
            break
    return findings


def _desktop(settings: MachineSettings) -> Finding:
    try:
        injector = Injector(settings.display)
    except InjectionUnavailable as error:
        return Finding("desktop", False, str(error))
    try:
        displays = injector.displays()
    except InjectionUnavailable as error:
        return Finding("desktop", False, str(error))
    finally:
        injector.close()
    sizes = ", ".join(f"{display.width}x{display.height}" for display in displays)
    return Finding("desktop", True, f"input is possible on {sizes}")


def _screen(settings: MachineSettings) -> Finding:
    if not settings.screen:
        return Finding("screen", True, "nobody may look at it, as the settings say")
    try:
        camera = open_camera(settings.display)
        try:
            shot = camera.capture()
        finally:
            camera.close()
    except DesktopError as error:
        return Finding("screen", False, str(error))
    return Finding("screen", True, f"operators can see {shot.size.width}x{shot.size.height}")


def _journal(settings: MachineSettings) -> Finding:
    try:
        JournalFile(settings.journal_file).close()
    except JournalError as error:
        return Finding("journal", False, str(error))
    return Finding("journal", True, str(settings.journal_file))


async def _network(settings: MachineSettings, token: str) -> AsyncIterator[Finding]:
    proxy = _proxy(settings)
    hop, target = ("proxy", proxy) if proxy else ("server", settings.websocket_url)
    parts = urlsplit(target)
    try:
        given = parts.port
    except ValueError as error:
        yield Finding("proxy", False, f"the environment's proxy cannot be used: {error}")
        return
    port = given or {"wss": 443, "https": 443, "ws": 80, "http": 80}.get(parts.scheme, 1080)
    host = parts.hostname or ""
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        yield Finding(f"{hop}'s name", True, f"{host} is {found[0][4][0]}")
        _, writer = await asyncio.wait_for(asyncio.open_connection(host, port), OPEN_SECONDS)
        writer.close()
        yield Finding(f"{hop}'s port", True, f"{host} port {port} takes connections")
    except socket.gaierror as error:
        yield Finding(f"{hop}'s name", False, f"{host} is not known: {error.strerror}")
        return
    except OSError as error:
        yield Finding(f"{hop}'s port", False, f"{host} port {port}: {error.strerror or error}")
        return
    yield await _handshake(settings, token)


async def _handshake(settings: MachineSettings, token: str) -> Finding:
    """Open the websocket and close it without a hello: that takes no other client's place."""
    try:
        async with connect(
            settings.websocket_url,
            additional_headers={"Authorization": f"Bearer {token}"},
            subprotocols=[Subprotocol(SUBPROTOCOL)],
            compression=None,
            open_timeout=OPEN_SECONDS,
            proxy=settings.proxy or True,
            ssl=tls_context(settings),
        ):
            return Finding("token", True, f"{settings.server} accepts it")
    except ssl.SSLError as error:
        return Finding("certificate", False, f"{error}; --ca-file names others to trust")
    except InvalidStatus as error:
        hop = "token" if error.response.status_code in (401, 403) else "server"
        return Finding(hop, False, str(retry_or_stop(error) or error))
    except InvalidProxy as error:
        return Finding("proxy", False, str(retry_or_stop(error)))
    except (OSError, WebSocketException) as error:
        return Finding("websocket", False, str(error) or type(error).__name__)


def _proxy(settings: MachineSettings) -> str | None:
    """The proxy that the connection will go through, as the websockets library chooses it."""
    return settings.proxy or get_proxy(parse_uri(settings.websocket_url))
