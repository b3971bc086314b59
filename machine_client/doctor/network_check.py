"""Looks at the network's hops one after another: name, port, and the websocket's handshake.

The websocket is opened and closed without a hello, which would take over a running client's link.
"""

import asyncio
import re
import socket
import ssl
from collections.abc import AsyncIterator
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import urlsplit, urlunsplit

from websockets.exceptions import InvalidHandshake, InvalidMessage, InvalidStatus, ProxyError

from machine_client.concurrency.bounded_call import BoundedCall
from machine_client.credentials import Credentials
from machine_client.doctor.finding import Finding, fault
from machine_client.doctor.handshake_failures import Hops, explained
from machine_client.link.failures import MisconfiguredError, asks_for_a_token
from machine_client.link.websocket import DirectConnection, open_websocket, proxy_for
from machine_client.settings import MachineSettings
from schemas.link.messages import PROTOCOLS, PROTOCOLS_HEADER

NAME_SECONDS = 3.0
PORT_SECONDS = 3.0
HANDSHAKE_SECONDS = 2.25
PROBE_SECONDS = 0.75
"""Name and port that answer late leave the handshake its time: all within five seconds, mostly."""

_DEFAULT_PORTS = {"wss": 443, "https": 443}


@dataclass(frozen=True)
class _Place:
    """A host and port that is connected to: ``who`` it is, and which option names it."""

    who: str
    option: str
    host: str
    port: int

    @classmethod
    def of(cls, who: str, option: str, url: str) -> "_Place":
        parts = urlsplit(url)
        port = parts.port or _DEFAULT_PORTS.get(parts.scheme, 80)
        return cls(who, option, parts.hostname or "", port)


async def check_network(settings: MachineSettings, token: str | None) -> list[Finding]:
    """Try each hop; after one that fails, those behind it are not tried."""
    findings = []
    async for finding in _hops(settings, token):
        findings.append(finding)
        if not finding.good:
            break
    return findings


async def _hops(settings: MachineSettings, token: str | None) -> AsyncIterator[Finding]:
    try:
        proxy = proxy_for(settings)
    except MisconfiguredError as error:
        yield fault("proxy", f"{error}; --proxy names another")
        return
    server = _Place.of("server", "--server", settings.websocket_url)
    first = server if proxy is None else _Place.of("proxy", "--proxy", proxy)
    yield await _name(first)
    yield await _port(first)
    hops = Hops(settings.server, server.host, server.port, proxy)
    for finding in await _handshake(settings, token, hops):
        yield finding


async def _name(place: _Place) -> Finding:
    hop = f"{place.who}'s name"
    look = BoundedCall(
        lambda: socket.getaddrinfo(place.host, place.port, type=socket.SOCK_STREAM), hop
    )
    where = f"look at {place.option}, and at this desktop's DNS"
    if place.who == "server":
        where += " (where only a proxy knows the name, give --proxy)"
    else:
        where += " (or the environment's proxy)"
    try:
        found = await look.result(NAME_SECONDS)
    except TimeoutError:
        return fault(hop, f"no name server said in time what {place.host} is; {where}")
    except OSError as error:
        return fault(hop, f"{place.host} is not known: {error.strerror or error}; {where}")
    return Finding(hop, True, f"{place.host} is {found[0][4][0]}")


async def _port(place: _Place) -> Finding:
    hop = f"{place.who}'s port"
    what = f"{place.host} port {place.port}"
    try:
        async with asyncio.timeout(PORT_SECONDS):
            _, writer = await asyncio.open_connection(place.host, place.port)
        writer.close()
    except TimeoutError:
        return fault(
            hop,
            f"{what} does not answer: a firewall drops it, or the host is off; have it let "
            f"through, or look at {place.option}",
        )
    except ConnectionRefusedError:
        runs = "farhand serve, or its reverse proxy," if place.who == "server" else "the proxy"
        return fault(
            hop,
            f"{what} refused the connection: look whether {runs} runs there and listens on that "
            f"address, and whether {place.option} has the right port",
        )
    except OSError as error:
        return fault(
            hop,
            f"{what} cannot be reached: {error.strerror or error}; look at this desktop's network",
        )
    return Finding(hop, True, f"{what} takes connections")


async def _handshake(settings: MachineSettings, token: str | None, hops: Hops) -> list[Finding]:
    headers = {} if token is None else Credentials(token).headers
    try:
        websocket = await open_websocket(settings, headers, hops.proxy, seconds=HANDSHAKE_SECONDS)
    except Exception as error:  # noqa: BLE001  what is a mistake of ours is raised again
        if token is None and asks_for_a_token(error):
            # The code is not shown: it may be good once.
            return [*_passed(hops), Finding("token", True, "none yet: join makes one by its code")]
        return [await _failure(error, settings, hops)]
    protocols = _protocols(websocket)
    await websocket.close()
    return [
        *_passed(hops),
        Finding("token", True, f"{settings.server} accepts it"),
        _version(protocols),
    ]


def _passed(hops: Hops) -> list[Finding]:
    """What is well where the server itself has answered."""
    findings = []
    if hops.proxy is not None:
        findings.append(Finding("proxy", True, f"it lets {hops.destination} through"))
    if hops.is_encrypted:
        findings.append(Finding("certificate", True, f"it is trusted, and for {hops.host}"))
    return findings


async def _failure(error: Exception, settings: MachineSettings, hops: Hops) -> Finding:
    """What failed; where it may be that one side alone speaks TLS, see whether it is."""
    if not _may_be_about_tls(error, hops) or not await _speaks_otherwise(settings, hops):
        return explained(error, hops)
    other = _other_scheme(settings.server)
    if hops.is_encrypted:
        what = f"speaks HTTP without TLS: use --server {other}, or the port with TLS, mostly 443"
    else:
        what = f"wants TLS: use --server {other}"
    return fault("TLS", f"{hops.destination} {what}")


def _may_be_about_tls(error: Exception, hops: Hops) -> bool:
    """Whether it is what a side gets for which the other's TLS, or lack of it, is nonsense."""
    match error:
        case ProxyError() | ssl.SSLCertVerificationError():
            return False
        case InvalidStatus(response=response):
            return not hops.is_encrypted and response.status_code == HTTPStatus.BAD_REQUEST
        case _:
            return isinstance(error, InvalidMessage | EOFError | OSError)


async def _speaks_otherwise(settings: MachineSettings, hops: Hops) -> bool:
    """Whether the server answers with TLS where it was tried without, or the other way round.

    The token is not sent: not to somebody unknown, and not in plain text.
    """
    other = settings.model_copy(update={"server": _other_scheme(settings.server, hops.port)})
    try:
        websocket = await open_websocket(other, {}, hops.proxy, seconds=PROBE_SECONDS)
    except ProxyError:
        return False
    except InvalidMessage:
        # Whatever it said after its side of TLS.
        return not hops.is_encrypted
    except (InvalidHandshake, ssl.SSLCertVerificationError):
        return True
    except (OSError, EOFError):
        return False
    await websocket.close()
    return True


def _other_scheme(url: str, port: int | None = None) -> str:
    """The same address with TLS, or without; with a ``port``, at that one."""
    parts = urlsplit(url)
    scheme = {"http": "https", "https": "http", "ws": "wss", "wss": "ws"}[parts.scheme]
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname or ""
    port = port or parts.port
    return urlunsplit((scheme, f"{host}:{port}" if port else host, parts.path, "", ""))


def _protocols(websocket: DirectConnection) -> set[int]:
    """The versions that the server says it speaks; the first where that was lost on the way."""
    said = websocket.response.headers.get(PROTOCOLS_HEADER, "") if websocket.response else ""
    return {int(each) for each in re.findall(r"[0-9]{1,9}", said)} or {1}


def _version(protocols: set[int]) -> Finding:
    common = protocols.intersection(PROTOCOLS)
    spoken = " and ".join(map(str, sorted(protocols)))
    if common:
        return Finding("version", True, f"protocol {max(common)}")
    ours = " and ".join(map(str, PROTOCOLS))
    older = "this client" if min(protocols) > max(PROTOCOLS) else "the server"
    return fault(
        "version",
        f"the server speaks protocol {spoken} and this client {ours}: upgrade {older}",
    )
