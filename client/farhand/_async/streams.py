"""Streams of events, for as long as somebody listens."""

import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from farhand._async.connection import AsyncConnection
from farhand._events import EventDecoder
from farhand._waiting import async_sleep
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


async def events(
    connection: AsyncConnection,
    types: Sequence[str] | None,
    machine_id: str | None,
    decoder: EventDecoder,
) -> AsyncIterator[Event]:
    """Every event, across broken connections."""
    while True:
        try:
            async with event_stream(connection, types, machine_id, decoder) as stream:
                async for event in stream:
                    yield event
        except FarhandError as error:
            is_over = time.monotonic() - decoder.heard_at > connection.timeout
            if is_over or not isinstance(error, _FOR_NOW):
                raise
        await async_sleep(_COME_BACK_SECONDS)


@asynccontextmanager
async def event_stream(
    connection: AsyncConnection,
    types: Sequence[str] | None,
    machine_id: str | None,
    decoder: EventDecoder,
) -> AsyncIterator[AsyncIterator[Event]]:
    """The events of one connection, behind the decoder's last."""
    query = {"types": None if types is None else ",".join(types), "machine_id": machine_id}
    headers = {"Last-Event-ID": decoder.last_id} if decoder.last_id else {}
    decoder.begin()
    async with connection.stream(
        "GET", "/v1/events", query=query, headers=headers, silence=SILENCE_SECONDS
    ) as response:
        await connection.check(response)
        if not response.headers.get("Content-Type", "").startswith("text/event-stream"):
            raise NotFarhand(f"what {connection.url} answers is no stream of events")

        async def come() -> AsyncIterator[Event]:
            async for piece in response.aiter_raw():
                for event in decoder.feed(piece):
                    yield event

        yield come()
