"""Posts to receivers that are slow, down, redirecting, lying and rebinding."""

import ssl
from collections.abc import Sequence
from ipaddress import ip_network
from pathlib import Path

import pytest

from server.webhooks.addresses import look_up
from server.webhooks.posting import Poster
from tests.certificates import self_signed
from tests.receivers import OK, SILENCE, receiving
from tests.store import async_test

LOOPBACK = [ip_network("127.0.0.0/8")]
HERE = Poster(LOOPBACK, look_up, 20.0)


@async_test
async def test_status_says_whether_it_is_delivered() -> None:
    async with receiving() as receiver:
        posted = await HERE.post(receiver.url, {"webhook-id": "1"}, b"{}")
        assert (posted.status, posted.error) == (200, None)
        assert receiver.received[0].headers["host"] == f"127.0.0.1:{receiver.port}"
        receiver.answer = OK.replace(b"200 OK", b"500 No")
        posted = await HERE.post(receiver.url, {}, b"{}")
        assert (posted.status, posted.error) == (500, "it answered with the status 500")
    assert "could not be reached" in str((await HERE.post(receiver.url, {}, b"{}")).error)


@async_test
async def test_redirect_is_not_followed() -> None:
    async with receiving() as other, receiving() as receiver:
        location = f"Location: {other.url}\r\n".encode()
        receiver.answer = OK.replace(b"200 OK\r\n", b"307 Elsewhere\r\n" + location)
        posted = await HERE.post(receiver.url, {}, b"{}")
        assert (posted.status, other.connections) == (307, 0)
        assert posted.error is not None


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (b"HTTP/1.1 200", "what it answered is no HTTP"),
        (b"HTTP/1.1 200 OK\r\nContent-", "what it answered is no HTTP"),
        (b"SSH-2.0-OpenSSH\r\n\r\n", "what it answered is no HTTP"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\ncut", None),
    ],
)
@async_test
async def test_head_of_the_answer_alone_counts(answer: bytes, error: str | None) -> None:
    async with receiving(answer) as receiver:
        assert (await HERE.post(receiver.url, {}, b"{}")).error == error


@async_test
async def test_endless_answer_is_not_read() -> None:
    answer = b"HTTP/1.1 200 OK\r\n\r\n"
    async with receiving(answer, is_endless=True) as receiver:
        assert (await HERE.post(receiver.url, {}, b"{}")).error is None
    async with receiving(b"HTTP/1.1 200 OK\r\n", is_endless=True) as receiver:
        assert (await HERE.post(receiver.url, {}, b"{}")).error == "what it answered is no HTTP"


@async_test
async def test_silence_ends_in_time() -> None:
    async with receiving(SILENCE) as receiver:
        posted = await Poster(LOOPBACK, look_up, 0.3).post(receiver.url, {}, b"{}")
        assert (posted.status, posted.error) == (None, "it did not answer within 0.3 s")


@async_test
async def test_receiver_is_trusted_if_the_system_trusts_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate, key = self_signed(tmp_path)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate, key)
    async with receiving(tls=tls) as receiver:
        for url in (receiver.url, receiver.url.replace("https", "HTTPS")):
            posted = await Poster(LOOPBACK, look_up, 20.0).post(url, {}, b"{}")
            assert "CERTIFICATE_VERIFY_FAILED" in str(posted.error)
        assert receiver.received == []
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        assert (await Poster(LOOPBACK, look_up, 20.0).post(receiver.url, {}, b"{}")).status == 200


@async_test
async def test_name_is_looked_up_once_and_what_was_checked_is_connected_to(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = []

    async def rebinding(host: str, port: int) -> Sequence[str]:
        asked.append((host, port))
        return ["127.0.0.1"] if len(asked) == 1 else ["10.0.0.1"]

    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
    async with receiving() as receiver:
        url = receiver.url.replace("127.0.0.1", "hooks.example")
        poster = Poster(LOOPBACK, rebinding, 20.0)
        assert (await poster.post(url, {}, b"{}")).error is None
        assert asked == [("hooks.example", receiver.port)]
        assert receiver.received[0].headers["host"] == f"hooks.example:{receiver.port}"
        refused = await poster.post(url, {}, b"{}")
        assert "hooks.example has an address that is not of the internet" in str(refused.error)
        assert "10.0.0.1" not in str(refused.error)
        assert receiver.connections == 1


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "2130706433", "0x7f.1"]
)
@async_test
async def test_own_host_is_not_connected_to_by_any_name(host: str) -> None:
    async with receiving() as receiver:
        url = receiver.url.replace("127.0.0.1", host)
        assert (await Poster((), look_up, 20.0).post(url, {}, b"{}")).error is not None
        assert receiver.connections == 0
