from typing import Any
from uuid import UUID, uuid4

import pytest

from server.errors import NotFound
from server.store.mongodb.database import Database
from server.store.mongodb.transactions import in_transaction
from server.store.trajectories import parts as trajectory_parts
from server.store.trajectories.documents import Segment
from server.store.trajectories.parts import PartStore
from tests.store import ORGANIZATION, OTHER_ORGANIZATION, collected


async def appended(database: Database, segment: Segment, *steps: bytes) -> Segment:
    parts = PartStore(database)
    return await in_transaction(
        database, lambda session: parts.append(session, ORGANIZATION, segment, steps)
    )


async def text_of(database: Database, segment: Segment, of: UUID = ORGANIZATION) -> bytes:
    return b"".join(await collected(PartStore(database).read(of, segment)))


async def count(database: Database) -> tuple[int, int]:
    segments = await database.collection("trajectory_segments").count_documents({})
    return segments, await database.collection("trajectory_parts").count_documents({})


def new() -> Segment:
    return Segment(uuid4(), 0, 0)


async def test_segment_grows_and_what_knew_less_of_it_reads_as_before(database: Database) -> None:
    first = await appended(database, new(), b'{"a":1}', b"{}")
    second = await appended(database, first, b'{"b":2}')
    assert await text_of(database, first) == b'{"a":1},{}'
    assert await text_of(database, second) == b'{"a":1},{},{"b":2}'
    assert (second.parts, second.size) == (2, len(b'{"a":1},{},{"b":2}'))
    with pytest.raises(NotFound):
        await text_of(database, second, OTHER_ORGANIZATION)


async def test_long_text_is_cut_into_parts_anywhere(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trajectory_parts, "PART_BYTES", 3)
    segment = await appended(database, await appended(database, new(), b"{}"), b'{"long":1}')
    assert segment.parts == 1 + 4
    assert await text_of(database, segment) == b'{},{"long":1}'


async def test_parts_go_with_the_last_that_shares_them(database: Database) -> None:
    parts = PartStore(database)
    other, segment = (
        await appended(database, new(), b"{}"),
        await appended(database, new(), b"1"),
    )

    async def call(method: Any) -> None:
        await in_transaction(database, lambda session: method(session, ORGANIZATION, [segment]))

    await call(parts.share)
    await call(parts.release)
    assert await text_of(database, segment) == b"1"
    await call(parts.release)
    with pytest.raises(NotFound):
        await text_of(database, segment)
    assert await text_of(database, other) == b"{}"
    assert await count(database) == (1, 1)


async def test_append_that_is_not_committed_leaves_no_part(database: Database) -> None:
    parts = PartStore(database)

    async def fail(session: Any) -> None:
        await parts.append(session, ORGANIZATION, new(), [b"{}"])
        raise KeyError

    with pytest.raises(KeyError):
        await in_transaction(database, fail)
    assert await count(database) == (0, 0)
