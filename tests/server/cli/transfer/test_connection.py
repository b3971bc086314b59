"""A connection that outlives the server's moods, against a server that has some."""

import errno
import io
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import click
import pytest

from server.cli.client import Api
from server.cli.transfer import connection as transfer
from server.cli.transfer.connection import Transfer, chunks

PROBLEM = b'{"type":"/problems/wrong-state","title":"T","detail":"d"}'

Answer = tuple[int, bytes]


class Moody:
    """A server that gives answers from a list, and hangs up where there is None."""

    def __init__(self) -> None:
        self.answers: list[Answer | None] = []
        self.requests: list[tuple[str, str, str | None, bytes]] = []
        moody = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                key = self.headers.get("Idempotency-Key")
                moody.requests.append((self.command, self.path, key, body))
                answer = moody.answers.pop(0)
                if answer is None:
                    self.close_connection = True
                    return
                self.send_response(answer[0])
                self.send_header("Content-Length", str(len(answer[1])))
                self.send_header("ETag", '"7"')
                self.end_headers()
                self.wfile.write(answer[1])

            do_GET = do_POST = answer  # noqa: N815 - the names of the base class

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}/below"

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


@pytest.fixture
def moody() -> Iterator[Moody]:
    server = Moody()
    yield server
    server.close()


@pytest.fixture
def connection(moody: Moody, monkeypatch: pytest.MonkeyPatch) -> Iterator[Transfer]:
    monkeypatch.setattr(transfer, "PAUSES", (0.0, 0.0))
    with Transfer(Api(moody.url, "fh_token", as_json=False)) as opened:
        yield opened


def test_request_is_tried_again_under_the_same_key(moody: Moody, connection: Transfer) -> None:
    moody.answers = [None, (503, PROBLEM), (201, b"{}")]
    reply = connection.send("POST", "/x", b"body")
    assert (reply.status, reply.tag, reply.json) == (201, '"7"', {})
    assert len(set(moody.requests)) == 1
    method, path, key, body = moody.requests[0]
    assert (method, path, body) == ("POST", "/below/x", b"body")
    assert key


def test_each_request_has_a_key_of_its_own_unless_it_brings_one(
    moody: Moody, connection: Transfer
) -> None:
    moody.answers = [(201, b"{}")] * 4
    for headers in ({}, {}, {"Idempotency-Key": "k"}):
        connection.send("POST", "/x", b"", headers)
    connection.send("GET", "/x")
    keys = [request[2] for request in moody.requests]
    assert len({*keys[:2]}) == 2
    assert keys[2:] == ["k", None]


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        ([None] * 3, "the same command goes on from there"),
        ([(503, PROBLEM)] * 3, "T: d"),
        ([(401, PROBLEM)], "T: d"),
        ([(403, b"no JSON")], "HTTP 403"),
    ],
)
def test_what_would_befall_any_request_ends_the_command(
    moody: Moody, connection: Transfer, answers: list[Answer | None], words: str
) -> None:
    moody.answers = list(answers)
    with pytest.raises(click.ClickException) as caught:
        connection.send("GET", "/x")
    assert words in caught.value.message
    assert moody.answers == []


def test_download_begins_anew_where_it_was_cut_off(
    moody: Moody, connection: Transfer, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut = iter((True, False))

    def some(response: Any) -> Iterator[bytes]:
        for piece in response.iter_bytes(3):
            yield piece
            if next(cut, False):
                raise ConnectionResetError("gone")

    monkeypatch.setattr(transfer, "chunks", some)
    moody.answers = [(200, b"0123456789")] * 2
    file = io.BytesIO(b"what was there before, and is longer")
    assert connection.download("/x", file).tag == '"7"'
    assert file.getvalue() == b"0123456789"


def test_download_of_what_is_not_there_is_its_refusal(moody: Moody, connection: Transfer) -> None:
    moody.answers = [(404, PROBLEM)]
    assert connection.download("/x", io.BytesIO()).refusal == "T: d"


def test_full_disk_is_not_taken_for_a_server_that_is_away(
    moody: Moody, connection: Transfer
) -> None:
    class Full(io.BytesIO):
        def write(self, _: object) -> int:
            raise OSError(errno.ENOSPC, "No space left on device")

    moody.answers = [(200, b"0123456789")]
    with pytest.raises(click.ClickException, match="cannot write what comes: No space left"):
        connection.download("/x", Full())
    assert len(moody.requests) == 1


def test_answer_that_is_not_read_to_its_end_does_not_disturb_the_next(
    moody: Moody, connection: Transfer
) -> None:
    moody.answers = [(200, b"x" * 100_000), (200, b"{}")]
    with connection.connection.opened("GET", "/x") as response:
        assert next(response.iter_bytes(10)) == b"x" * 10
    assert connection.send("GET", "/x").json == {}


def test_chunks_are_all_of_the_body(moody: Moody, connection: Transfer) -> None:
    size = 3 * transfer.CHUNK_BYTES + 7
    moody.answers = [(200, b"x" * size)]
    with connection.connection.opened("GET", "/x") as response:
        assert sum(map(len, chunks(response))) == size


def test_server_that_is_not_there_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfer, "PAUSES", (0.0,))
    with (
        Transfer(Api("http://127.0.0.1:1", "t", as_json=False)) as connection,
        pytest.raises(click.ClickException, match=r"no server answers at http://127.0.0.1:1"),
    ):
        connection.send("GET", "/x")
