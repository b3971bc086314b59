"""What a cursor finds, the next batch of which is read while one is worked with."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from typing import Any

from motor.core import AgnosticBaseCursor

from server.store.mongodb.database import Database
from server.store.mongodb.documents import Document


async def batches_read_ahead(
    database: Database,
    cursor: AgnosticBaseCursor[Document],
    may_read_ahead: Callable[[list[Document]], bool],
) -> AsyncGenerator[list[Document], None]:
    """Every batch of a cursor, each within the timeout.

    The next one is read meanwhile where ``may_read_ahead`` says of a batch that two may be in
    memory.
    """
    reading: asyncio.Task[list[Document]] | None = None
    try:
        batch = await database.batch(cursor)
        while batch:
            if may_read_ahead(batch):
                reading = database.tasks.start(database.batch(cursor), "read ahead")
                reading.add_done_callback(_take_exception)
            yield batch
            if reading is None:
                batch = await database.batch(cursor)
            else:
                batch, reading = await asyncio.shield(reading), None
    finally:
        # A cursor is for one at a time, and the driver bounds how long it reads.
        if reading is not None:
            await asyncio.wait([reading])
        await cursor.close()


def _take_exception(reading: asyncio.Task[Any]) -> None:
    """Nobody may be there any more to be told."""
    if not reading.cancelled():
        reading.exception()
