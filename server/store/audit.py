"""The audit: who changed what, and every input; entries are added, and nobody can change them.

Two things are written later than the rest: an input whose outcome was pending gets its final one,
once; and what was done in a stretch, which is written when it begins, is said anew as it goes on.
"""

from collections.abc import AsyncGenerator, Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache, partial
from typing import Final
from uuid import UUID

from bson.binary import Binary
from pymongo import UpdateOne
from pymongo.errors import BulkWriteError

from schemas.http.queries import PageQuery
from schemas.resources.actions import Action
from schemas.resources.audit import AuditFilter, AuditQuery, Grant
from server.errors import AlreadyExists
from server.store.machines.input_counts import EndedInput, InputCountStore
from server.store.mongodb.database import Database
from server.store.mongodb.documents import Document, fields_of
from server.store.mongodb.transactions import Session, in_transaction

DEFAULT_LIFETIME: Final = timedelta(days=90)

MAX_COUNTED: Final = 100_000
"""How far the entries that a list has in all are counted: beyond, nobody pages through them."""

PENDING: Final = "pending"
COMPLETED: Final = "completed"
FAILED: Final = "failed"

# https://www.mongodb.com/docs/manual/reference/error-codes/
_DUPLICATE_KEY: Final = 11000

_NEWEST_FIRST: Final = [("created_at", -1), ("_id", -1)]

_EXPORT_BATCH: Final = 32


# Not frozen: there is one of each for every input, and to make a frozen one takes thrice the time.
@dataclass(slots=True)
class AuditedInput:
    """What became of an input; its text is never stored.

    ``count`` is as how many it is counted: a stretch of work by hand is one entry for all.
    """

    outcome: str
    code: str | None
    duration_ms: float | None
    completed_at: datetime | None
    count: int = 1


def _binary(identifier: UUID) -> Binary:
    """A UUID as the database stores it; making it anew each time would cost more than all else."""
    return _known_binaries(identifier)


_known_binaries = lru_cache(maxsize=4096)(Binary.from_uuid)


@dataclass(slots=True)
class AuditEntry:
    """Something that was done, by whom, to what and when.

    ``input`` is there for inputs only, whose ``created_at`` is when they were accepted, and whose
    ``id`` begins with the command's own 16 bytes, and for stretches of work by hand.  ``note`` is
    what whoever did it wrote about it, or how much was done by hand.
    ``target_name`` is what the target was called then, and ``grant`` what it allowed, for a token.
    """

    id: bytes
    organization_id: UUID
    created_at: datetime
    action: Action
    token_id: UUID | None
    token_name: str | None
    target: str | None
    machine_id: str | None
    request_id: str
    input: AuditedInput | None = None
    note: str | None = None
    target_name: str | None = None
    grant: Grant | None = None


class AuditStore:
    """Every method sees the entries of the organization it is given, and no others.

    ``stored`` is told of every entry that was stored or said anew, but of no input's, and of many
    that were stored at once the last alone.
    """

    def __init__(
        self,
        database: Database,
        *,
        lifetime: timedelta = DEFAULT_LIFETIME,
        stored: Callable[[AuditEntry], None] = lambda _: None,
    ) -> None:
        self._database = database
        self._lifetime = lifetime
        self._stored = stored
        self._entries = database.collection("audit")
        self._counts = InputCountStore(database)

    async def add(self, entry: AuditEntry) -> None:
        """Store an entry.  May be repeated after StoreUnavailable."""
        # Where there is one, an earlier try has stored it.
        with suppress(AlreadyExists):
            async with self._database.operation():
                await self._entries.insert_one(self._document(entry))
        self._stored(entry)

    async def add_changes(self, entries: Sequence[AuditEntry]) -> None:
        """Store entries of which none is an input's, all at once."""
        if entries:
            documents = [self._document(entry) for entry in entries]
            async with self._database.operation():
                await self._entries.insert_many(documents, ordered=False)
            self._stored(entries[-1])

    async def put_stretches(self, entries: Sequence[AuditEntry]) -> None:
        """Store entries about stretches; of those that are stored already, the note as it is now.

        May be repeated after StoreUnavailable.
        """
        changes = []
        for entry in entries:
            first = self._document(entry)
            note = {"note": first.pop("note")}
            first.pop("_id")
            change = {"$setOnInsert": first, "$set": note}
            changes.append(UpdateOne({"_id": entry.id}, change, upsert=True))
        async with self._database.operation():
            await self._entries.bulk_write(changes, ordered=False)
        for entry in entries:
            self._stored(entry)

    async def add_inputs(self, entries: Sequence[AuditEntry]) -> None:
        """Store inputs, and count those that are final for their machines: both, or neither.

        May be repeated after StoreUnavailable: what is stored already is neither stored nor counted
        again, except that a final outcome takes the place of a pending one.
        """
        newest = {entry.id: entry for entry in entries}
        # Of one that ended in the same batch in which it was left open, the end counts.
        newest |= {entry.id: entry for entry in entries if not _is_pending(entry)}
        try:
            await in_transaction(self._database, partial(self._write, newest, {}))
        except AlreadyExists:
            # Some are stored already.  That is rare, so nobody looks before the first try.
            await in_transaction(self._database, partial(self._write_the_rest, newest))

    async def _write_the_rest(self, entries: Mapping[bytes, AuditEntry], session: Session) -> None:
        cursor = self._entries.find(
            {"_id": {"$in": list(entries)}}, projection={"outcome": True}, session=session
        )
        stored = {found["_id"]: found["outcome"] async for found in cursor}
        await self._write(entries, stored, session)

    async def _write(
        self, entries: Mapping[bytes, AuditEntry], stored: Mapping[bytes, str], session: Session
    ) -> None:
        """Write what is not ``stored``, and the outcomes of what is stored as pending."""
        fresh = [entry for entry in entries.values() if entry.id not in stored]
        said_anew = [entry for entry in entries.values() if stored.get(entry.id) == PENDING]
        if fresh:
            documents = [self._document(entry) for entry in fresh]
            try:
                await self._entries.insert_many(documents, ordered=False, session=session)
            except BulkWriteError as error:
                if not any(each["code"] == _DUPLICATE_KEY for each in error.details["writeErrors"]):
                    raise
                raise AlreadyExists("Some of it is kept already.") from None
        if said_anew:
            changes = [
                UpdateOne({"_id": entry.id}, {"$set": _ending(entry)}) for entry in said_anew
            ]
            await self._entries.bulk_write(changes, ordered=False, session=session)
        await self._counts.add(session, _counted((*fresh, *said_anew)))

    async def commands(
        self, organization_id: UUID, machine_id: str, page: PageQuery
    ) -> tuple[list[AuditEntry], int]:
        """One page of a machine's inputs, newest first, and how many there are, to MAX_COUNTED."""
        wanted = {
            "organization_id": organization_id,
            "machine_id": machine_id,
            "outcome": {"$type": "string"},
        }
        return await self._page(wanted, page)

    async def _page(self, wanted: Document, page: PageQuery) -> tuple[list[AuditEntry], int]:
        async with self._database.operation():
            total = await self._entries.count_documents(
                wanted, limit=MAX_COUNTED, hint=_index_for(wanted)
            )
        found = [entry async for entry in self._found(wanted, skip=page.skip, limit=page.limit)]
        return found, total

    async def _found(self, wanted: Document, **part: int) -> AsyncGenerator[AuditEntry, None]:
        cursor = self._entries.find(wanted, sort=_NEWEST_FIRST, hint=_index_for(wanted), **part)
        async for found in self._database.documents(cursor):
            yield _entry(found)

    async def list(
        self, organization_id: UUID, query: AuditQuery, machine_ids: Collection[str] | None = None
    ) -> tuple[list[AuditEntry], int]:
        """One page of the entries, newest first, and how many there are, to MAX_COUNTED.

        ``machine_ids`` leaves those alone that are about one of these machines.
        """
        return await self._page(_wanted(organization_id, query, machine_ids), query)

    def exported(
        self, organization_id: UUID, query: AuditFilter, machine_ids: Collection[str] | None = None
    ) -> AsyncGenerator[AuditEntry, None]:
        """All entries that a query finds, newest first."""
        wanted = _wanted(organization_id, query, machine_ids)
        return self._found(wanted, batch_size=_EXPORT_BATCH)

    def _document(self, entry: AuditEntry) -> Document:
        document: Document = {
            "_id": entry.id,
            "organization_id": _binary(entry.organization_id),
            "created_at": entry.created_at,
            "action": entry.action,
            "token_id": entry.token_id and _binary(entry.token_id),
            "token_name": entry.token_name,
            "machine_id": entry.machine_id,
            "request_id": entry.request_id,
            "delete_at": entry.created_at + self._lifetime,
        }
        for name in ("target", "target_name", "note"):
            if (value := getattr(entry, name)) is not None:
                document[name] = value
        if entry.grant is not None:
            document["grant"] = entry.grant.model_dump()
        document.update(_ending(entry))
        if document.get("count") == 1:
            # As nearly every input counts, so that those take no room for it.
            del document["count"]
        return document


def _wanted(
    organization_id: UUID, query: AuditFilter, machine_ids: Collection[str] | None
) -> Document:
    """The MongoDB filter for a query."""
    wanted: Document = {"organization_id": organization_id}
    for name in ("machine_id", "token_id", "token_name"):
        if (value := getattr(query, name)) is not None:
            wanted[name] = value
    if machine_ids is not None:
        asked = machine_ids if query.machine_id is None else {query.machine_id} & {*machine_ids}
        wanted["machine_id"] = {"$in": [*asked]}
    if query.action is not None:
        wanted["action"] = _of_action(query.action)
    since, until = query.created_at_from, query.created_at_to
    bounds = {"$gte": since, "$lte": until}
    if bounds := {name: value for name, value in bounds.items() if value is not None}:
        wanted["created_at"] = bounds
    return wanted


def _index_for(wanted: Document) -> str:
    # Of many machines each would have to be sorted into the others.
    return "of_machine" if isinstance(wanted.get("machine_id"), str) else "newest"


def _is_pending(entry: AuditEntry) -> bool:
    return entry.input is not None and entry.input.outcome == PENDING


def _ending(entry: AuditEntry) -> Document:
    """The fields of an input that has ended."""
    ended = entry.input
    if ended is None:
        return {}
    return {
        "outcome": ended.outcome,
        "code": ended.code,
        "duration_ms": ended.duration_ms,
        "completed_at": ended.completed_at,
        "count": ended.count,
        **({} if entry.note is None else {"note": entry.note}),
    }


def _counted(entries: Sequence[AuditEntry]) -> list[EndedInput]:
    """The inputs among these entries that have ended, as they are counted."""
    return [
        EndedInput(
            organization_id=entry.organization_id,
            machine_id=entry.machine_id,
            is_completed=entry.input.outcome == COMPLETED,
            accepted_at=entry.created_at,
            count=entry.input.count,
        )
        for entry in entries
        if entry.input is not None and entry.machine_id is not None and not _is_pending(entry)
    ]


def _of_action(action: str) -> Document:
    """The filter for an action, and for every one that begins with its name and a dot."""
    # Of the characters that names have, only the dot sorts before the slash.
    return {"$gte": action, "$lt": f"{action}/"}


def _entry(document: Document) -> AuditEntry:
    fields = {"target": None, **fields_of(AuditEntry, document)}
    if "outcome" in document:
        fields["input"] = AuditedInput(**fields_of(AuditedInput, document))
    if document.get("grant") is not None:
        fields["grant"] = Grant.model_validate(document["grant"])
    return AuditEntry(id=document["_id"], **fields)
