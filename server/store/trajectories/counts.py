"""How many trajectories there are, and where the n-th one is, without going through them.

A list is of all trajectories of an organization, or of those of one of its workflows.  Each of
these partitions is ordered by ``created_at``, then id, and cut into buckets.  A bucket's document
says how many trajectories of each state are in it.  A bucket begins at its position and ends where
the next one begins; the first begins before everything.
"""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from pymongo import ReturnDocument, UpdateOne

from server.store.mongodb.database import Database
from server.store.mongodb.documents import Document, own_id, scoped_id
from server.store.mongodb.transactions import Session
from server.store.trajectories.marks import OpenBatches, marked_new

MAX_BUCKET: Final = 8000
"""A bucket with more trajectories than this is cut in two."""

_EPOCH: Final = datetime.min.replace(tzinfo=UTC)
_MILLISECOND: Final = timedelta(milliseconds=1)
_POSITION_BYTES: Final = 24


class State(NamedTuple):
    """A trajectory's state: each state is counted by itself."""

    is_generated: bool
    is_approved: bool

    @property
    def field(self) -> str:
        """The name of its number in a bucket's document."""
        return f"{'generated' if self.is_generated else 'pending'}_" + (
            "approved" if self.is_approved else "unapproved"
        )


STATES: Final = [
    State(generated, approved) for generated in (False, True) for approved in (False, True)
]


@dataclass(frozen=True, slots=True)
class ListPartition:
    """The trajectories of an organization, or those of one of its workflows, in a list's order."""

    organization_id: UUID
    workflow_id: UUID | None = None

    @property
    def key(self) -> bytes:
        """What the ids of its buckets begin with; with a workflow it is longer."""
        return self.organization_id.bytes + (self.workflow_id.bytes if self.workflow_id else b"")

    @property
    def filter(self) -> Document:
        """The filter for the trajectories in it."""
        wanted: Document = {"organization_id": self.organization_id}
        return wanted | ({"workflow_id": self.workflow_id} if self.workflow_id else {})

    @property
    def index(self) -> str:
        """The MongoDB index that has them in its order."""
        return "newest_of_workflow" if self.workflow_id else "newest"


class Position(bytes):
    """A place in a partition, that of a trajectory or just before it; places sort as lists do."""

    __slots__ = ()

    @classmethod
    def of(cls, created_at: datetime, own: UUID) -> "Position":
        """The place of a trajectory."""
        return cls(((created_at - _EPOCH) // _MILLISECOND).to_bytes(8) + own.bytes)

    @property
    def created_at(self) -> datetime:
        """When the trajectory at this place was created."""
        return _EPOCH + int.from_bytes(self[:8]) * _MILLISECOND

    def older(self, organization_id: UUID) -> Document:
        """The filter for what stands before it."""
        return {} if self == END else self._beyond("$lt", "$lt", organization_id)

    def not_older(self, organization_id: UUID) -> Document:
        """The filter for what stands at it or behind it."""
        return {} if self == BEGINNING else self._beyond("$gt", "$gte", organization_id)

    def _beyond(self, time_is: str, id_is: str, organization_id: UUID) -> Document:
        """The filter for an earlier or later time; of those of the same time the id decides."""
        time, scoped = self.created_at, scoped_id(organization_id, UUID(bytes=self[8:]))
        return {
            "created_at": {f"{time_is}e": time},
            "$or": [{"created_at": {time_is: time}}, {"_id": {id_is: scoped}}],
        }


BEGINNING: Final = Position(bytes(_POSITION_BYTES))
END: Final = Position(b"\xff" * _POSITION_BYTES)


class Bucket(NamedTuple):
    """A part of a partition: where it begins, and how many in it have the states asked for."""

    position: Position
    size: int


class CountedTrajectory(NamedTuple):
    """What the counts need to know of a trajectory."""

    organization_id: UUID
    workflow_id: UUID
    position: Position
    state: State

    @classmethod
    def of(cls, document: Document) -> "CountedTrajectory":
        """Reads it from the trajectory's document."""
        return cls(
            document["organization_id"],
            document["workflow_id"],
            Position.of(document["created_at"], own_id(document["_id"])),
            State(document["is_generated"], document["is_approved"]),
        )

    @property
    def partitions(self) -> Sequence[ListPartition]:
        """The partitions that it is counted in."""
        return (
            ListPartition(self.organization_id),
            ListPartition(self.organization_id, self.workflow_id),
        )


class TrajectoryCounts:
    """The buckets.  Every method is a part of a transaction or of a snapshot."""

    def __init__(self, database: Database) -> None:
        self._counts = database.collection("trajectory_counts")
        self._trajectories = database.collection("trajectories")
        self._open = OpenBatches(database)

    async def size(self, session: Session | None, organization_id: UUID) -> int:
        """How many trajectories of an organization are counted."""
        buckets = await self.buckets(session, ListPartition(organization_id), STATES)
        return sum(each.size for each in buckets)

    async def buckets(
        self, session: Session | None, partition: ListPartition, states: Iterable[State]
    ) -> list[Bucket]:
        """All buckets of a partition, in its order."""
        cursor = self._counts.aggregate(
            [
                {"$match": {"_id": _between(partition, BEGINNING, END)}},
                {"$sort": {"_id": 1}},
                {"$project": {"size": {"$add": [f"${state.field}" for state in states]}}},
            ],
            session=session,
        )
        return [Bucket(_position(each), each["size"]) async for each in cursor]

    async def add(self, session: Session, trajectories: Iterable[CountedTrajectory]) -> list[bytes]:
        """Count further trajectories; the ids of the buckets that have become too large.

        However many they are, these are three round trips.
        """
        partitions = _by_partition(trajectories)
        buckets = await self._buckets_up_to(
            session,
            {key: max(each.position for each in counted) for key, counted in partitions.items()},
        )
        changes: defaultdict[bytes, Counter[State]] = defaultdict(Counter)
        for partition, counted in partitions.items():
            for each in counted:
                begins = buckets[partition]
                position = begins[bisect_right(begins, each.position) - 1]
                changes[partition.key + position][each.state] += 1
        return await self._change_many(session, changes)

    async def remove(self, session: Session, counted: CountedTrajectory) -> None:
        """Count a trajectory no more; a bucket that is empty then goes, if it is not the first."""
        for partition in counted.partitions:
            bucket = await self._bucket(session, partition, counted.position)
            left = await self._change(session, bucket, {counted.state: -1})
            if not left and not bucket.endswith(BEGINNING):
                await self._counts.delete_one({"_id": bucket}, session=session)

    async def change(
        self, session: Session, before: CountedTrajectory, after: CountedTrajectory
    ) -> None:
        """Count a trajectory in another state, or of another workflow; its place is the same."""
        if before.workflow_id != after.workflow_id:
            await self.remove(session, before)
            await self.add(session, [after])
            return
        if before.state == after.state:
            return
        for partition in before.partitions:
            bucket = await self._bucket(session, partition, before.position)
            await self._change(session, bucket, {before.state: -1, after.state: 1})

    async def split(self, session: Session, bucket: bytes) -> None:
        """Cut a bucket in two halves, if it is still there and too large."""
        found = await self._counts.find_one({"_id": bucket}, session=session)
        if found is None or _size(found) <= MAX_BUCKET:
            return
        partition = _partition(bucket)
        inside = await self._inside(session, partition, _position(found))
        middle = await self._trajectories.find_one(
            inside,
            {"created_at": True},
            sort=[("created_at", 1), ("_id", 1)],
            skip=_size(found) // 2,
            hint=partition.index,
            session=session,
        )
        if middle is None:
            return
        position = Position.of(middle["created_at"], own_id(middle["_id"]))
        upper = await self._count_states(
            session, partition, {"$and": [inside, position.not_older(partition.organization_id)]}
        )
        await self._change(session, bucket, {state: -number for state, number in upper.items()})
        await self._change(session, partition.key + position, upper)

    async def _inside(
        self, session: Session, partition: ListPartition, begin: Position
    ) -> Document:
        """The filter for the trajectories of the bucket that begins there."""
        following = await self._counts.find_one(
            {"_id": {"$gt": partition.key + begin, "$lte": partition.key + END}},
            sort=[("_id", 1)],
            session=session,
        )
        bounds = [begin.not_older(partition.organization_id)]
        if following is not None:
            bounds.append(_position(following).older(partition.organization_id))
        return {"$and": [partition.filter, *bounds]}

    async def _count_states(
        self, session: Session, partition: ListPartition, wanted: Document
    ) -> dict[State, int]:
        """How many there are in each state, without those that are not counted yet."""
        numbers = dict.fromkeys(STATES, 0)
        state = {"is_generated": "$is_generated", "is_approved": "$is_approved"}
        group: Document = {"$group": {"_id": state, "count": {"$sum": 1}}}
        new = {"$and": [wanted, marked_new(await self._open.marks(session))]}
        for matched, sign, index in ((wanted, 1, partition.index), (new, -1, "unindexed")):
            cursor = self._trajectories.aggregate(
                [{"$match": matched}, group], session=session, hint=index
            )
            async for each in cursor:
                numbers[State(**each["_id"])] += sign * each["count"]
        return numbers

    async def _bucket(
        self, session: Session, partition: ListPartition, position: Position
    ) -> bytes:
        """The id of the bucket that a position is in; the first one may not be there yet."""
        found = await self._counts.find_one(
            {"_id": _between(partition, BEGINNING, position)},
            {"_id": True},
            sort=[("_id", -1)],
            session=session,
        )
        return partition.key + BEGINNING if found is None else found["_id"]

    async def _buckets_up_to(
        self, session: Session, last: Mapping[ListPartition, Position]
    ) -> dict[ListPartition, list[Position]]:
        """Where the buckets of partitions begin, up to these positions, in their order."""
        # The first one may not be there yet.
        begins: dict[bytes, list[Position]] = {each.key: [BEGINNING] for each in last}
        ranges = [{"_id": _between(each, BEGINNING, position)} for each, position in last.items()]
        cursor = self._counts.find({"$or": ranges}, {"_id": True}, session=session)
        async for found in cursor:
            begins[found["_id"][:-_POSITION_BYTES]].append(_position(found))
        return {partition: sorted(begins[partition.key]) for partition in last}

    async def _change_many(
        self, session: Session, changes: Mapping[bytes, Mapping[State, int]]
    ) -> list[bytes]:
        """Add to the numbers of buckets; the ids of those that are too large then."""
        writes = [
            UpdateOne({"_id": bucket}, {"$inc": _numbers(by_state)}, upsert=True)
            for bucket, by_state in changes.items()
        ]
        await self._counts.bulk_write(writes, session=session)
        changed = self._counts.find({"_id": {"$in": list(changes)}}, session=session)
        return [each["_id"] async for each in changed if _size(each) > MAX_BUCKET]

    async def _change(self, session: Session, bucket: bytes, by_state: dict[State, int]) -> int:
        """Add to the numbers of a bucket; how many there are in it then."""
        return _size(
            await self._counts.find_one_and_update(
                {"_id": bucket},
                {"$inc": _numbers(by_state)},
                upsert=True,
                return_document=ReturnDocument.AFTER,
                session=session,
            )
        )


def _by_partition(
    trajectories: Iterable[CountedTrajectory],
) -> dict[ListPartition, list[CountedTrajectory]]:
    partitions: dict[ListPartition, list[CountedTrajectory]] = {}
    for each in trajectories:
        for partition in each.partitions:
            partitions.setdefault(partition, []).append(each)
    return partitions


def _numbers(by_state: Mapping[State, int]) -> Document:
    """What to add to a bucket's document: all of them, so that none is ever missing."""
    return {state.field: by_state.get(state, 0) for state in STATES}


def _between(partition: ListPartition, first: Position, last: Position) -> Document:
    return {"$gte": partition.key + first, "$lte": partition.key + last}


def _partition(bucket: bytes) -> ListPartition:
    key = bucket[:-_POSITION_BYTES]
    return ListPartition(UUID(bytes=key[:16]), UUID(bytes=key[16:]) if key[16:] else None)


def _position(document: Document) -> Position:
    return Position(document["_id"][-_POSITION_BYTES:])


def _size(document: Document) -> int:
    size: int = sum(document[state.field] for state in STATES)
    return size
