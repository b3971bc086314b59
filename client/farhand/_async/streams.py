"""Streams of events, for as long as somebody listens."""

import time
from collections.abc import AsyncIterator, Sequence

from farhand._async.connection import AsyncConnection
from farhand._events import EventDecoder
from farhand._waiting import async_sleep
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


async def events(
    connection: AsyncConnection,
    types: Sequence[str] | None,
    machine_id: str | None,
    last_event_id: str | None,
) -> AsyncIterator[Event]:
    """Every event, across broken connections."""
    query = {"types": None if types is None else ",".join(types), "machine_id": machine_id}
    heard_at = time.monotonic()
    while True:
        decoder = EventDecoder()
        headers = {} if last_event_id is None else {"Last-Event-ID": last_event_id}
        try:
            async with connection.stream(
                "GET", "/v1/events", query=query, headers=headers, silence=SILENCE_SECONDS
            ) as response:
                await connection.check(response)
                async for piece in response.aiter_raw():
                    heard_at = time.monotonic()
                    for event in decoder.feed(piece):
                        last_event_id = event.id or last_event_id
                        yield event
        except FarhandError as error:
            if not isinstance(error, _FOR_NOW) or _is_over(connection, heard_at):
                raise
        last_event_id = decoder.last_id or last_event_id
        await async_sleep(_COME_BACK_SECONDS)


def _is_over(connection: AsyncConnection, heard_at: float) -> bool:
    return time.monotonic() - heard_at > connection.timeout
