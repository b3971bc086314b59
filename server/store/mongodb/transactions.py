"""Several writes that happen together or not at all."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar

from motor.motor_asyncio import AsyncIOMotorClientSession
from pymongo import WriteConcern
from pymongo.errors import InvalidOperation, PyMongoError
from pymongo.read_concern import ReadConcern

from server.store.mongodb.database import Database

Session = AsyncIOMotorClientSession
T = TypeVar("T")

FIRST_PAUSE_SECONDS: Final = 0.002
LONGEST_PAUSE_SECONDS: Final = 0.1

PATIENCE_SECONDS: Final = 1.0
"""After which it is looked whether what was met has been left by a node that was killed."""


async def in_transaction(database: Database, work: Callable[[Session], Awaitable[T]]) -> T:
    """What ``work`` returns, once everything that it wrote in its session has been committed.

    ``work`` is done again where it met another transaction, so it must not change anything but
    through the session; it calls the driver itself, whose errors say whether to try again.  What
    it raises ends the transaction without a trace.  It reads one snapshot.  All tries together are
    one operation of the database: StoreUnavailable when its time is over, and then the writes may
    have happened, as after any other write.
    """
    clock = asyncio.get_running_loop().time
    async with database.operation():
        pause, looks_at = FIRST_PAUSE_SECONDS, clock() + PATIENCE_SECONDS
        while True:
            # A try is never left in the middle, where nobody would end what it locked: it goes on
            # to its own end, which the driver bounds, even where nobody waits for that any more.
            attempt = database.tasks.start(_once(database, work), "transaction")
            attempt.add_done_callback(_take_exception)
            try:
                return await asyncio.shield(attempt)
            except InvalidOperation:
                raise  # The client is closed; the driver calls that transient as well.
            except PyMongoError as error:
                if not error.has_error_label("TransientTransactionError"):
                    raise
            finally:
                # What it raises has this frame in its traceback, and with it all who wait here:
                # the two would hold each other, and what was to be written, such as a text.
                del attempt
            if clock() >= looks_at:
                await database.end_abandoned()
                looks_at = clock() + PATIENCE_SECONDS
            # Whoever it met has to end first; at random, so that two do not meet for ever.
            await asyncio.sleep(pause * random.uniform(0.5, 1.5))  # noqa: S311 - no secret
            pause = min(2 * pause, LONGEST_PAUSE_SECONDS)


async def _once(database: Database, work: Callable[[Session], Awaitable[T]]) -> T:
    async with await database.session() as session:
        session.start_transaction(
            read_concern=ReadConcern("snapshot"), write_concern=WriteConcern("majority", j=True)
        )
        try:
            result = await work(session)
        except Exception:
            await session.abort_transaction()
            raise
        while True:
            try:
                await session.commit_transaction()
            except PyMongoError as error:
                # Committing again is safe: the database knows whether this one has been.
                if error.timeout or not error.has_error_label("UnknownTransactionCommitResult"):
                    raise
                await asyncio.sleep(FIRST_PAUSE_SECONDS)
            else:
                return result


def _take_exception(attempt: asyncio.Task[Any]) -> None:
    """Nobody may be there any more to be told."""
    if not attempt.cancelled():
        attempt.exception()
