"""Requests to servers of all kinds, over TLS too, and what is said of those that fail."""

import re
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from server.client import connections
from server.client.connections import Connection, reply_of
from tests.certificates import self_signed
from tests.processes import free_port

EMPTY = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"


@contextmanager
def answering(*pieces: bytes, tls: ssl.SSLContext | None = None) -> Iterator[tuple[str, bytearray]]:
    """A server that answers once, and waits to be left: its port, and what was sent to it."""
    heard = bytearray()
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            # Whoever does not trust us hangs up.
            with suppress(OSError):
                connection = listener.accept()[0]
                with tls.wrap_socket(connection, server_side=True) if tls else connection as ours:
                    heard.extend(ours.recv(65536))
                    for piece in pieces:
                        ours.sendall(piece)
                    ours.recv(1)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"127.0.0.1:{listener.getsockname()[1]}", heard
        finally:
            # Perhaps nobody came.
            listener.shutdown(socket.SHUT_RDWR)
            thread.join(10)


def get(url: str, seconds: float = 30.0, token: str = "fh_token") -> bytes:
    with Connection(url, token, seconds) as server, server.opened("GET", "/x?y=1,2") as response:
        return reply_of(response, seconds).body


def test_request_has_the_token_and_asks_for_nothing_compressed() -> None:
    with answering(EMPTY) as (address, heard):
        get(f"http://{address}/below/")
    lines = heard.decode().lower().split("\r\n")
    assert lines[0] == "get /below/x?y=1,2 http/1.1"
    assert {"authorization: bearer fh_token", "accept-encoding: identity"} <= set(lines)


def test_empty_token_is_sent_as_well_as_it_can_be() -> None:
    with answering(EMPTY) as (address, heard):
        get(f"http://{address}", token="")
    assert b"\r\nauthorization: bearer\r\n" in heard.lower()


@pytest.mark.parametrize("variable", ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"])
def test_proxy_of_the_environment_is_not_asked(
    variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, f"http://127.0.0.1:{free_port()}")
    with answering(EMPTY) as (address, _):
        assert get(f"http://{address}") == b""


@pytest.mark.parametrize("is_trusted", [True, False])
def test_certificate_is_trusted_where_the_system_trusts_it(
    is_trusted: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate, key = self_signed(tmp_path)
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(certificate, key)
    if is_trusted:
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    connections._trust.cache_clear()
    with answering(EMPTY, tls=tls) as (address, _):
        if is_trusted:
            assert get(f"https://{address}") == b""
        else:
            with pytest.raises(ConnectionError, match="CERTIFICATE_VERIFY_FAILED"):
                get(f"https://{address}")
    connections._trust.cache_clear()


def test_what_cannot_be_reached_is_said_as_the_system_says_it() -> None:
    with pytest.raises(ConnectionError, match=re.escape("[Errno 111] Connection refused")):
        get(f"http://127.0.0.1:{free_port()}")


@pytest.mark.parametrize(
    "url",
    ["nonsense", "ftp://host", "http://", "http://host:port", "http://host:65536", "http://["],
)
def test_address_that_is_none_is_a_connection_error(url: str) -> None:
    with pytest.raises(ConnectionError, match=r"."):
        get(url)


@pytest.mark.parametrize("token", ["t\r\nX-Evil: 1", "t€"])
def test_token_that_cannot_be_sent_is_a_connection_error(token: str) -> None:
    with answering() as (address, heard), pytest.raises(ConnectionError, match=r"."):
        get(f"http://{address}", token=token)
    assert heard == b""


@pytest.mark.parametrize("answer", [b"SSH-2.0-OpenSSH\r\n\r\n", b"HTTP/1.1 abc\r\n\r\n"])
def test_answer_that_is_not_http_is_a_connection_error(answer: bytes) -> None:
    with answering(answer) as (address, _), pytest.raises(ConnectionError, match=r"."):
        get(f"http://{address}")


def test_silence_is_a_timeout() -> None:
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx"
    with answering(answer) as (address, _), pytest.raises(TimeoutError, match="timed out"):
        get(f"http://{address}", 0.1)


def test_answer_that_is_too_long_is_not_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "MAX_ANSWER_BYTES", 10)
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n" + b"x" * 11
    with answering(answer) as (address, _), pytest.raises(ConnectionError, match="does not end"):
        get(f"http://{address}")


def test_answer_that_takes_too_long_is_not_read_to_its_end() -> None:
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nx"
    with (
        answering(answer) as (address, _),
        Connection(f"http://{address}", "fh_token", 30) as server,
        pytest.raises(ConnectionError, match="does not end"),
        server.opened("GET", "/") as response,
    ):
        reply_of(response, 0)
