"""What is kept of what was done, and counted for machines."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from schemas.http.queries import PageQuery
from schemas.resources.audit import AuditFilter, AuditQuery, Grant
from server.store.audit import AuditedInput, AuditEntry, AuditStore
from server.store.machines.input_counts import InputCountStore
from server.store.mongodb.database import Database
from server.store.mongodb.documents import CODEC_OPTIONS, Document
from tests.store import ORGANIZATION, OTHER_ORGANIZATION, there

NOW = datetime(2124, 5, 6, 7, 8, 9, 123000, tzinfo=UTC)
"""So late that MongoDB deletes nothing whose lifetime began then."""
TOKEN = UUID(int=5)
EVERYTHING = AuditQuery()


def change(minutes: int = 0, action: str = "machine.paused", **fields: Any) -> AuditEntry:
    """A change, so many minutes after the first."""
    given: dict[str, Any] = {
        "id": uuid4().bytes,
        "organization_id": ORGANIZATION,
        "created_at": NOW + timedelta(minutes=minutes),
        "action": action,
        "token_id": TOKEN,
        "token_name": "of a person",
        "target": "desk-1",
        "machine_id": "desk-1",
        "request_id": "r-1",
        **fields,
    }
    return AuditEntry(**given)


def sent(minutes: int = 0, outcome: str = "completed", **fields: Any) -> AuditEntry:
    """An input that ended so."""
    ended = AuditedInput(
        outcome=outcome,
        code="no_desktop" if outcome == "failed" else None,
        duration_ms=1.5 if outcome == "completed" else None,
        completed_at=None if outcome == "pending" else NOW,
    )
    about = {"action": "input.mouse.click", "input": ended, "target": None}
    return change(minutes, **{**about, **fields})


def finished(entry: AuditEntry, outcome: str = "completed") -> AuditEntry:
    """The same input once its outcome is known."""
    assert entry.input is not None
    return replace(entry, input=replace(entry.input, outcome=outcome, completed_at=NOW))


async def counted(database: Database) -> tuple[int, int, datetime | None]:
    """How many inputs of ``desk-1`` ended how, and when the last was accepted."""
    count = (await InputCountStore(database).of(ORGANIZATION, ["desk-1"]))["desk-1"]
    return count.completed, count.failed, count.last_at


@pytest.fixture
def audit(database: Database) -> AuditStore:
    return AuditStore(database)


async def test_entries_come_back_as_they_were_newest_first(audit: AuditStore) -> None:
    nobodys = change(2, token_id=None, token_name=None, machine_id=None)
    grant = Grant(role="viewer", scopes=["machines:read", "screen:read"])
    entries = [change(0, target_name="Anna", grant=grant), nobodys, sent(1)]
    for entry in entries[:2]:
        await audit.add(entry)
    await audit.add_inputs(entries[2:])
    found, total = await audit.list(ORGANIZATION, EVERYTHING)
    assert found == [entries[1], entries[2], entries[0]]
    assert total == 3
    assert await audit.list(OTHER_ORGANIZATION, EVERYTHING) == ([], 0)
    page = AuditQuery(skip=1, limit=1)
    assert await audit.list(ORGANIZATION, page) == ([entries[2]], 3)


async def test_entry_that_is_added_again_is_kept_once(database: Database) -> None:
    audit, entry = AuditStore(database), change()
    await audit.add(entry)
    await audit.add(replace(entry, action="machine.removed"))
    assert await audit.list(ORGANIZATION, EVERYTHING) == ([entry], 1)


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ({"machine_id": "desk-2"}, ["renamed"]),
        ({"token_id": str(TOKEN)}, ["paused", "renamed", "click", "move"]),
        ({"token_name": "robot"}, ["token"]),
        ({"token_name": "rob"}, []),
        ({"action": "machine.paused"}, ["paused"]),
        ({"action": "machine"}, ["paused", "renamed"]),
        ({"action": "input.mouse"}, ["click", "move"]),
        ({"action": "input"}, ["click", "move"]),
        ({"action": "mach"}, []),
        ({"created_at_from": "2124-05-06T07:10:09.123Z"}, ["click", "move", "token"]),
        ({"created_at_to": "2124-05-06T07:09:09.123Z"}, ["paused", "renamed"]),
        ({"action": "input", "created_at_to": "2124-05-06T07:10:10Z"}, ["click"]),
    ],
)
async def test_entries_are_found_by_what_is_asked(
    audit: AuditStore, query: dict[str, str], wanted: list[str]
) -> None:
    entries = {
        "paused": change(0),
        "renamed": change(1, action="machine.renamed", machine_id="desk-2"),
        "click": sent(2),
        "move": sent(3, action="input.mouse.move"),
        "token": change(
            4, "token.created", token_id=UUID(int=6), token_name="robot", machine_id=None
        ),
    }
    for entry in entries.values():
        await audit.add(entry)
    asked = AuditQuery.model_validate(query)
    found, total = await audit.list(ORGANIZATION, asked)
    assert found == [entries[name] for name in reversed(wanted)]
    assert total == len(wanted)
    assert [entry async for entry in audit.exported(ORGANIZATION, asked)] == found


async def test_export_has_more_than_a_batch_and_a_page(audit: AuditStore) -> None:
    await audit.add_changes([change(minutes) for minutes in range(2001)])
    exported = [entry async for entry in audit.exported(ORGANIZATION, AuditFilter())]
    assert [each.created_at for each in exported] == [
        NOW + timedelta(minutes=minutes) for minutes in reversed(range(2001))
    ]
    assert [entry async for entry in audit.exported(OTHER_ORGANIZATION, AuditFilter())] == []


async def test_stretch_is_one_entry_whose_note_is_said_anew(audit: AuditStore) -> None:
    first, other = change(note="1 picture so far"), change(1, note="1 reading so far")
    await audit.put_stretches([first])
    later = replace(first, note="2 pictures", action="machine.removed", token_name="another")
    for _ in range(2):
        await audit.put_stretches([later, other])
    found, total = await audit.list(ORGANIZATION, EVERYTHING)
    assert (found, total) == ([other, replace(first, note="2 pictures")], 2)


async def test_entry_is_told_once_it_is_stored_and_no_input(database: Database) -> None:
    told: list[AuditEntry] = []
    audit = AuditStore(database, stored=told.append)
    one, two, stretch = change(0), change(1), change(2, note="1 picture so far")
    await audit.add(one)
    await audit.add_changes([change(), two])
    await audit.put_stretches([stretch])
    await audit.add_inputs([sent(3)])
    assert told == [one, two, stretch]


async def test_commands_of_a_machine_are_its_inputs_alone(audit: AuditStore) -> None:
    inputs = [sent(0), sent(1, "failed"), sent(2, machine_id="desk-2")]
    await audit.add(change(3))
    await audit.add_inputs(inputs)
    found, total = await audit.commands(ORGANIZATION, "desk-1", PageQuery())
    assert (found, total) == ([inputs[1], inputs[0]], 2)


async def test_final_inputs_are_counted_with_their_entries(
    database: Database, audit: AuditStore
) -> None:
    assert await counted(database) == (0, 0, None)
    batch = [sent(0), sent(3), sent(2, "failed"), sent(1, "unknown"), sent(9, "pending")]
    await audit.add_inputs(batch)
    expected = (2, 2, NOW + timedelta(minutes=3))
    assert await counted(database) == expected
    # As after a try of which no answer came.
    await audit.add_inputs(batch)
    assert await counted(database) == expected
    await audit.add_inputs([sent(1)])
    assert await counted(database) == (3, 2, NOW + timedelta(minutes=3))


async def test_pending_input_gets_its_final_outcome_once(
    database: Database, audit: AuditStore
) -> None:
    entry = sent(0, "pending")
    await audit.add_inputs([entry])
    await audit.add_inputs([finished(entry)])
    await audit.add_inputs([finished(entry, "failed")])
    await audit.add_inputs([entry])
    found, total = await audit.list(ORGANIZATION, EVERYTHING)
    assert (found, total) == ([finished(entry)], 1)
    assert await counted(database) == (1, 0, NOW)


async def test_stretch_that_begins_with_nothing_and_ends_with_one_input_counts_one(
    database: Database, audit: AuditStore
) -> None:
    entry = sent(0, "pending")
    assert entry.input is not None
    await audit.add_inputs([replace(entry, input=replace(entry.input, count=0))])
    ended = finished(entry)
    await audit.add_inputs([ended])
    found, _ = await audit.list(ORGANIZATION, EVERYTHING)
    assert found == [ended]
    assert await counted(database) == (1, 0, NOW)


async def test_input_that_was_left_open_and_ended_at_once_has_ended(
    database: Database, audit: AuditStore
) -> None:
    first, second = sent(0, "pending"), sent(1, "pending")
    await audit.add_inputs([first, finished(first), finished(second), second])
    found, _ = await audit.list(ORGANIZATION, EVERYTHING)
    assert found == [finished(second), finished(first)]
    assert await counted(database) == (2, 0, NOW + timedelta(minutes=1))


async def test_many_writers_lose_no_count(database: Database, audit: AuditStore) -> None:
    await asyncio.gather(*(audit.add_inputs([sent(number)]) for number in range(10)))
    assert (await counted(database))[0] == 10


async def test_entries_are_deleted_when_their_time_is_over(database: Database) -> None:
    audit = AuditStore(database, lifetime=timedelta(days=2))
    await audit.add(change())
    found = there(await database.collection("audit").find_one({}))
    assert found["delete_at"] == NOW + timedelta(days=2)
    indexes = await database.collection("audit").index_information()
    assert indexes["lifetime"]["expireAfterSeconds"] == 0


@pytest.mark.parametrize(
    ("query", "index"),
    [({}, "newest"), ({"action": "machine"}, "newest"), ({"machine_id": "desk-1"}, "of_machine")],
)
async def test_lists_read_no_more_than_their_page(
    database: Database, audit: AuditStore, query: dict[str, str], index: str
) -> None:
    for number in range(20):
        await audit.add(change(number, action="machine.paused" if number % 2 else "a.b"))
    collection = database.collection("audit")
    command: Document = {
        "find": "audit",
        "filter": {"organization_id": ORGANIZATION, **query},
        "sort": {"created_at": -1, "_id": -1},
        "limit": 3,
        "hint": index,
    }
    if "action" in query:
        command["filter"] = {
            "organization_id": ORGANIZATION,
            "action": {"$gte": "machine", "$lt": "machine/"},
        }
    explained = await collection.database.command("explain", command, codec_options=CODEC_OPTIONS)
    assert explained["executionStats"]["totalDocsExamined"] == 3


async def test_several_changes_are_stored_at_once(audit: AuditStore) -> None:
    await audit.add_changes([])
    assert (await audit.list(ORGANIZATION, EVERYTHING))[1] == 0
    many = [change(minutes) for minutes in range(3)]
    await audit.add_changes(many)
    assert await audit.list(ORGANIZATION, EVERYTHING) == (many[::-1], 3)
