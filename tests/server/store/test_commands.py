"""One contract for two ledgers: the real one, and the simulation's, which must not be kinder."""

import asyncio
import inspect
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from tornado.ioloop import IOLoop

from schemas.inputs.outcomes import Expired, Outcome, Refused, Unknown
from server.store.commands import CommandRecord, CommandState, CommandStore
from server.store.mongodb.database import Database
from tests.simulation.stores import SimulatedCommandStore, StoredCommands, at_once
from tests.store import ORGANIZATION, OTHER_ORGANIZATION, entered, opened, there

NOW = datetime(2124, 5, 6, 7, 8, 9, 123000, tzinfo=UTC)
"""So late that MongoDB deletes nothing whose lifetime began then."""
OUTCOME = Refused(
    code="outside_displays", message="é\0", ctx={"$set": {"a.b": [None, 2**80, "\0"]}}
)
"""Whatever a machine says of an outcome is stored."""


OpenStore = Callable[[], AbstractAsyncContextManager[CommandStore]]


@pytest.fixture(params=["mongodb", "simulated"])
def open_store(request: pytest.FixtureRequest) -> OpenStore:
    """Opens an empty ledger, of each kind."""
    if request.param == "simulated":
        return simulated_store
    uri, name = (request.getfixturevalue(each) for each in ("mongodb", "database_name"))
    return lambda: real_store(uri, name)


@asynccontextmanager
async def simulated_store() -> AsyncIterator[CommandStore]:
    yield SimulatedCommandStore(StoredCommands(), at_once)


@asynccontextmanager
async def real_store(uri: str, name: str) -> AsyncIterator[CommandStore]:
    async with opened(uri, name) as database:
        yield CommandStore(database)


@pytest.fixture
def commands(io_loop: IOLoop, open_store: OpenStore) -> Iterator[CommandStore]:
    with entered(io_loop, open_store()) as commands:
        yield commands


def test_simulated_ledger_has_every_operation_of_the_real_one() -> None:
    for name, method in inspect.getmembers(CommandStore, inspect.isfunction):
        if not name.startswith("_"):
            own = vars(SimulatedCommandStore).get(name)
            assert own is not None
            assert inspect.signature(own) == inspect.signature(method)


def sent(**changes: Any) -> CommandRecord:
    record = CommandRecord(
        command_id=uuid4(),
        organization_id=ORGANIZATION,
        machine_id="desk-1",
        operation="mouse.click",
        fingerprint="f" * 64,
        state=CommandState.SENT,
        attempt=uuid4(),
        claimed_until=NOW + timedelta(seconds=5),
        epoch=3,
        boot_id="boot-1",
        journal_id=uuid4(),
        journal_sequence=2**63 - 1,
        request_id="r-1",
        minimal=False,
        accepted_at=NOW,
        expires_at=NOW + timedelta(seconds=30),
    )
    return replace(record, **changes)


async def test_record_comes_back_as_it_was_claimed(commands: CommandStore) -> None:
    record = sent()
    assert await commands.claim(record) is record
    assert await commands.find(record.command_id) == record
    assert await commands.find(uuid4()) is None


async def test_record_of_a_later_node_is_understood(database: Database) -> None:
    commands, record = CommandStore(database), sent(journal_mark=uuid4())
    await commands.claim(record)
    await database.collection("commands").update_one(
        {"_id": record.command_id},
        {"$set": {"what_only_a_later_node_knows": 1}},
    )
    assert await commands.find(record.command_id) == record


async def test_only_one_attempt_claims_a_command(commands: CommandStore) -> None:
    first = sent()
    second = replace(first, attempt=uuid4(), fingerprint="other")
    assert await commands.claim(first) is first
    assert await commands.claim(second) == first
    assert await commands.find(first.command_id) == first


async def test_own_claim_is_recognised_until_it_is_resolved(commands: CommandStore) -> None:
    record = sent()
    await commands.claim(record)
    assert (await commands.claim(record)).is_of(record)
    await commands.finish(record, CommandState.UNKNOWN, OUTCOME, NOW)
    assert not (await commands.claim(record)).is_of(record)


async def test_first_final_state_stands(commands: CommandStore) -> None:
    record = sent()
    await commands.claim(record)
    assert await commands.finish(record, CommandState.DONE, OUTCOME, NOW)
    other = Expired()
    assert not await commands.finish(record, CommandState.UNKNOWN, other, NOW)
    found = await commands.find(record.command_id)
    assert found == replace(record, state=CommandState.DONE, outcome=OUTCOME, final_at=NOW)


async def test_finish_of_another_attempt_changes_nothing(commands: CommandStore) -> None:
    record = sent()
    await commands.claim(record)
    other = replace(record, attempt=uuid4())
    assert not await commands.finish(other, CommandState.DONE, OUTCOME, NOW)
    assert await commands.find(record.command_id) == record
    assert await commands.finish(record, CommandState.DONE, OUTCOME, NOW)
    assert not await commands.finish(sent(), CommandState.DONE, OUTCOME, NOW)


async def test_of_many_at_once_each_is_told_its_own(commands: CommandStore) -> None:
    records = [sent() for _ in range(12)]
    others = replace(records[4], attempt=uuid4())
    claims = await asyncio.gather(*map(commands.claim, [*records, others]))
    assert claims == [*records, records[4]]
    outcomes = [Unknown(injected_at_least=number) for number in range(12)]
    ends: list[tuple[CommandRecord, CommandState, Outcome]] = [
        (record, CommandState.DONE, outcome)
        for record, outcome in zip(records, outcomes, strict=True)
    ]
    ends.insert(7, (others, CommandState.UNKNOWN, OUTCOME))
    told = await asyncio.gather(*(commands.finish(*end, NOW) for end in ends))
    assert told == [True] * 7 + [False] + [True] * 5
    found = [there(await commands.find(record.command_id)) for record in records]
    assert [record.outcome for record in found] == outcomes


async def test_finish_is_from_an_open_state_to_a_final_one(commands: CommandStore) -> None:
    record = sent()
    await commands.claim(record)
    with pytest.raises(ValueError, match="SENT"):
        await commands.finish(record, CommandState.SENT, OUTCOME, NOW)
    await commands.finish(record, CommandState.DONE, OUTCOME, NOW)
    final = there(await commands.find(record.command_id))
    with pytest.raises(ValueError, match="UNKNOWN"):
        await commands.finish(final, CommandState.UNKNOWN, OUTCOME, NOW)
    assert await commands.find(record.command_id) == final


async def test_finish_of_a_claim_that_was_sent_since_changes_nothing(open_store: OpenStore) -> None:
    async with open_store() as commands:
        claim = claimed()
        await commands.claim(claim)
        marked = replace(claim, state=CommandState.SENT)
        assert await commands.mark_sent(marked)
        assert not await commands.finish(claim, CommandState.DONE, OUTCOME, NOW)
        assert await commands.find(claim.command_id) == marked


async def test_forget_deletes_the_own_open_record_only(commands: CommandStore) -> None:
    record, final = sent(), sent()
    await commands.claim(record)
    await commands.claim(final)
    await commands.finish(final, CommandState.DONE, OUTCOME, NOW)
    assert not await commands.forget(record.command_id, uuid4())
    assert not await commands.forget(final.command_id, final.attempt)
    assert await commands.forget(record.command_id, record.attempt)
    assert await commands.find(record.command_id) is None
    assert await commands.find(final.command_id) is not None


async def test_unresolved_are_the_sent_records_of_one_machine_oldest_first(
    commands: CommandStore,
) -> None:
    late, early = sent(accepted_at=NOW + timedelta(seconds=1)), sent()
    done = sent()
    others = [sent(machine_id="desk-2"), sent(organization_id=OTHER_ORGANIZATION)]
    for record in (late, early, done, *others):
        await commands.claim(record)
    await commands.finish(done, CommandState.DONE, OUTCOME, NOW)
    assert await commands.unresolved(ORGANIZATION, "desk-1", 4) == [early, late]
    assert await commands.unresolved(ORGANIZATION, "desk-1", 3) == []


async def test_lifetime_begins_with_the_final_state(database: Database) -> None:
    commands = CommandStore(database, lifetime=timedelta(hours=2))
    record = sent()
    await commands.claim(record)
    stored = database.collection("commands")
    assert "delete_at" not in there(await stored.find_one({}))
    final_at = record.accepted_at + timedelta(minutes=7)
    await commands.finish(record, CommandState.DONE, OUTCOME, final_at)
    assert there(await stored.find_one({}))["delete_at"] == final_at + timedelta(hours=2)
    indexes = await stored.index_information()
    assert indexes["lifetime"]["key"] == [("delete_at", 1)]
    assert indexes["lifetime"]["expireAfterSeconds"] == 0


async def test_what_is_open_is_read_with_what_no_majority_holds_yet(database: Database) -> None:
    """A record that says SENT on a primary may be of an input that was sent."""
    commands, profile = CommandStore(database), database.collection("system.profile")
    await profile.database.command({"profile": 2})
    await commands.unresolved(ORGANIZATION, "desk-1", 4)
    await commands.find(uuid4())
    await profile.database.command({"profile": 0})
    done = await profile.find({"ns": {"$regex": "[.]commands$"}}).sort("ts", 1).to_list(None)
    levels = [each["command"]["readConcern"]["level"] for each in done]
    assert levels == ["local", "majority"]


async def test_unresolved_uses_its_index(database: Database) -> None:
    commands = CommandStore(database)
    await commands.claim(sent())
    plan = await (
        database.collection("commands")
        .find({"organization_id": ORGANIZATION, "machine_id": "desk-1", "state": "SENT"})
        .sort("accepted_at", 1)
        .explain()
    )
    assert "sent_to_machine" in str(plan["queryPlanner"]["winningPlan"])


def claimed(**changes: Any) -> CommandRecord:
    return replace(sent(), state=CommandState.CLAIMED, **changes)


async def test_claim_is_marked_sent_by_its_own_attempt_only_and_as_often_as_it_tries(
    commands: CommandStore,
) -> None:
    claim = claimed()
    await commands.claim(claim)
    marked = replace(claim, state=CommandState.SENT, journal_sequence=7)
    assert not await commands.mark_sent(replace(marked, attempt=uuid4()))
    assert await commands.find(claim.command_id) == claim
    for _ in range(2):
        assert await commands.mark_sent(marked)
        assert await commands.find(claim.command_id) == marked
    await commands.finish(marked, CommandState.DONE, OUTCOME, NOW)
    assert not await commands.mark_sent(marked)


async def test_claim_is_taken_over_by_one_and_then_its_owner_cannot_send(
    commands: CommandStore,
) -> None:
    abandoned = claimed()
    await commands.claim(abandoned)
    first, second = replace(abandoned, attempt=uuid4()), replace(abandoned, attempt=uuid4())
    assert await commands.take_over(abandoned, first)
    assert await commands.take_over(abandoned, first)
    assert not await commands.take_over(abandoned, second)
    assert await commands.find(abandoned.command_id) == first
    assert not await commands.mark_sent(replace(abandoned, state=CommandState.SENT))
    assert await commands.mark_sent(replace(first, state=CommandState.SENT))


async def test_what_was_sent_is_never_taken_over(commands: CommandStore) -> None:
    record = sent()
    await commands.claim(record)
    assert not await commands.take_over(record, replace(record, attempt=uuid4()))
    assert await commands.find(record.command_id) == record


async def test_record_without_a_key_does_not_stay_for_ever(database: Database) -> None:
    commands = CommandStore(database, lifetime=timedelta(hours=2))
    record = sent(fingerprint="")
    await commands.claim(record)
    stored = there(await database.collection("commands").find_one({}))
    assert stored["delete_at"] == record.expires_at + timedelta(hours=2)
    assert await commands.find(record.command_id) == record
