"""The way of a link: its token, proxies before it, certificates on it."""

import asyncio
import logging
import ssl
from pathlib import Path

import pytest

from machine_client.link.failures import MisconfiguredError
from tests.certificates import self_signed
from tests.machine_client.scripted import (
    TOKEN,
    WAIT_SECONDS,
    admitted,
    closing_with,
    greeted,
    machine_client,
    scripted_server,
)
from tests.proxies import http_proxy

pytestmark = pytest.mark.usefixtures("impatient")


async def test_token_is_in_the_header_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with (
        scripted_server(closing_with(4000), admitted, statuses=(503,)) as server,
        machine_client(server.address, tmp_path),
    ):
        await server.finished()
        assert all(request.path == "/v1/machines/connect" for request in server.requests)
        assert {request.headers["Authorization"] for request in server.requests} == {
            f"Bearer {TOKEN}"
        }
    said = [
        record.getMessage()
        for record in caplog.records
        if not record.name.startswith("websockets.server")  # that is the test's own server
    ]
    # Not of the link that ended before the server had all that it waits for.
    assert len([message for message in said if "connected to" in message]) == 1
    assert not any(TOKEN in message for message in said)


@pytest.mark.parametrize("credentials", [None, "user:secret"])
async def test_link_goes_through_the_proxy_of_the_settings(
    tmp_path: Path, credentials: str | None
) -> None:
    async with (
        http_proxy(credentials) as proxy,
        scripted_server(greeted) as server,
        machine_client(server.address, tmp_path, proxy=proxy.url(credentials)),
    ):
        await server.finished()
        assert proxy.tunnels == [f"127.0.0.1:{server.port}"]


async def test_link_goes_through_the_environments_proxy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with http_proxy("user:secret") as proxy, scripted_server(greeted) as server:
        monkeypatch.setenv("http_proxy", proxy.url("user:secret"))
        async with machine_client(server.address, tmp_path):
            await server.finished()
        assert proxy.tunnels == [f"127.0.0.1:{server.port}"]


async def test_proxy_that_refuses_is_named_and_tried_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with (
        http_proxy("user:secret") as proxy,
        scripted_server() as server,
        machine_client(server.address, tmp_path, proxy=proxy.url("user:wrong")),
    ):
        async with asyncio.timeout(WAIT_SECONDS):
            while proxy.refusals < 2:  # noqa: ASYNC110 - the proxy has no event
                await asyncio.sleep(0.01)
    assert "407" in caplog.text
    assert "wrong" not in caplog.text


@pytest.mark.parametrize("address", ["foo://user:secret@proxy", "http://user:secret@proxy:port"])
async def test_wrong_proxy_of_the_environment_is_a_sentence_without_its_password(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.setenv("http_proxy", address)
    with pytest.raises(MisconfiguredError, match="the environment's proxy") as caught:
        async with machine_client("http://127.0.0.1:9", tmp_path):
            pass
    assert "secret" not in str(caught.value)


async def test_certificate_of_our_own_is_trusted_when_named(tmp_path: Path) -> None:
    certificate, key = self_signed(tmp_path)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate, key)
    async with (
        scripted_server(greeted, tls=tls) as server,
        machine_client(server.address, tmp_path, ca_file=certificate),
    ):
        await server.finished()


async def test_certificate_that_nobody_vouches_for_is_said_and_no_token_is_sent(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    certificate, key = self_signed(tmp_path)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate, key)
    async with (
        scripted_server(tls=tls) as server,
        machine_client(server.address, tmp_path) as client,
    ):
        async with asyncio.timeout(WAIT_SECONDS):
            while "its certificate is not trusted: self-signed" not in caplog.text:  # noqa: ASYNC110 - a log
                await asyncio.sleep(0.01)
        assert not client.done()
        assert server.requests == []
