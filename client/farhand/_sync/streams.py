# Made of farhand/_async by client/unasync.py: change it there.
"""Streams of events, for as long as somebody listens."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from farhand._events import EventDecoder
from farhand._sync.connection import Connection
from farhand._waiting import sleep
from farhand.errors import (
    FarhandError,
    NoAnswer,
    NotFarhand,
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
    decoder: EventDecoder,
) -> Iterator[Event]:
    """Every event, across broken connections."""
    while True:
        try:
            with event_stream(connection, types, machine_id, decoder) as stream:
                for event in stream:
                    yield event
        except FarhandError as error:
            is_over = time.monotonic() - decoder.heard_at > connection.timeout
            if is_over or not isinstance(error, _FOR_NOW):
                raise
        sleep(_COME_BACK_SECONDS)


@contextmanager
def event_stream(
    connection: Connection,
    types: Sequence[str] | None,
    machine_id: str | None,
    decoder: EventDecoder,
) -> Iterator[Iterator[Event]]:
    """The events of one connection, behind the decoder's last."""
    query = {"types": None if types is None else ",".join(types), "machine_id": machine_id}
    headers = {"Last-Event-ID": decoder.last_id} if decoder.last_id else {}
    decoder.begin()
    with connection.stream(
        "GET", "/v1/events", query=query, headers=headers, silence=SILENCE_SECONDS
    ) as response:
        connection.check(response)
        if not response.headers.get("Content-Type", "").startswith("text/event-stream"):
            raise NotFarhand(f"what {connection.url} answers is no stream of events")

        def come() -> Iterator[Event]:
            for piece in response.iter_raw():
                for event in decoder.feed(piece):
                    yield event

        yield come()
