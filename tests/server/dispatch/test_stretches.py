"""Stretches in the audit: written when they begin, and said anew."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from schemas.resources.audit import AuditQuery
from server.dispatch import stretches as module
from server.dispatch.command import Sender
from server.dispatch.stretches import Stretch, StretchRecorder
from server.errors import StoreUnavailable
from server.store.audit import AuditEntry, AuditStore
from server.store.mongodb.database import Database
from server.tasks import Tasks
from tests.clock import Clock
from tests.service import PATIENCE_SECONDS
from tests.store import ORGANIZATION

BEGAN = datetime(2026, 11, 23, 9, tzinfo=UTC)
SENDER = Sender(
    organization_id=ORGANIZATION, token_id=UUID(int=5), token_name="anna", request_id="r-1"
)


class Written(AuditStore):
    """The real store, which notes what it was given, and may be away."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.notes: list[list[str | None]] = []
        self.may_write = asyncio.Event()
        self.may_write.set()
        self.is_away = False

    async def put_stretches(self, entries: Sequence[AuditEntry]) -> None:
        self.notes.append([entry.note for entry in entries])
        await self.may_write.wait()
        if self.is_away:
            raise StoreUnavailable("it is away")
        await super().put_stretches(entries)

    async def entries(self) -> list[AuditEntry]:
        return (await self.list(ORGANIZATION, AuditQuery()))[0]


class Work:
    """What somebody does."""

    def __init__(self) -> None:
        self.times = 1

    def in_words(self) -> str:
        return f"{self.times} done"


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """What stretches tell the time by: it stands still, so that none of them is long."""
    clock = Clock()
    monkeypatch.setattr(module, "GATHER_SECONDS", 0.01)
    monkeypatch.setattr(module, "now", lambda: BEGAN + timedelta(seconds=clock.now))
    return clock


@pytest.fixture
def audit(database: Database) -> Written:
    return Written(database)


async def until(condition: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            if await condition():
                return
            await asyncio.sleep(0.01)


async def until_noted(audit: Written, *notes: str) -> None:
    """Wait until these are the notes in the database, newest first."""

    async def is_so() -> bool:
        return [entry.note for entry in await audit.entries()] == [*notes]

    await until(is_so)


def begun(recorder: StretchRecorder, work: Work) -> Stretch:
    return recorder.begin(SENDER, "desk-1", "screen.seen", work.in_words)


async def test_stretch_is_stored_when_it_begins_and_has_its_end_in_the_same_entry(
    audit: Written, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder, work = StretchRecorder(audit, Tasks()), Work()
    stretch = begun(recorder, work)
    await until_noted(audit, "1 done so far, in less than a second")
    (first,) = await audit.entries()
    assert (first.action, first.machine_id, first.target) == ("screen.seen", "desk-1", "desk-1")
    assert (first.token_name, first.token_id, first.request_id) == ("anna", UUID(int=5), "r-1")
    work.times = 2
    recorder.go_on(stretch)
    recorder.end(stretch)
    await until_noted(audit, "2 done, in less than a second")
    (last,) = await audit.entries()
    assert (last.id, last.created_at) == (first.id, first.created_at)


async def test_stretch_that_goes_on_is_said_anew_now_and_then_alone(
    audit: Written, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder, work = StretchRecorder(audit, Tasks()), Work()
    stretch = begun(recorder, work)
    await until_noted(audit, "1 done so far, in less than a second")
    for work.times in range(2, 1000):
        recorder.go_on(stretch)
    clock.now += 0.001  # So it is the newer one.
    begun(recorder, Work())
    await until_noted(audit, *["1 done so far, in less than a second"] * 2)
    assert len(audit.notes) == 2
    assert len(audit.notes[1]) == 1
    monkeypatch.setattr(module, "AGAIN_SECONDS", 0.0)
    recorder.go_on(stretch)
    so_far = (f"{times} done so far, in less than a second" for times in (1, 999))
    await until_noted(audit, *so_far)


async def test_what_ends_while_it_is_written_is_written_again(audit: Written) -> None:
    recorder, work = StretchRecorder(audit, Tasks()), Work()
    audit.may_write.clear()
    stretch = begun(recorder, work)

    async def is_under_way() -> bool:
        return len(audit.notes) == 1

    await until(is_under_way)
    recorder.end(stretch)
    audit.may_write.set()
    await until_noted(audit, "1 done, in less than a second")


async def test_nothing_is_lost_while_the_database_is_away_and_no_more_is_taken_than_there_is_room(
    audit: Written, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CAPACITY", 3)
    monkeypatch.setattr(module, "MOST_AT_ONCE", 2)
    recorder = StretchRecorder(audit, Tasks())
    audit.is_away = True
    for _ in range(2):
        begun(recorder, Work())

    async def is_under_way() -> bool:
        return bool(audit.notes)

    await until(is_under_way)
    for _ in range(3):
        recorder.check_room()
        begun(recorder, Work())
    with pytest.raises(StoreUnavailable):
        recorder.check_room()
    audit.is_away = False
    await until_noted(audit, *["1 done so far, in less than a second"] * 5)
    recorder.check_room()
    assert {len(notes) for notes in audit.notes} <= {1, 2}


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.4, "less than a second"),
        (1, "1 second"),
        (59.4, "59 seconds"),
        (60, "1 min 0 s"),
        (250, "4 min 10 s"),
        (3600, "60 min 0 s"),
    ],
)
def test_length_is_said_in_words(clock: Clock, seconds: float, words: str) -> None:
    entry = AuditEntry(b"1", ORGANIZATION, BEGAN, "screen.seen", None, None, None, None, "")
    stretch = Stretch(entry, Work().in_words, None)
    clock.now = seconds
    stretch.goes_on()
    stretch.is_over = True
    assert stretch.entry.note == f"1 done, in {words}"
