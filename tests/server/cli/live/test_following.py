"""A stream of events: how it is taken apart, and what is told of it."""

import asyncio
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from httpx import Response

from schemas.resources.events import Reset
from server.cli.client import Api
from server.cli.live.following import events_of, follow
from tests.service import Service, until


def streaming(pieces: Iterable[bytes], kind: str = "text/event-stream") -> Response:
    """The answer that these pieces come in."""
    return Response(200, headers={"Content-Type": kind}, content=pieces)


def test_events_are_parsed_in_whatever_pieces_they_come() -> None:
    stream = (
        b"retry: 1000\nid: a-0\n\n: nothing new\n\n"
        b'id: a-1\nevent: machine\ndata: {"id": "\xc3\xa9"}\n\n'
        b"event: machine_removed\r\ndata: {}\r\n\r\n"
    )
    expected = [("machine", {"id": "é"}), ("machine_removed", {})]
    for size in (1, 2, 7, 1000):
        pieces = (stream[at : at + size] for at in range(0, len(stream), size))
        assert list(events_of(streaming(pieces))) == expected


def test_what_is_no_stream_of_events_is_said() -> None:
    with pytest.raises(ConnectionError, match="no stream of events"):
        list(events_of(streaming([b"<html/>"], "text/html")))
    with pytest.raises(ConnectionError, match="not JSON"):
        list(events_of(streaming([b"data: {\n\n"])))


@pytest.mark.parametrize("piece", [b"x" * 1000, b"data: 1234567\n", b": nothing\n"])
def test_event_that_does_not_end_is_not_kept(piece: bytes) -> None:
    taken = 0

    def endless() -> Iterator[bytes]:
        nonlocal taken
        while True:
            taken += len(piece)
            yield piece

    with pytest.raises(ConnectionError, match="no stream of events"):
        list(events_of(streaming(endless())))
    assert taken < 2_000_000


def test_stream_may_be_longer_than_an_event() -> None:
    event = b'id: 7\nevent: machine\ndata: "' + b"x" * 300_000 + b'"\n\n'
    assert len(list(events_of(streaming(event for _ in range(20))))) == 20


class Told:
    """Notes what it is told, and ends with the third list."""

    def __init__(self) -> None:
        self.told: list[object] = []

    def read(self, items: list[Any]) -> None:
        if self.told.count("read") == 2:
            raise EOFError
        self.told.append("read")

    def heard(self, kind: str, data: Any) -> None:
        self.told.append((kind, data["id"]))

    def remark(self, text: str) -> None:
        """Nobody reads it."""


async def test_list_is_read_again_where_events_are_lost(service: Service) -> None:
    listener = Told()
    api = Api(service.url, service.token, as_json=True)
    following = asyncio.to_thread(
        follow, api, listener, "/v1/events?types=trajectory", lambda: {"items": []}
    )
    task = service.server.services.background.start(following, "follow events")
    await until(lambda: listener.told == ["read"])
    events, reset = service.server.services.events, Reset(reason="more happened")
    for _ in range(2):
        events.publish(service.organization_id, "reset", reset)
    with pytest.raises(EOFError):
        await task
    assert listener.told == ["read", "read"]
