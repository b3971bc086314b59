"""Each hop of the network, broken for real: the doctor names it, and says what would mend it."""

import socket
import ssl
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.server import ServerConnection
from websockets.http11 import Request, Response

from machine_client.doctor.finding import Finding
from machine_client.doctor.network_check import check_network
from machine_client.settings import MachineSettings
from schemas.link.messages import PROTOCOLS_HEADER
from tests.certificates import self_signed
from tests.machine_client.raw_servers import http_answer, raw_server
from tests.machine_client.scripted import TOKEN, Line, scripted_server
from tests.processes import free_port
from tests.proxies import http_proxy


async def found(server: str, **settings: Any) -> list[Finding]:
    """What is found on the way to a server."""
    return await check_network(MachineSettings(server=server, token=TOKEN, **settings), TOKEN)


async def fault(server: str, **settings: Any) -> Finding:
    """The one hop that fails, which is the last one tried."""
    *good, bad = await found(server, **settings)
    assert all(finding.good for finding in good)
    assert not bad.good
    assert TOKEN not in bad.what
    return bad


def serving_tls(directory: Path, address: str = "127.0.0.1") -> tuple[ssl.SSLContext, Path]:
    """How to serve with a certificate of our own for an address, and the certificate's file."""
    certificate, key = self_signed(directory, address)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return context, certificate


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


async def test_every_hop_of_a_healthy_way_is_named(tmp_path: Path) -> None:
    tls, certificate = serving_tls(tmp_path)
    async with http_proxy() as proxy, scripted_server(tls=tls) as server:
        hops = await found(server.address, proxy=proxy.url(), ca_file=certificate)
    assert [finding.hop for finding in hops if finding.good] == [
        *("proxy's name", "proxy's port", "proxy", "certificate", "token", "version"),
    ]


async def test_nothing_is_said_on_the_websocket(tmp_path: Path) -> None:
    """A hello would take over the link of a client that runs with the same token."""
    heard: list[str | bytes] = []

    async def listen(line: Line) -> None:
        heard.extend([message async for message in line.websocket])

    async with scripted_server(listen) as server:
        assert all(finding.good for finding in await found(server.address))
        await server.finished()
    assert heard == []


async def test_unknown_name() -> None:
    bad = await fault("http://farhand.invalid:8600")
    assert bad.hop == "server's name"
    assert "farhand.invalid is not known" in bad.what
    assert "DNS" in bad.what


async def test_closed_port() -> None:
    bad = await fault(f"http://127.0.0.1:{(port := free_port())}")
    assert bad.hop == "server's port"
    assert f"127.0.0.1 port {port} refused" in bad.what
    assert "farhand serve" in bad.what


async def test_port_that_never_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("machine_client.doctor.network_check.PORT_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listening:
        port = listening.getsockname()[1]
        waiting = []
        for _ in range(8):
            # With its queue full, it takes no further connection, and refuses none.
            each = socket.socket()
            each.setblocking(False)
            each.connect_ex(("127.0.0.1", port))
            waiting.append(each)
        bad = await fault(f"http://127.0.0.1:{port}")
        for each in waiting:
            each.close()
    assert bad.hop == "server's port"
    assert "firewall" in bad.what


@pytest.mark.usefixtures("silence")
async def test_server_that_takes_the_connection_and_says_nothing() -> None:
    async with raw_server(None) as port:
        bad = await fault(f"http://127.0.0.1:{port}")
    assert bad.hop == "server"
    assert "says nothing" in bad.what


async def test_proxy_that_does_not_run() -> None:
    bad = await fault("http://127.0.0.1:8600", proxy=f"http://127.0.0.1:{(port := free_port())}")
    assert bad.hop == "proxy's port"
    assert f"port {port} refused" in bad.what
    assert "--proxy" in bad.what


@pytest.mark.parametrize(
    ("status", "words"),
    [
        ("403 Filtered", ["forbids connections to 127.0.0.1 port 8600", "port 443"]),
        ("405 Method Not Allowed", ["forbids connections"]),
        ("502 Bad Gateway", ["does not reach 127.0.0.1 port 8600", "--server"]),
        ("504 Gateway Timeout", ["does not reach"]),
        ("407 Proxy Authentication Required", ["wants a user and a password", "--proxy"]),
    ],
)
async def test_proxy_that_makes_no_tunnel(status: str, words: list[str]) -> None:
    async with http_proxy(answer=http_answer(status)) as proxy:
        bad = await fault("http://127.0.0.1:8600", proxy=proxy.url())
    assert bad.hop == "proxy"
    assert f"HTTP {status[:3]}" in bad.what
    assert all(word in bad.what for word in words), bad.what


async def test_proxy_that_does_not_take_the_password() -> None:
    async with http_proxy("user:secret") as proxy:
        bad = await fault("http://127.0.0.1:8600", proxy=proxy.url("user:mistyped"))
    assert bad.hop == "proxy"
    assert "does not take this user and password" in bad.what
    assert "mistyped" not in bad.what


@pytest.mark.parametrize("kind", ["http", "socks5"])
@pytest.mark.usefixtures("silence")
async def test_proxy_that_is_none(kind: str) -> None:
    async with http_proxy(answer=b"220 mail.example ESMTP\r\n") as proxy, raw_server(b"x") as port:
        address = proxy.url() if kind == "http" else f"socks5://127.0.0.1:{port}"
        bad = await fault("http://127.0.0.1:8600", proxy=address)
    assert bad.hop == "proxy" if kind == "http" else bad.hop in ("proxy", "server")


async def test_proxy_of_the_environment_that_cannot_be_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://user:secret@proxy:port")
    bad = await fault("http://127.0.0.1:8600")
    assert bad.hop == "proxy"
    assert "secret" not in bad.what


async def test_certificate_of_an_unknown_authority(tmp_path: Path) -> None:
    tls, _ = serving_tls(tmp_path)
    async with scripted_server(tls=tls) as server:
        bad = await fault(server.address)
    assert bad.hop == "certificate"
    assert "--ca-file" in bad.what


async def test_certificate_for_another_name(tmp_path: Path) -> None:
    tls, certificate = serving_tls(tmp_path, "192.0.2.1")
    async with scripted_server(tls=tls) as server:
        bad = await fault(server.address, ca_file=certificate)
    assert bad.hop == "certificate"
    assert "not valid for '127.0.0.1'" in bad.what
    assert "--ca-file" not in bad.what
    assert "--server" in bad.what


@pytest.mark.parametrize("proxied", [False, True])
@pytest.mark.usefixtures("silence", "answered_probe")
async def test_https_to_a_port_without_tls(proxied: bool) -> None:
    async with http_proxy() as proxy, raw_server(http_answer("401 Unauthorized")) as port:
        way = {"proxy": proxy.url()} if proxied else {}
        bad = await fault(f"https://127.0.0.1:{port}", **way)
    assert bad.hop == "TLS"
    assert f"use --server http://127.0.0.1:{port}" in bad.what


@pytest.mark.usefixtures("answered_probe")
async def test_http_to_a_port_with_tls(tmp_path: Path) -> None:
    tls, _ = serving_tls(tmp_path)
    async with scripted_server(tls=tls) as server:
        bad = await fault(server.address.replace("https:", "http:"))
        assert server.requests == []
    assert bad.hop == "TLS"
    assert f"wants TLS: use --server https://127.0.0.1:{server.port}" in bad.what


@pytest.mark.usefixtures("answered_probe")
async def test_token_is_not_sent_to_whoever_answers_without_tls() -> None:
    async with scripted_server() as server:
        bad = await fault(server.address.replace("http:", "https:"))
        (probe,) = server.requests
    assert bad.hop == "TLS"
    assert "Authorization" not in probe.headers


@pytest.mark.parametrize(
    ("said", "good", "words"),
    [
        (None, True, "protocol 1"),
        ("0, 1, 9", True, "protocol 1"),
        ("8, 9", False, "upgrade this client"),
        ("0", False, "upgrade the server"),
    ],
)
async def test_version_of_the_server(said: str | None, good: bool, words: str) -> None:
    def say(_: ServerConnection, __: Request, response: Response) -> Response:
        if said is not None:
            response.headers[PROTOCOLS_HEADER] = said
        return response

    async with scripted_server(process_response=say) as server:
        version = (await found(server.address))[-1]
    assert (version.hop, version.good) == ("version", good)
    assert words in version.what
