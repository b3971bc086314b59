"""Opens MongoDB and bounds every wait for it: the only place where Motor's client is made."""

import asyncio
import warnings
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from itertools import islice
from typing import Final, Self

import bson
import pymongo
from motor.core import AgnosticBaseCursor
from motor.motor_asyncio import (
    AsyncIOMotorClient,
    AsyncIOMotorClientSession,
    AsyncIOMotorDatabase,
)
from pymongo import IndexModel, ReadPreference, WriteConcern
from pymongo.errors import OperationFailure, PyMongoError
from pymongo.read_concern import ReadConcern

from server.errors import StoreUnusable, TooLarge
from server.store.mongodb.abandoned import end_abandoned
from server.store.mongodb.documents import (
    CODEC_OPTIONS,
    MAX_DOCUMENT_BYTES,
    Collection,
    Document,
)
from server.store.mongodb.error_translation import translate_errors
from server.store.mongodb.indexes import INDEXES
from server.store.mongodb.migrations import migrate, note_schema, stored_schema
from server.store.mongodb.operation import Operation
from server.store.mongodb.suitability import check_mongodb, clock_difference, hosts_of
from server.tasks import Tasks

DEFAULT_TIMEOUT: Final = 10.0
"""Seconds that one operation may take, retries of the driver included."""

FINISH_SECONDS: Final = 3.0
"""For transactions that have begun when the server ends."""

FAIL_SECONDS: Final = 1.0
"""For those that fail because the connections are closed."""

_CERTAINLY_FITS = MAX_DOCUMENT_BYTES - 64 * 1024
"""Up to this estimate of its large parts a document fits with whatever else is in it."""

_SERVER_SELECTION_SECONDS = 5.0
_INDEX_SECONDS = 3600.0

# https://www.mongodb.com/docs/manual/reference/error-codes/
_NAMESPACE_EXISTS = 48


class Database:
    """One client of one MongoDB database, shared by all stores of a process.

    Writes are acknowledged by a majority of the members and journaled, reads see only what a
    majority has.  Every operation ends within ``timeout`` seconds, or raises StoreUnavailable;
    ``failures`` counts those that did, and ``on_operation`` is told the seconds of each.

    ``picture_lifetime`` is how long pictures of trajectories are kept, for all who write these;
    None is for ever.
    """

    def __init__(
        self, uri: str, name: str = "farhand", *, timeout: float = DEFAULT_TIMEOUT
    ) -> None:
        """Make the client; nothing is sent yet.  Raises StoreUnusable for a malformed URI."""
        self.tasks = Tasks()
        # Another database of the same MongoDB is another application.
        self._application = f"farhand {name}"
        self._hosts = hosts_of(uri)
        self._timeout = timeout
        self.failures = 0
        self.on_operation: Callable[[float], None] | None = None
        self.picture_lifetime: timedelta | None = None
        selection = int(min(timeout, _SERVER_SELECTION_SECONDS) * 1000)
        try:
            with warnings.catch_warnings():
                # An option that the driver does not understand is a mistake, not a remark.
                warnings.simplefilter("error", UserWarning)
                self._client: AsyncIOMotorClient[Document] = AsyncIOMotorClient(
                    _checked(uri),
                    appname=self._application,
                    connectTimeoutMS=selection,
                    serverSelectionTimeoutMS=selection,
                    timeoutMS=int(timeout * 1000),
                    retryReads=True,
                    retryWrites=True,
                )
            self._database: AsyncIOMotorDatabase[Document] = self._client.get_database(
                name,
                codec_options=CODEC_OPTIONS,
                read_concern=ReadConcern("majority"),
                read_preference=ReadPreference.PRIMARY,
                write_concern=WriteConcern("majority", j=True),
            )
        except (PyMongoError, ValueError, TypeError, UserWarning) as error:
            # The driver quotes what it could not read, and that may be a part of the password.
            detail = "percent-encode its user and password" if "@" in uri else str(error)
            raise StoreUnusable(f"The MongoDB URI or database name is wrong: {detail}.") from None

    @classmethod
    async def open(
        cls, uri: str, name: str = "farhand", *, timeout: float = DEFAULT_TIMEOUT
    ) -> Self:
        """Connect, check that Farhand can work with this MongoDB, and prepare it.

        Raises StoreUnavailable where nobody answers, StoreUnusable where it cannot be used.
        """
        database = cls(uri, name, timeout=timeout)
        try:
            await database.check()
            await database.prepare()
        except BaseException:
            database.close()
            raise
        return database

    def collection(self, name: str) -> Collection:
        """A collection, with the database's own read and write concerns."""
        return self._database[name]

    @property
    def primary(self) -> tuple[str, int] | None:
        """Host and port of the member that takes writes, as far as the driver knows just now.

        None while nobody does, and where the URI leads to one member alone or to a ``mongos``.
        """
        address: tuple[str, int] | None = self._client.delegate.primary
        return address

    async def session(self) -> AsyncIOMotorClientSession:
        """A session of the client, to be ended by ``async with``; for transactions."""
        return await self._client.start_session()

    async def end_abandoned(self) -> None:
        """End the transactions of nodes that were killed; raises what the driver raises."""
        await end_abandoned(self._client, self._application)

    @asynccontextmanager
    async def snapshot(self) -> AsyncIterator[AsyncIOMotorClientSession]:
        """A session whose reads all see one moment; all together are one operation."""
        async with self.operation(), await self._client.start_session(snapshot=True) as session:
            yield session

    def check_size(self, document: Document, estimate: int) -> None:
        """Raise TooLarge for what does not fit a document.

        ``estimate`` is the most that its large parts take.  The server's own refusal is not always
        told apart from others: just above the limit it is a general error code and an English
        sentence.
        """
        if estimate < _CERTAINLY_FITS:
            return
        if len(bson.encode(document, codec_options=CODEC_OPTIONS)) > MAX_DOCUMENT_BYTES:
            raise TooLarge("It is larger than the 16 MiB that the database takes.")

    async def finish(self) -> None:
        """Let transactions that have begun come to their end, for a moment; then close."""
        await self.tasks.wait(FINISH_SECONDS)
        # Before they are called off: to end a session asks the database, which may not answer.
        self.close()
        # Those that wait for a lost database fail by that within half a second, as often as the
        # driver looks. Called off, they would leave its error to nobody: a traceback in the log.
        await self.tasks.close(FAIL_SECONDS)

    def close(self) -> None:
        """Close every connection; what is under way fails."""
        self._client.close()

    async def ping(self) -> None:
        """Raise StoreUnavailable unless a member that takes writes answers."""
        async with self.operation():
            await self._database.command("ping", read_preference=ReadPreference.PRIMARY)

    async def check(self) -> None:
        """Raise StoreUnavailable or StoreUnusable unless Farhand can work with this MongoDB."""
        await check_mongodb(self._client, self._hosts, self.operation)

    async def check_access(self) -> None:
        """Raise StoreUnusable where the user may not read, or a newer Farhand has been at work."""
        async with self.operation():
            await stored_schema(self._database)

    async def clock_difference(self) -> timedelta:
        """How far MongoDB's clock is ahead of this host's."""
        async with self.operation():
            return await clock_difference(self._client)

    async def prepare(self) -> None:
        """Make what is missing of indexes and schema; several nodes may do so at once.

        Raises StoreUnusable where a newer Farhand has been at work on this database.
        """
        async with self.operation():
            stored = await stored_schema(self._database)
        for name in ("input_counts", "trajectory_counts", "trajectory_batches"):
            await self._make_collection(name)
        # All at once: each waits for the disk. MongoDB itself builds only some large ones together.
        await asyncio.gather(*(self._make_indexes(*each) for each in INDEXES.items()))
        if stored is not None:
            async with translate_errors():
                await migrate(self._database, stored)
        async with self.operation():
            await note_schema(self._database)

    async def _make_indexes(self, name: str, indexes: list[IndexModel]) -> None:
        """Make what is missing; a large new index takes its time."""
        async with translate_errors():
            with pymongo.timeout(_INDEX_SECONDS):
                await self.collection(name).create_indexes(indexes)

    async def _make_collection(self, name: str) -> None:
        """Make one that has no index: no snapshot can be read where it is only just made."""
        async with self.operation():
            try:
                await self._database.create_collection(name, check_exists=False)
            except OperationFailure as error:
                if error.code != _NAMESPACE_EXISTS:
                    raise

    def operation(self) -> Operation:
        """Bound what happens inside to this database's timeout, and translate its errors."""
        return Operation(self._timeout, self._ended)

    def bounded(self) -> Operation:
        """As ``operation``, for what several operations wait for: it is not counted by itself."""
        return Operation(self._timeout)

    def _ended(self, seconds: float, is_unavailable: bool) -> None:
        self.failures += is_unavailable
        if self.on_operation is not None:
            self.on_operation(seconds)

    async def documents(self, cursor: AgnosticBaseCursor[Document]) -> AsyncIterator[Document]:
        """What a cursor finds, batch by batch, each batch within the timeout."""
        try:
            while batch := await self.batch(cursor):
                for document in batch:
                    yield document
        finally:
            # At its end it is closed; to have Motor do so again takes a turn of a thread.
            if cursor.alive:  # type: ignore[truthy-function]  # It is a property.
                await cursor.close()

    async def batch(self, cursor: AgnosticBaseCursor[Document]) -> list[Document]:
        """The next batch of what a cursor finds, within the timeout; none at its end."""
        try:
            async with self.operation():
                first = await cursor.next()
        except StopAsyncIteration:
            return []
        # The rest of the batch is here already: nothing to wait for, to bound, or to ask a thread.
        here = cursor._buffer_size()  # noqa: SLF001  Motor has no public one
        return [first, *islice(cursor.delegate, here)]


def _checked(uri: str) -> str:
    # The driver takes anything else for the name of a host.
    if not uri.startswith(("mongodb://", "mongodb+srv://")):
        raise ValueError("it must begin with mongodb:// or mongodb+srv://")
    return uri
