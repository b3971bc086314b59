"""Steps that outgrew the documents of their trajectories: texts, cut into parts.

A text only ever grows, part by part, at the hands of one trajectory.  Others may share its first
parts; it counts the trajectories that do, and is deleted with the last of them.
"""

from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Final
from uuid import UUID

from server.errors import NotFound
from server.store.mongodb.database import Database
from server.store.mongodb.documents import Document, scoped_id
from server.store.mongodb.transactions import Session
from server.store.trajectories.documents import Segment

PART_BYTES: Final = 1024 * 1024
"""The most that one part holds: what reading, however much, needs in memory."""

_NUMBER_BYTES = 4


class PartStore:
    """Reads and writes segments; each write belongs to a transaction that writes the trajectory."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._segments = database.collection("trajectory_segments")
        self._parts = database.collection("trajectory_parts")

    async def read(self, organization_id: UUID, segment: Segment) -> AsyncIterator[bytes]:
        """The segment's text, part by part, each asked for when the one before is done with.

        There is no cursor that a slow reader could outlive.  Raises NotFound where it was deleted.
        """
        for number in range(segment.parts):
            async with self._database.operation():
                found = await self._parts.find_one(
                    {"_id": _part_id(organization_id, segment.id, number)}
                )
            if found is None:
                raise NotFound("The trajectory was deleted while it was read.")
            yield found["text"]

    async def append(
        self,
        session: Session,
        organization_id: UUID,
        segment: Segment,
        steps: Sequence[bytes | memoryview],
    ) -> Segment:
        """Let the segment grow by these texts of steps; with no parts yet, make it."""
        if not segment.parts:
            made = {"_id": scoped_id(organization_id, segment.id), "references": 1}
            await self._segments.insert_one(made, session=session)
        text = (b"," if segment.parts else b"") + b",".join(steps)
        parts = [
            {"_id": _part_id(organization_id, segment.id, segment.parts + number), "text": part}
            for number, part in enumerate(_cut(text))
        ]
        await self._parts.insert_many(parts, session=session)
        return Segment(segment.id, segment.parts + len(parts), segment.size + len(text))

    async def share(
        self, session: Session, organization_id: UUID, segments: Sequence[Segment]
    ) -> None:
        """Count one more trajectory for each of these segments."""
        await self._count(session, organization_id, segments, 1)

    async def release(
        self, session: Session, organization_id: UUID, segments: Sequence[Segment]
    ) -> None:
        """Count one trajectory less for each, and delete those that nobody has any more."""
        await self._count(session, organization_id, segments, -1)
        ids = [scoped_id(organization_id, segment.id) for segment in segments]
        unused = self._segments.find({"_id": {"$in": ids}, "references": 0}, session=session)
        for found in await unused.to_list(None):
            await self._parts.delete_many({"_id": _range_of(found["_id"])}, session=session)
            await self._segments.delete_one({"_id": found["_id"]}, session=session)

    async def _count(
        self, session: Session, organization_id: UUID, segments: Sequence[Segment], change: int
    ) -> None:
        ids = [scoped_id(organization_id, segment.id) for segment in segments]
        if ids:
            await self._segments.update_many(
                {"_id": {"$in": ids}}, {"$inc": {"references": change}}, session=session
            )


def _cut(text: bytes) -> Iterator[bytes]:
    return (text[start : start + PART_BYTES] for start in range(0, len(text), PART_BYTES))


def _part_id(organization_id: UUID, segment_id: UUID, number: int) -> bytes:
    return scoped_id(organization_id, segment_id) + number.to_bytes(_NUMBER_BYTES, "big")


def _range_of(segment: bytes) -> Document:
    """The ids of every part of a segment: its own id, and a number behind it."""
    return {
        "$gte": segment + b"\x00" * _NUMBER_BYTES,
        "$lte": segment + b"\xff" * _NUMBER_BYTES,
    }
