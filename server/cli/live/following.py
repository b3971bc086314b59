"""Listens to a server's events for as long as a command stays."""

import json
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, Final, NoReturn, Protocol

import click
from httpx import Response
from httpx_sse import EventSource, SSEError

from server.cli.client import CONNECT_SECONDS, REQUEST_SECONDS, Api
from server.client.connections import Connection, reply_of

COME_BACK_SECONDS: Final = 2.0
SILENCE_SECONDS: Final = 40.0
"""After this the server, which says something every 15 s, is taken for gone."""

RETRIED_STATUSES: Final = (429, 502, 503, 504)
MAX_EVENT_BYTES: Final = 1024 * 1024


class Listener(Protocol):
    """Shows what it is told."""

    def read(self, items: list[Any]) -> None:
        """Take everything as it is now."""

    def heard(self, kind: str, data: Any) -> None:
        """Take an event."""

    def remark(self, text: str) -> None:
        """Say something about the connection; nothing, if empty."""


def write(text: str) -> None:
    """Write to standard output, at once."""
    sys.stdout.write(text)
    sys.stdout.flush()


def events_of(response: Response) -> Iterator[tuple[str, Any]]:
    """Type and decoded data of each event of a stream, as they come.

    Raises ConnectionError for what is no such stream.
    """
    unread = 0

    def pieces() -> Iterator[bytes]:
        nonlocal unread
        for piece in response.iter_raw():
            unread += len(piece)
            if unread > MAX_EVENT_BYTES:
                raise ConnectionError("what comes is no stream of events")
            yield piece

    bounded = Response(response.status_code, headers=response.headers, content=pieces())
    try:
        for event in EventSource(bounded).iter_sse():
            unread = 0
            if event.data:
                yield event.event, json.loads(event.data)
    except SSEError:
        raise ConnectionError("what comes is no stream of events") from None
    except ValueError:
        raise ConnectionError("an event is not JSON") from None


def follow(
    api: Api, listener: Listener, events: str, read_list: Callable[[], dict[str, Any]]
) -> NoReturn:
    """Tell the listener what there is and every event, and come back where the stream ends.

    ``events`` is the stream's address.
    """
    while True:
        ended = "the stream has ended"
        try:
            _listen(api, listener, events, read_list)
        except BrokenPipeError:
            raise  # Whoever read what is written here has gone; click ends the program.
        except TimeoutError:
            ended = f"nothing came for {SILENCE_SECONDS:g} s"
        except ConnectionError as error:
            ended = str(error)
        listener.remark(
            f"no word from {api.url} ({ended}); trying again (farhand doctor on its host "
            "looks closer)"
        )
        time.sleep(COME_BACK_SECONDS)


def _listen(
    api: Api, listener: Listener, events: str, read_list: Callable[[], dict[str, Any]]
) -> None:
    """Listen until the stream ends; the list is read once it has begun.

    In this order nothing is missed between the two, and whatever is told afterwards is newer.
    """
    with (
        Connection(api.url, api.token, SILENCE_SECONDS, CONNECT_SECONDS) as server,
        server.opened("GET", events) as response,
    ):
        if response.status_code in RETRIED_STATUSES:
            raise ConnectionError(response.reason_phrase)
        if response.status_code != 200:
            raise click.ClickException(reply_of(response, REQUEST_SECONDS).refusal)
        listener.read(_items(read_list))
        listener.remark("")
        for kind, data in events_of(response):
            if kind == "reset":
                # Some events are not known any more.
                listener.read(_items(read_list))
            else:
                listener.heard(kind, data)


def _items(read_list: Callable[[], dict[str, Any]]) -> list[Any]:
    """Everything listed.  Raises ConnectionError where it cannot be read now."""
    try:
        items: list[Any] = read_list()["items"]
    except click.ClickException as error:
        raise ConnectionError(error.message) from None
    return items
