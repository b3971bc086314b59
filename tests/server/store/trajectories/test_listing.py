"""What a list is asked for becomes a filter, and what it finds is what a plain model finds."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any, get_args
from uuid import UUID, uuid4

import pytest

from schemas.resources.trajectories import (
    ChangedTrajectory,
    ImportedTrajectory,
    TrajectoryQuery,
    TrajectorySort,
)
from server.store.mongodb.database import Database
from server.store.trajectories import counted_list
from server.store.trajectories import counts as trajectory_counts
from server.store.trajectories import indexer as trajectory_indexer
from server.store.trajectories import matches as trajectory_matches
from server.store.trajectories import search as trajectory_search
from server.store.trajectories.indexer import TrajectoryIndexer
from server.store.trajectories.listing import TrajectoryListing, trajectory_filter
from server.store.trajectories.search import folded, name_order
from tests.store import ORGANIZATION
from tests.trajectories import TrajectoryLibrary, listed

DAY = datetime(2024, 1, 1, tzinfo=UTC)
IDS = [UUID(int=number << 64) for number in range(3)]
FRAGMENTS = ["abc", "bca", "ABCA", "Straße", "ﬁ", " ", ".*", "$("]
FRAGMENTS += ["[{\\", "e\u0301té", "日本", "İ🙂\0", "Z"]
ODD_NEEDLES = ["", "0000", "-4000-", '{"$gt": ""}', ".*", "(a+)+$", "\0", "Z", "a" * 13]
BODY = {"dimensions": {"width": 1, "height": 1}, "trajectory_data": [{}]}


class Draws:
    """Random trajectories, and queries that find some of them."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)

    def text(self) -> str | None:
        fragments = self.random.choices(FRAGMENTS, k=self.random.choice((0, 1, 2, 3, 4)))
        return "".join(fragments) or None

    def time(self) -> datetime:
        return DAY + timedelta(milliseconds=self.random.randrange(8))

    def flag(self) -> bool:
        return self.random.random() < 0.7

    def fields(self) -> dict[str, Any]:
        return {
            "name": self.text(),
            "description": self.text(),
            "workflow_id": self.random.choice(IDS),
            "run_id": self.random.choice((None, *IDS)),
            "created_at": self.time(),
            "is_generated": self.flag(),
            "is_approved": self.flag(),
        }

    def needle(self, among: Sequence["Kept"]) -> str:
        if self.random.random() < 0.2 or not among:
            return self.random.choice(ODD_NEEDLES)
        kept = self.random.choice(among)
        text = self.random.choice(kept.texts)
        start = self.random.randrange(len(text) + 1)
        found = text[start : start + self.random.choice((1, 2, 3, 4, 5, 9, 20))]
        return found.upper() if self.flag() else found

    def query(self, among: Sequence["Kept"]) -> TrajectoryQuery:
        found: dict[str, Any] = {
            "skip": str(self.random.choice((0, 0, 1, 3, 6, 12, 20))),
            "limit": str(self.random.choice((1, 4, 50))),
            "is_generated": self.random.choice(("true", "null", "null")),
            "sort": self.random.choice(get_args(TrajectorySort)),
            "steps": self.random.choice(("true", "false")),
        }
        filters: dict[str, Callable[[], str | None]] = {
            "search": lambda: self.needle(among),
            "workflow_id": lambda: str(self.random.choice(IDS)),
            "run_id": lambda: str(self.random.choice(IDS)),
            "is_approved": lambda: self.random.choice(("true", "false")),
            "created_at": lambda: None,
            "updated_at": lambda: None,
        }
        for name in self.random.sample(sorted(filters), self.random.choice((0, 1, 1, 2, 3))):
            found[name] = filters[name]()
        for name, times in (
            ("created_at", [self.time(), self.time()]),
            ("updated_at", [self.time(), datetime.now(UTC)]),
        ):
            if name in found:
                del found[name]
                start, end = sorted(times)
                found[f"{name}_from"] = self.random.choice(("null", start.isoformat()))
                found[f"{name}_to"] = self.random.choice(("null", end.isoformat()))
        return TrajectoryQuery.model_validate(found)


@dataclass
class Kept:
    """A trajectory as the model remembers it."""

    id: UUID
    fields: dict[str, Any]

    @property
    def texts(self) -> list[str]:
        texts = (str(self.id), self.fields["name"], self.fields["description"])
        return [text for text in texts if text is not None]

    def place(self, sort: str) -> tuple[Any, ...]:
        first = {"name": name_order(self.fields["name"])}.get(sort, self.fields.get(sort))
        return first, self.fields["created_at"], self.id.bytes

    def is_found_by(self, query: TrajectoryQuery) -> bool:
        fields = self.fields
        return (
            all(
                getattr(query, name) in (None, fields[name])
                for name in ("workflow_id", "run_id", "is_generated", "is_approved")
            )
            and all(
                (getattr(query, f"{name}_from") or fields[name]) <= fields[name]
                and fields[name] <= (getattr(query, f"{name}_to") or fields[name])
                for name in ("created_at", "updated_at")
            )
            and (
                query.search is None
                or any(folded(query.search) in folded(text) for text in self.texts)
            )
        )


class Model:
    """An organization of its own in the database, and beside it what should be in it."""

    def __init__(self, database: Database) -> None:
        self.organization_id = uuid4()
        self.kept: list[Kept] = []
        self._database = database
        self._library = TrajectoryLibrary(database)
        self._indexer = TrajectoryIndexer(database)

    async def live(self, draws: Draws) -> None:
        """Forty things happen, most of them creations."""
        for _ in range(40):
            do = draws.random.choice(
                (self._create,) * 5 + (self._change, self._delete, self._index, self._index)
            )
            await do(draws)

    async def _create(self, draws: Draws) -> None:
        fields = draws.fields()
        given = ImportedTrajectory.model_validate({**BODY, **fields})
        made = await self._library.create(self.organization_id, None, given)
        self.kept.append(Kept(made.id, {**fields, "updated_at": made.updated_at}))

    async def _change(self, draws: Draws) -> None:
        if not self.kept:
            return
        kept = draws.random.choice(self.kept)
        fields: dict[str, Any] = {"name": draws.text(), "run_id": draws.random.choice((None, *IDS))}
        if kept.fields["is_generated"]:
            fields["is_approved"] = draws.flag()
        change = ChangedTrajectory.model_validate(fields)
        after = await self._library.change(self.organization_id, kept.id, change)
        kept.fields |= {**fields, "updated_at": after.updated_at}

    async def _delete(self, draws: Draws) -> None:
        if self.kept:
            kept = self.kept.pop(draws.random.randrange(len(self.kept)))
            await self._library.delete(self.organization_id, kept.id)

    async def _index(self, _: Draws) -> None:
        await self._indexer.index_some()

    async def check(self, query: TrajectoryQuery) -> None:
        expected = [kept for kept in self.kept if kept.is_found_by(query)]
        expected.sort(
            key=lambda kept: kept.place(query.sort.removeprefix("-")),
            reverse=query.sort.startswith("-"),
        )
        listing = await TrajectoryListing.open(self._database, self.organization_id, query)
        page = [UUID(one.fields["id"]) for one in await listed(listing)]
        assert listing.total == len(expected)
        assert page == [kept.id for kept in expected[query.skip :][: query.limit]]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bounds so low that few trajectories reach all of them."""
    for module, name, value in (
        (trajectory_counts, "MAX_BUCKET", 3),
        (counted_list, "MAX_BUCKET", 1),
        (trajectory_indexer, "BATCH", 5),
        (trajectory_matches, "MAX_SORTED", 1),
        (trajectory_matches, "MAX_LOOKED_UP", 12),
        (trajectory_matches, "_IDS_AT_ONCE", 2),
        (trajectory_search, "KEY_CHARACTERS", 4),
        (trajectory_search, "MAX_INDEXED_CHARACTERS", 56),
    ):
        monkeypatch.setattr(module, name, value)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("seed", range(12))
async def test_lists_and_searches_find_what_a_plain_model_finds(
    database: Database, seed: int
) -> None:
    model, draws = Model(database), Draws(seed)
    await Model(database).live(draws)
    for _ in range(3):
        await model.live(draws)
        for _ in range(40):
            await model.check(draws.query(model.kept))
    await TrajectoryIndexer(database).index_all()
    for _ in range(40):
        await model.check(draws.query(model.kept))


def test_nothing_is_filtered_that_was_not_asked_for() -> None:
    wanted = trajectory_filter(ORGANIZATION, TrajectoryQuery(is_generated=None))
    assert wanted == {"organization_id": ORGANIZATION}
