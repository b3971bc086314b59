"""A stream of events: what is told of it, and when it is given up."""

import asyncio
from typing import Any

import click
import pytest

from schemas.resources.events import Reset
from server.cli.client import Api
from server.cli.live import following
from server.cli.live.following import follow
from tests.client.scripted_server import GONE, answer, problem, scripted_server
from tests.service import Service, until


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
    following = asyncio.to_thread(follow, api, listener, ["trajectory"], lambda: {"items": []})
    task = service.server.services.background.start(following, "follow events")
    await until(lambda: listener.told == ["read"])
    events, reset = service.server.services.events, Reset(reason="more happened")
    for _ in range(2):
        events.publish(service.organization_id, "reset", reset)
    with pytest.raises(EOFError):
        await task
    assert listener.told == ["read", "read"]


class Remarked(Told):
    """Notes what is said of the connection, and ends with the stream."""

    def remark(self, text: str) -> None:
        self.told.append(text)
        if "the stream has ended" in text:
            raise EOFError


def test_what_passes_is_told_and_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(following, "COME_BACK_SECONDS", 0.0)
    listener = Remarked()
    page = answer(502, b"<h1>Bad Gateway</h1>", media="text/html")
    stopping = problem("server-stopping", 503)
    ended = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 0\r\n\r\n"
    with scripted_server(GONE, page, stopping, ended) as server, pytest.raises(EOFError):
        follow(Api(server.url, "t", as_json=True), listener, ["x"], lambda: {"items": []})
    words = ("disconnected", "HTTP 502", "server-stopping", "read", "", "the stream has ended")
    for told, word in zip(listener.told, words, strict=True):
        assert word in str(told)
    assert len(server.asked) == 4


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (problem("forbidden", 403), "forbidden in detail"),
        (answer(404, b"<h1>Not Found</h1>", media="text/html"), "look at --url"),
    ],
)
def test_what_does_not_pass_ends_it(said: bytes, words: str) -> None:
    with scripted_server(said) as server, pytest.raises(click.ClickException, match=words):
        follow(Api(server.url, "t", as_json=True), Told(), ["x"], lambda: {"items": []})
    assert len(server.asked) == 1
