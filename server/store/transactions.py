"""Several writes that happen together or not at all."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from motor.motor_asyncio import AsyncIOMotorClientSession
from pymongo import WriteConcern
from pymongo.errors import PyMongoError
from pymongo.read_concern import ReadConcern

from server.store.database import Database

Session = AsyncIOMotorClientSession
T = TypeVar("T")

FIRST_PAUSE_SECONDS: Final = 0.002
LONGEST_PAUSE_SECONDS: Final = 0.1


async def in_transaction(database: Database, work: Callable[[Session], Awaitable[T]]) -> T:
    """What ``work`` returns, once everything that it wrote in its session has been committed.

    ``work`` is done again where it met another transaction, so it must not change anything but
    through the session; it calls the driver itself, whose errors say whether to try again.  What
    it raises ends the transaction without a trace.  It reads one snapshot.  All tries together are
    one operation of the database: StoreUnavailable when its time is over, and then the writes may
    have happened, as after any other write.
    """
    async with database.operation(), await database.session() as session:
        pause = FIRST_PAUSE_SECONDS
        while True:
            try:
                return await _once(session, work)
            except PyMongoError as error:
                if not error.has_error_label("TransientTransactionError"):
                    raise
            # Whoever it met has to end first; at random, so that two do not meet for ever.
            await asyncio.sleep(pause * random.uniform(0.5, 1.5))  # noqa: S311 - no secret
            pause = min(2 * pause, LONGEST_PAUSE_SECONDS)


async def _once(session: Session, work: Callable[[Session], Awaitable[T]]) -> T:
    session.start_transaction(
        read_concern=ReadConcern("snapshot"), write_concern=WriteConcern("majority", j=True)
    )
    try:
        result = await work(session)
    except Exception:
        await session.abort_transaction()
        raise
    # Where the work was cancelled, the end of the session aborts what it began.
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
