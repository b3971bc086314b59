"""Events across connections that break."""

import itertools

import pytest

import farhand
from farhand import Farhand
from farhand._sync import streams
from tests.client.scripted_server import GONE, answer, problem, scripted_server


def stream(*lines: str) -> bytes:
    head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
    return (head + "".join(f"{line}\n" for line in lines)).encode()


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "_COME_BACK_SECONDS", 0.0)


def test_stream_that_breaks_goes_on_behind_the_last_event() -> None:
    first = stream("id: 7-1", "event: machine", 'data: {"id": "a"}', "", "id: 7-4", "", "data: ha")
    second = stream("id: 7-5", "event: command", 'data: {"id": "b"}', "")
    with (
        scripted_server(first, GONE, problem("server-stopping", 503), second) as server,
        Farhand(server.url, "fh_t") as client,
    ):
        heard = list(
            itertools.islice(client.events(types=["machine", "command"], machine_id="a"), 2)
        )
    assert [(each.id, each.type, each.data["id"]) for each in heard] == [
        ("7-1", "machine", "a"),
        ("7-5", "command", "b"),
    ]
    assert server.asked[0].path == "/v1/events?types=machine%2Ccommand&machine_id=a"
    assert [each.headers.get("last-event-id") for each in server.asked] == [
        *(None, "7-4", "7-4", "7-4")
    ]


def test_listening_goes_on_where_another_program_ended() -> None:
    with (
        scripted_server(stream("id: 9-1", "data: 1", "")) as server,
        Farhand(server.url, "fh_t") as client,
    ):
        assert next(iter(client.events(last_event_id="9-0"))).id == "9-1"
    assert server.asked[0].headers["last-event-id"] == "9-0"


@pytest.mark.parametrize(
    ("said", "error"),
    [
        (problem("forbidden", 403), farhand.Forbidden),
        (answer(302), farhand.NotFarhand),
        (stream("data: <html>", ""), farhand.NotFarhand),
    ],
)
def test_what_does_not_become_better_is_raised(
    said: bytes, error: type[farhand.FarhandError]
) -> None:
    with (
        scripted_server(said) as server,
        Farhand(server.url, "fh_t") as client,
        pytest.raises(error),
    ):
        list(client.events())
    assert len(server.asked) == 1


def test_server_that_stays_away_ends_it() -> None:
    with (
        scripted_server(GONE) as server,
        Farhand(server.url, "fh_t", timeout=0) as client,
        pytest.raises(farhand.NoAnswer),
    ):
        list(client.events())
