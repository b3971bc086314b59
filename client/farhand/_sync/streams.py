# Made of farhand/_async by client/unasync.py: change it there.
"""Streams of events, for as long as somebody listens."""

import time
from collections.abc import Iterator, Sequence

from farhand._events import EventDecoder
from farhand._sync.connection import Connection
from farhand._waiting import sleep
from farhand.errors import (
    FarhandError,
    NoAnswer,
    ServerStopping,
    StorageUnavailable,
    TooManyStreams,
)
from farhand.types import Event

SILENCE_SECONDS = 40.0
"""After this the server, which says something every 15 s, is taken for gone."""

_COME_BACK_SECONDS = 1.0
_FOR_NOW = (NoAnswer, ServerStopping, StorageUnavailable, TooManyStreams)


def events(
    connection: Connection,
    types: Sequence[str] | None,
    machine_id: str | None,
    last_event_id: str | None,
) -> Iterator[Event]:
    """Every event, across broken connections."""
    query = {"types": None if types is None else ",".join(types), "machine_id": machine_id}
    heard_at = time.monotonic()
    while True:
        decoder = EventDecoder()
        headers = {} if last_event_id is None else {"Last-Event-ID": last_event_id}
        try:
            with connection.stream(
                "GET", "/v1/events", query=query, headers=headers, silence=SILENCE_SECONDS
            ) as response:
                connection.check(response)
                for piece in response.iter_raw():
                    heard_at = time.monotonic()
                    for event in decoder.feed(piece):
                        last_event_id = event.id or last_event_id
                        yield event
        except FarhandError as error:
            if not isinstance(error, _FOR_NOW) or _is_over(connection, heard_at):
                raise
        last_event_id = decoder.last_id or last_event_id
        sleep(_COME_BACK_SECONDS)


def _is_over(connection: Connection, heard_at: float) -> bool:
    return time.monotonic() - heard_at > connection.timeout
