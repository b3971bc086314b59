"""Searches: by which index the needle is found."""

import pytest

from schemas.resources.trajectories import TrajectoryQuery
from server.store.mongodb.database import Database
from server.store.trajectories import matches as trajectory_matches
from server.store.trajectories.counted_list import NEWEST_FIRST
from server.store.trajectories.indexer import TrajectoryIndexer
from server.store.trajectories.listing import trajectory_filter
from server.store.trajectories.matches import TrajectoryMatches
from tests.store import ORGANIZATION
from tests.trajectories import TrajectoryLibrary, imported


async def filled(database: Database, *names: str) -> None:
    for name in names:
        await TrajectoryLibrary(database).create(ORGANIZATION, None, imported(name=name))
    await TrajectoryIndexer(database).index_all()


async def way_of(database: Database, search: str) -> tuple[str, int]:
    """How the needle is found, and how many have it."""
    query = TrajectoryQuery.model_validate({"search": search})
    async with database.snapshot() as session:
        wanted = trajectory_filter(ORGANIZATION, query)
        matches = TrajectoryMatches(database, session, wanted, search, NEWEST_FIRST)
        total = await matches.total()
    return matches._index or "at once", total


async def test_a_needle_is_looked_up_where_few_have_it(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trajectory_matches, "MAX_SORTED", 1)
    monkeypatch.setattr(trajectory_matches, "MAX_LOOKED_UP", 3)
    await filled(database, "common rare", "common", "common", "common word", "few", "few")
    assert await way_of(database, "rare") == ("at once", 1)
    # All of its pieces but one are common.
    assert await way_of(database, "common rare") == ("at once", 1)
    assert await way_of(database, "no such thing anywhere") == ("at once", 0)
    assert await way_of(database, "few") == ("suffixes_of_segment", 2)
    assert await way_of(database, "common") == ("newest", 4)
    assert await way_of(database, "ra") == ("newest", 1)


async def test_what_shares_a_piece_with_the_needle_is_not_found(database: Database) -> None:
    await filled(database, "a long enough name", "a long enough gname", "long enough")
    assert await way_of(database, "long enough name") == ("at once", 1)
    assert await way_of(database, "Long Enough") == ("at once", 3)
