"""A connection that outlives the server's moods, against a server that has some."""

import errno
import io
from collections.abc import Callable

import click
import pytest

import farhand
from server.cli.client import Api
from server.cli.transfer import connection as transfer
from server.cli.transfer.connection import Transfer
from tests.client.scripted_server import GONE, ScriptedServer, answer, problem, scripted_server

BUSY = problem("server-busy", 503)
DIGITS = answer(200, b"0123456789", ETag='"7"')


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfer, "PAUSES", (0.0, 0.0))


def to(server: ScriptedServer) -> Transfer:
    return Transfer(Api(server.url, "fh_token", as_json=False))


def test_request_is_tried_again_under_the_same_key() -> None:
    with scripted_server(GONE, BUSY, answer(201, {}, ETag='"7"')) as server, to(server) as ours:
        reply = ours.send("POST", "/x", b"body")
        assert (reply.status, reply.headers["ETag"], reply.json) == (201, '"7"', {})
    assert [(each.method, each.path, each.body) for each in server.asked] == [
        ("POST", "/x", b"body")
    ] * 3
    assert len({*server.keys}) == 1
    assert server.keys[0]


def test_each_request_has_a_key_of_its_own_unless_it_brings_one() -> None:
    with scripted_server(answer(201, {})) as server, to(server) as ours:
        for headers in ({}, {}, {"Idempotency-Key": "k"}):
            ours.send("POST", "/x", b"", headers)
        ours.send("GET", "/x")
    assert len({*server.keys[:2]}) == 2
    assert server.keys[2:] == ["k", None]


@pytest.mark.parametrize(
    ("said", "count", "words"),
    [
        (GONE, 3, "the same command goes on from there"),
        (BUSY, 3, "server-busy in detail"),
        (problem("unauthenticated", 401), 1, "unauthenticated in detail"),
        (answer(403, b"no JSON"), 1, "HTTP 403"),
        (problem("wrong-state", 409), 1, "wrong-state in detail"),
        (answer(200, b"<h1>Sign in</h1>", media="text/html"), 1, "is no Farhand server"),
    ],
)
@pytest.mark.parametrize(
    "work",
    [
        lambda ours: ours.send("GET", "/x"),
        lambda ours: ours.download("/x", io.BytesIO()),
    ],
    ids=["send", "download"],
)
def test_what_cannot_be_done_ends_the_command(
    said: bytes, count: int, words: str, work: Callable[[Transfer], object]
) -> None:
    with (
        scripted_server(said) as server,
        pytest.raises(click.ClickException, match=words),
        to(server) as ours,
    ):
        work(ours)
    assert len(server.asked) == count


def test_what_is_said_of_one_request_is_for_whoever_sent_it() -> None:
    with scripted_server(problem("wrong-state", 409)) as server, to(server) as ours:
        with pytest.raises(farhand.WrongState):
            ours.send("POST", "/x")
        with pytest.raises(farhand.WrongState):
            ours.download("/x", io.BytesIO())


def test_download_begins_anew_where_it_was_cut_off() -> None:
    file = io.BytesIO(b"what was there before, and is longer")
    with scripted_server(DIGITS[:-3], BUSY, DIGITS) as server, to(server) as ours:
        assert ours.download("/x", file) == '"7"'
    assert file.getvalue() == b"0123456789"


def test_full_disk_is_not_taken_for_a_server_that_is_away() -> None:
    class Full(io.BytesIO):
        def write(self, _: object) -> int:
            raise OSError(errno.ENOSPC, "No space left on device")

    with scripted_server(DIGITS) as server:
        with (
            pytest.raises(click.ClickException, match="cannot write what comes: No space left"),
            to(server) as ours,
        ):
            ours.download("/x", Full())
        assert len(server.asked) == 1


def test_answer_that_is_not_read_to_its_end_does_not_disturb_the_next() -> None:
    size = 3 * transfer.CHUNK_BYTES + 7
    with scripted_server(answer(200, b"x" * size)) as server, to(server) as ours:
        with ours.opened("/x") as (_, chunks):
            next(chunks)
        with ours.opened("/x") as (_, chunks):
            assert sum(map(len, chunks)) == size


def test_server_that_is_not_there_is_said() -> None:
    with (
        pytest.raises(click.ClickException, match=r"no server answers at http://127.0.0.1:1"),
        Transfer(Api("http://127.0.0.1:1", "t", as_json=False)) as ours,
    ):
        ours.send("GET", "/x")
