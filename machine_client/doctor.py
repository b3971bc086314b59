"""Tries each hop from this desktop to the server, in order, so that a person sees which fails."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from machine_client.camera import open_camera
from machine_client.desktop import DesktopError
from machine_client.failures import MisconfiguredError, MustStopError, reason_to_retry
from machine_client.injector import InjectionUnavailable, look_at_desktop
from machine_client.journal import JournalError
from machine_client.journal_file import JournalFile
from machine_client.settings import MachineSettings
from machine_client.websocket import OPEN_SECONDS, open_websocket, proxy_for


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
        displays = look_at_desktop(settings.display)
    except InjectionUnavailable as error:
        return Finding("desktop", False, str(error))
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
    try:
        proxy = proxy_for(settings)
    except MisconfiguredError as error:
        yield Finding("proxy", False, str(error))
        return
    hop, target = ("proxy", proxy) if proxy else ("server", settings.websocket_url)
    parts = urlsplit(target)
    port = parts.port or {"wss": 443, "https": 443, "ws": 80, "http": 80}.get(parts.scheme, 1080)
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
    yield await _handshake(settings, token, proxy)


async def _handshake(settings: MachineSettings, token: str, proxy: str | None) -> Finding:
    """Open the websocket and close it without a hello: that takes no other client's place."""
    try:
        websocket = await open_websocket(settings, token, proxy)
        await websocket.close()
    except ssl.SSLError as error:
        return Finding("certificate", False, f"{error}; --ca-file names others to trust")
    except Exception as error:  # noqa: BLE001  what is a mistake of ours is raised again
        try:
            return Finding("server", False, reason_to_retry(error))
        except MisconfiguredError as wrong:
            return Finding("proxy", False, str(wrong))
        except MustStopError as refused:
            return Finding("token", False, str(refused))
    return Finding("token", True, f"{settings.server} accepts it")
