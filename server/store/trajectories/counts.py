"""How many trajectories there are, and where the n-th one is, without going through them.

All trajectories of an organization, and again those of each of its workflows, stand in a row by
``created_at``, then id.  Each row is cut into buckets, whose documents know how many of each kind
they hold.  A bucket begins at its position and ends where the next one begins; the first begins
before everything.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from pymongo import ReturnDocument

from server.store.mongodb.database import Database
from server.store.mongodb.documents import Document, own_id, scoped_id
from server.store.mongodb.transactions import Session

MAX_BUCKET: Final = 8000
"""A bucket with more trajectories than this is cut in two."""

_EPOCH: Final = datetime.min.replace(tzinfo=UTC)
_MILLISECOND: Final = timedelta(milliseconds=1)
_POSITION_BYTES: Final = 24


class Kind(NamedTuple):
    """What the counts tell apart."""

    is_generated: bool
    is_approved: bool

    @property
    def field(self) -> str:
        """The name of its number in a bucket's document."""
        return f"{'generated' if self.is_generated else 'pending'}_" + (
            "approved" if self.is_approved else "unapproved"
        )


KINDS: Final = [
    Kind(generated, approved) for generated in (False, True) for approved in (False, True)
]


@dataclass(frozen=True, slots=True)
class Row:
    """A row of trajectories: an organization's, or those of one of its workflows."""

    organization_id: UUID
    workflow_id: UUID | None = None

    @property
    def key(self) -> bytes:
        """What the ids of its buckets begin with; the two kinds of rows differ in length."""
        return self.organization_id.bytes + (self.workflow_id.bytes if self.workflow_id else b"")

    @property
    def filter(self) -> Document:
        """The trajectories in it."""
        wanted: Document = {"organization_id": self.organization_id}
        return wanted | ({"workflow_id": self.workflow_id} if self.workflow_id else {})

    @property
    def index(self) -> str:
        """The index that has them in its order."""
        return "newest_of_workflow" if self.workflow_id else "newest"


class Position(bytes):
    """A place in a row, that of a trajectory or just before it; they sort as the row does."""

    __slots__ = ()

    @classmethod
    def of(cls, created_at: datetime, own: UUID) -> "Position":
        """The place of a trajectory."""
        return cls(((created_at - _EPOCH) // _MILLISECOND).to_bytes(8) + own.bytes)

    @property
    def created_at(self) -> datetime:
        """The time in it."""
        return _EPOCH + int.from_bytes(self[:8]) * _MILLISECOND

    def _scoped(self, organization_id: UUID) -> bytes:
        return scoped_id(organization_id, UUID(bytes=self[8:]))

    def older(self, organization_id: UUID) -> Document:
        """The filter for what stands before it."""
        if self == END:
            return {}
        time = self.created_at
        return {
            "created_at": {"$lte": time},
            "$or": [{"created_at": {"$lt": time}}, {"_id": {"$lt": self._scoped(organization_id)}}],
        }

    def not_older(self, organization_id: UUID) -> Document:
        """The filter for what stands at it or behind it."""
        if self == BEGINNING:
            return {}
        time = self.created_at
        return {
            "created_at": {"$gte": time},
            "$or": [
                {"created_at": {"$gt": time}},
                {"_id": {"$gte": self._scoped(organization_id)}},
            ],
        }


BEGINNING: Final = Position(bytes(_POSITION_BYTES))
END: Final = Position(b"\xff" * _POSITION_BYTES)


class Bucket(NamedTuple):
    """A part of a row: where it begins, and how many of the kinds asked for are in it."""

    position: Position
    size: int


class Counted(NamedTuple):
    """What counts of a trajectory."""

    organization_id: UUID
    workflow_id: UUID
    position: Position
    kind: Kind

    @classmethod
    def of(cls, document: Document) -> "Counted":
        """That of its document."""
        return cls(
            document["organization_id"],
            document["workflow_id"],
            Position.of(document["created_at"], own_id(document["_id"])),
            Kind(document["is_generated"], document["is_approved"]),
        )

    @property
    def rows(self) -> Sequence[Row]:
        """The rows that it stands in."""
        return (Row(self.organization_id), Row(self.organization_id, self.workflow_id))


class TrajectoryCounts:
    """The buckets.  Every method is a part of a transaction or of a snapshot."""

    def __init__(self, database: Database) -> None:
        self._counts = database.collection("trajectory_counts")
        self._trajectories = database.collection("trajectories")

    async def buckets(self, session: Session, row: Row, kinds: Iterable[Kind]) -> list[Bucket]:
        """All buckets of a row, in its order."""
        cursor = self._counts.aggregate(
            [
                {"$match": {"_id": _between(row, BEGINNING, END)}},
                {"$sort": {"_id": 1}},
                {"$project": {"size": {"$add": [f"${kind.field}" for kind in kinds]}}},
            ],
            session=session,
        )
        return [Bucket(_position(each), each["size"]) async for each in cursor]

    async def add(self, session: Session, trajectories: Iterable[Counted]) -> list[bytes]:
        """Count further trajectories; the ids of the buckets that have become too large."""
        changes: Counter[tuple[bytes, Kind]] = Counter()
        for row, counted in _by_row(trajectories):
            bucket: bytes | None = None
            # From the last one backwards: a bucket reaches from its beginning to the last seen.
            for each in sorted(counted, key=lambda one: one.position, reverse=True):
                if bucket is None or each.position < bucket[-_POSITION_BYTES:]:
                    bucket = await self._bucket(session, row, each.position)
                changes[bucket, each.kind] += 1
        large = []
        for bucket in {bucket for bucket, _ in changes}:
            by_kind = {kind: changes[bucket, kind] for kind in KINDS}
            if await self._change(session, bucket, by_kind) > MAX_BUCKET:
                large.append(bucket)
        return large

    async def remove(self, session: Session, counted: Counted) -> None:
        """Count a trajectory no more; a bucket that is empty then goes, if it is not the first."""
        for row in counted.rows:
            bucket = await self._bucket(session, row, counted.position)
            left = await self._change(session, bucket, {counted.kind: -1})
            if not left and not bucket.endswith(BEGINNING):
                await self._counts.delete_one({"_id": bucket}, session=session)

    async def split(self, session: Session, bucket: bytes) -> None:
        """Cut a bucket in two halves, if it is still there and too large."""
        found = await self._counts.find_one({"_id": bucket}, session=session)
        if found is None or _size(found) <= MAX_BUCKET:
            return
        row = _row(bucket)
        inside = await self._inside(session, row, _position(found))
        middle = await self._trajectories.find_one(
            inside,
            {"created_at": True},
            sort=[("created_at", 1), ("_id", 1)],
            skip=_size(found) // 2,
            hint=row.index,
            session=session,
        )
        if middle is None:
            return
        position = Position.of(middle["created_at"], own_id(middle["_id"]))
        upper = await self._count_kinds(
            session, row, {"$and": [inside, position.not_older(row.organization_id)]}
        )
        await self._change(session, bucket, {kind: -number for kind, number in upper.items()})
        await self._change(session, row.key + position, upper)

    async def _inside(self, session: Session, row: Row, begin: Position) -> Document:
        """The filter for the trajectories of the bucket that begins there."""
        following = await self._counts.find_one(
            {"_id": {"$gt": row.key + begin, "$lte": row.key + END}},
            sort=[("_id", 1)],
            session=session,
        )
        bounds = [begin.not_older(row.organization_id)]
        if following is not None:
            bounds.append(_position(following).older(row.organization_id))
        return {"$and": [row.filter, *bounds]}

    async def _count_kinds(self, session: Session, row: Row, wanted: Document) -> dict[Kind, int]:
        """How many there are of each kind, without those that are not counted yet."""
        numbers = dict.fromkeys(KINDS, 0)
        kind = {"is_generated": "$is_generated", "is_approved": "$is_approved"}
        group: Document = {"$group": {"_id": kind, "count": {"$sum": 1}}}
        new = {"$and": [wanted, {"uncatalogued": "new"}]}
        for matched, sign, index in ((wanted, 1, row.index), (new, -1, "uncatalogued")):
            cursor = self._trajectories.aggregate(
                [{"$match": matched}, group], session=session, hint=index
            )
            async for each in cursor:
                numbers[Kind(**each["_id"])] += sign * each["count"]
        return numbers

    async def _bucket(self, session: Session, row: Row, position: Position) -> bytes:
        """The id of the bucket that a position is in; the first one may not be there yet."""
        found = await self._counts.find_one(
            {"_id": _between(row, BEGINNING, position)},
            {"_id": True},
            sort=[("_id", -1)],
            session=session,
        )
        return row.key + BEGINNING if found is None else found["_id"]

    async def _change(self, session: Session, bucket: bytes, by_kind: dict[Kind, int]) -> int:
        """Add to the numbers of a bucket; how many there are in it then."""
        # All of them, so that none is ever missing.
        numbers = {kind.field: by_kind.get(kind, 0) for kind in KINDS}
        return _size(
            await self._counts.find_one_and_update(
                {"_id": bucket},
                {"$inc": numbers},
                upsert=True,
                return_document=ReturnDocument.AFTER,
                session=session,
            )
        )


def _by_row(trajectories: Iterable[Counted]) -> Iterator[tuple[Row, list[Counted]]]:
    rows: dict[Row, list[Counted]] = {}
    for each in trajectories:
        for row in each.rows:
            rows.setdefault(row, []).append(each)
    return iter(rows.items())


def _between(row: Row, first: Position, last: Position) -> Document:
    return {"$gte": row.key + first, "$lte": row.key + last}


def _row(bucket: bytes) -> Row:
    key = bucket[:-_POSITION_BYTES]
    return Row(UUID(bytes=key[:16]), UUID(bytes=key[16:]) if key[16:] else None)


def _position(document: Document) -> Position:
    return Position(document["_id"][-_POSITION_BYTES:])


def _size(document: Document) -> int:
    size: int = sum(document[kind.field] for kind in KINDS)
    return size
