"""Opens MongoDB, bounds every wait for it, and prepares its indexes.

The only place where Motor's client is made, and where PyMongo's errors become ours.
"""

import asyncio
import warnings
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from time import perf_counter
from typing import Any, Final, Self
from uuid import UUID

import bson
import pymongo
from bson.binary import UuidRepresentation
from bson.codec_options import CodecOptions
from bson.errors import InvalidDocument
from motor.core import AgnosticBaseCursor
from motor.motor_asyncio import (
    AsyncIOMotorClient,
    AsyncIOMotorClientSession,
    AsyncIOMotorCollection,
    AsyncIOMotorDatabase,
)
from pymongo import ASCENDING, DESCENDING, IndexModel, ReadPreference, WriteConcern
from pymongo.errors import (
    ConfigurationError,
    ConnectionFailure,
    DocumentTooLarge,
    DuplicateKeyError,
    InvalidOperation,
    OperationFailure,
    PyMongoError,
)
from pymongo.read_concern import ReadConcern

from server.store.errors import (
    AlreadyExists,
    StoreError,
    StoreUnavailable,
    StoreUnusable,
    TooLarge,
)
from server.store.mongodb.migrations import migrate
from server.store.mongodb.suitability import check_mongodb, clock_difference, hosts_of
from server.tasks import Tasks

Document = dict[str, Any]
Collection = AsyncIOMotorCollection[Document]

SCHEMA_VERSION: Final = 3
"""Counted up by every change after which an older Farhand could misread what is stored."""

DEFAULT_TIMEOUT: Final = 10.0
"""Seconds that one operation may take, retries of the driver included."""

FINISH_SECONDS: Final = 3.0
"""For transactions that have begun when the server ends."""

MAX_DOCUMENT_BYTES: Final = 16 * 1024 * 1024
"""The largest document that MongoDB takes; also what its answers call maxBsonObjectSize."""

CODEC_OPTIONS: Final[CodecOptions[Document]] = CodecOptions(
    tz_aware=True, tzinfo=UTC, uuid_representation=UuidRepresentation.STANDARD
)

_CERTAINLY_FITS = MAX_DOCUMENT_BYTES - 64 * 1024
"""Up to this estimate of its large parts a document fits with whatever else is in it."""

_SERVER_SELECTION_SECONDS = 5.0
_INDEX_SECONDS = 3600.0

# https://www.mongodb.com/docs/manual/reference/error-codes/
_UNAUTHORIZED = 13
_AUTHENTICATION_FAILED = 18
_TOO_LARGE = (10334, 17419, 17420)
_NAMESPACE_EXISTS = 48
_SNAPSHOT_UNAVAILABLE = 246

_NEWEST_FIRST = [("created_at", DESCENDING), ("_id", DESCENDING)]
# Behind the order as well: what does not match is passed over, and counted, without being read.
_GENERATED = ("is_generated", ASCENDING)
_APPROVED = ("is_approved", ASCENDING)
_LAST_UPDATED_FIRST = [("updated_at", DESCENDING), *_NEWEST_FIRST]

INDEXES: Final[dict[str, list[IndexModel]]] = {
    "trajectories": [
        IndexModel([("organization_id", ASCENDING), *prefix, *_NEWEST_FIRST, *filtered], name=name)
        for name, prefix, filtered in (
            ("newest", [], [_GENERATED, _APPROVED]),
            ("newest_generated", [_GENERATED], [_APPROVED]),
            ("newest_approved", [_APPROVED], [_GENERATED]),
            ("newest_of_workflow", [("workflow_id", ASCENDING)], [_GENERATED, _APPROVED]),
            ("newest_of_run", [("run_id", ASCENDING)], [_GENERATED, _APPROVED]),
        )
    ]
    + [
        IndexModel([("organization_id", ASCENDING), *_LAST_UPDATED_FIRST], name="last_updated"),
        IndexModel(
            [
                ("organization_id", ASCENDING),
                ("workflow_id", ASCENDING),
                *_LAST_UPDATED_FIRST,
            ],
            name="latest_of_workflow",
            partialFilterExpression={"is_generated": True, "step_count": {"$gte": 1}},
        ),
        IndexModel(
            [
                ("organization_id", ASCENDING),
                *_NEWEST_FIRST,
                *(_GENERATED, _APPROVED, ("uncatalogued", ASCENDING)),
            ],
            name="uncatalogued",
            partialFilterExpression={"uncatalogued": {"$gt": ""}},
        ),
    ],
    "trajectory_entries": [
        IndexModel([("organization_id", ASCENDING), ("suffixes", ASCENDING)], name="suffixes"),
        # The texts are in it, so that what nearly everything contains is counted without reading.
        IndexModel(
            [
                ("organization_id", ASCENDING),
                *_NEWEST_FIRST,
                *(_GENERATED, _APPROVED, ("search", ASCENDING)),
            ],
            name="newest",
        ),
    ],
    "workflows": [IndexModel([("organization_id", ASCENDING), *_NEWEST_FIRST], name="newest")],
    "organizations": [
        IndexModel(
            [("is_default", ASCENDING)],
            name="one_default",
            unique=True,
            partialFilterExpression={"is_default": True},
        ),
        IndexModel(_NEWEST_FIRST, name="newest"),
    ],
    "tokens": [
        IndexModel([("hash", ASCENDING)], name="hash", unique=True),
        IndexModel([("organization_id", ASCENDING), *_NEWEST_FIRST], name="newest"),
        IndexModel(
            [("organization_id", ASCENDING), ("machine_id", ASCENDING)],
            name="of_machine",
            partialFilterExpression={"machine_id": {"$type": "string"}},
        ),
    ],
    "machines": [
        IndexModel(
            [("organization_id", ASCENDING), ("machine_id", ASCENDING)],
            name="machine",
            unique=True,
        ),
    ],
    "commands": [
        IndexModel(
            [
                ("organization_id", ASCENDING),
                ("machine_id", ASCENDING),
                ("accepted_at", ASCENDING),
            ],
            name="sent_to_machine",
            partialFilterExpression={"state": "SENT"},
        ),
        IndexModel([("delete_at", ASCENDING)], name="lifetime", expireAfterSeconds=0),
    ],
    "audit": [
        # The texts behind the order: what does not match is passed over without being read.
        IndexModel(
            [
                ("organization_id", ASCENDING),
                *_NEWEST_FIRST,
                *(("action", ASCENDING), ("token_id", ASCENDING)),
            ],
            name="newest",
        ),
        IndexModel(
            [
                ("organization_id", ASCENDING),
                ("machine_id", ASCENDING),
                *_NEWEST_FIRST,
                ("outcome", ASCENDING),
            ],
            name="of_machine",
        ),
        IndexModel([("delete_at", ASCENDING)], name="lifetime", expireAfterSeconds=0),
    ],
    "idempotency_keys": [
        IndexModel([("delete_at", ASCENDING)], name="lifetime", expireAfterSeconds=0),
    ],
    "sessions": [
        IndexModel([("token_hash", ASCENDING), *_NEWEST_FIRST], name="of_token"),
        IndexModel([("expires_at", ASCENDING)], name="lifetime", expireAfterSeconds=0),
    ],
}
"""Every index of every collection.  A changed index needs a new name, or a migration."""


class Database:
    """One client of one MongoDB database, shared by all stores of a process.

    Writes are acknowledged by a majority of the members and journaled, reads see only what a
    majority has.  Every operation ends within ``timeout`` seconds, or raises StoreUnavailable;
    ``failures`` counts those that did, and ``on_operation`` is told the seconds of each.
    """

    def __init__(
        self, uri: str, name: str = "farhand", *, timeout: float = DEFAULT_TIMEOUT
    ) -> None:
        """Make the client; nothing is sent yet.  Raises StoreUnusable for a malformed URI."""
        self.tasks = Tasks()
        self._hosts = hosts_of(uri)
        self._timeout = timeout
        self.failures = 0
        self.on_operation: Callable[[float], None] | None = None
        selection = int(min(timeout, _SERVER_SELECTION_SECONDS) * 1000)
        try:
            with warnings.catch_warnings():
                # An option that the driver does not understand is a mistake, not a remark.
                warnings.simplefilter("error", UserWarning)
                self._client: AsyncIOMotorClient[Document] = AsyncIOMotorClient(
                    _checked(uri),
                    appname="farhand",
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

    async def session(self) -> AsyncIOMotorClientSession:
        """A session of the client, to be ended by ``async with``; for transactions."""
        return await self._client.start_session()

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
        await self.tasks.close(0)

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
        await self._stored_schema()

    async def clock_difference(self) -> timedelta:
        """How far MongoDB's clock is ahead of this host's."""
        async with self.operation():
            return await clock_difference(self._client)

    async def prepare(self) -> None:
        """Make what is missing of indexes and schema; several nodes may do so at once.

        Raises StoreUnusable where a newer Farhand has been at work on this database.
        """
        stored = await self._stored_schema()
        for name in ("input_counts", "trajectory_counts"):
            await self._make_collection(name)
        # All at once: each waits for the disk. MongoDB itself builds only some large ones together.
        await asyncio.gather(*(self._make_indexes(*each) for each in INDEXES.items()))
        if stored is not None:
            await migrate(self, stored["version"], now())
        async with self.operation():
            await self.collection("schema").update_one(
                {"_id": "schema"}, {"$max": {"version": SCHEMA_VERSION}}, upsert=True
            )

    async def _stored_schema(self) -> Document | None:
        async with self.operation():
            stored = await self.collection("schema").find_one({"_id": "schema"})
        if stored is not None and stored["version"] > SCHEMA_VERSION:
            raise StoreUnusable(
                f"The database was prepared by a newer Farhand (schema {stored['version']}, "
                f"this one knows {SCHEMA_VERSION}): upgrade this server."
            )
        return stored

    async def _make_indexes(self, name: str, indexes: list[IndexModel]) -> None:
        """Make what is missing; a large new index takes its time."""
        async with self.translate_errors():
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

    @asynccontextmanager
    async def operation(self) -> AsyncIterator[None]:
        """Bound what happens inside to this database's timeout, and translate its errors."""
        started = perf_counter()
        try:
            async with self.translate_errors():
                # The driver has the same limit, but counts from when one of its threads is free.
                async with asyncio.timeout(self._timeout):
                    yield
        except StoreUnavailable:
            self.failures += 1
            raise
        finally:
            if self.on_operation is not None:
                self.on_operation(perf_counter() - started)

    @staticmethod
    @asynccontextmanager
    async def translate_errors() -> AsyncIterator[None]:
        """Raise our own error in place of any that the driver raises inside."""
        try:
            yield
        except TimeoutError as error:
            raise StoreUnavailable("The database did not answer in time.") from error
        except (PyMongoError, InvalidDocument) as error:
            raise translated(error) from error

    async def documents(self, cursor: AgnosticBaseCursor[Document]) -> AsyncIterator[Document]:
        """What a cursor finds, batch by batch, each batch within the timeout."""
        try:
            while True:
                try:
                    async with self.operation():
                        document = await cursor.next()
                except StopAsyncIteration:
                    return
                yield document
                # The rest of the batch is here already: nothing to wait for, or to bound.
                if here := cursor._buffer_size():  # noqa: SLF001  Motor has no public one
                    for document in await cursor.to_list(here):
                        yield document
        finally:
            await cursor.close()


def _checked(uri: str) -> str:
    # The driver takes anything else for the name of a host.
    if not uri.startswith(("mongodb://", "mongodb+srv://")):
        raise ValueError("it must begin with mongodb:// or mongodb+srv://")
    return uri


def translated(error: Exception) -> StoreError:
    """Our own error for one of the driver's; the driver's words stay out of reach of clients."""
    code = error.code if isinstance(error, OperationFailure) else None
    if isinstance(error, DuplicateKeyError):
        return AlreadyExists("It exists already.")
    if isinstance(error, DocumentTooLarge) or code in _TOO_LARGE:
        return TooLarge("It is larger than the 16 MiB that the database takes.")
    if code == _AUTHENTICATION_FAILED:
        return StoreUnusable(
            "The database refused the user or the password of the MongoDB URI: correct them in "
            "mongodb_uri (FARHAND_MONGODB_URI), its authSource included."
        )
    if code == _UNAUTHORIZED:
        return StoreUnusable(
            "The database does not let the user of the MongoDB URI, or a URI without one, read and "
            "write: name a user with the role readWrite in mongodb_uri (FARHAND_MONGODB_URI)."
        )
    if isinstance(error, ConfigurationError):
        return StoreUnusable(f"The database cannot be used: {error}")
    if isinstance(error, ConnectionFailure | InvalidOperation) or (
        isinstance(error, PyMongoError)
        # A member that is stepping down or recovering says so through its labels.
        and (
            error.timeout
            or error.has_error_label("RetryableWriteError")
            # An index or a collection is just being made.
            or code == _SNAPSHOT_UNAVAILABLE
        )
    ):
        return StoreUnavailable("The database does not answer.")
    return StoreError(f"The database refused ({type(error).__name__}, code {code}).")


def now() -> datetime:
    """The time in UTC, cut to the milliseconds that the database keeps."""
    time = datetime.now(UTC)
    return time.replace(microsecond=time.microsecond // 1000 * 1000)


def scoped_id(organization_id: UUID, own_id: UUID) -> bytes:
    """The ``_id`` of something whose own id is unique inside its organization only.

    Two organizations may hold copies of the same thing, and neither can find out by trying.
    Inside an organization these sort as the own ids do.
    """
    return organization_id.bytes + own_id.bytes


def own_id(scoped: bytes) -> UUID:
    """The own id in what ``scoped_id`` made."""
    return UUID(bytes=scoped[16:])
