from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from server.store.commands import Answer, CommandRecord, CommandState, CommandStore
from tests.store import ORGANIZATION, OTHER_ORGANIZATION, async_test, opened, there

NOW = datetime(2024, 5, 6, 7, 8, 9, 123000, tzinfo=UTC)
ANSWER = Answer(200, "application/json", b'{"status":"completed"}\x00\xff')


def sent(**changes: Any) -> CommandRecord:
    record = CommandRecord(
        command_id=uuid4(),
        organization_id=ORGANIZATION,
        machine_id="desk-1",
        operation="mouse.click",
        fingerprint="f" * 64,
        state=CommandState.SENT,
        attempt=uuid4(),
        epoch=3,
        journal_id=uuid4(),
        journal_sequence=2**63 - 1,
        request_id="r-1",
        minimal=False,
        accepted_at=NOW,
        expires_at=NOW + timedelta(seconds=30),
    )
    return replace(record, **changes)


@async_test
async def test_record_comes_back_as_it_was_claimed(mongodb: str, database_name: str) -> None:
    async with opened(mongodb, database_name) as database:
        commands = CommandStore(database)
        record = sent()
        assert await commands.claim_sent(record)
        assert await commands.find(record.command_id) == record
        assert await commands.find(uuid4()) is None


@async_test
async def test_only_one_attempt_claims_a_command(mongodb: str, database_name: str) -> None:
    async with opened(mongodb, database_name) as database:
        commands = CommandStore(database)
        first = sent()
        second = replace(first, attempt=uuid4(), fingerprint="other")
        assert await commands.claim_sent(first)
        assert not await commands.claim_sent(second)
        assert await commands.find(first.command_id) == first


@async_test
async def test_own_claim_is_recognised_until_it_is_resolved(
    mongodb: str, database_name: str
) -> None:
    async with opened(mongodb, database_name) as database:
        commands = CommandStore(database)
        record = sent()
        await commands.claim_sent(record)
        assert await commands.claim_sent(record)
        await commands.finish(record.command_id, CommandState.UNKNOWN, ANSWER, NOW)
        assert not await commands.claim_sent(record)


@async_test
async def test_first_final_state_stands(mongodb: str, database_name: str) -> None:
    async with opened(mongodb, database_name) as database:
        commands = CommandStore(database)
        record = sent()
        await commands.claim_sent(record)
        assert await commands.finish(record.command_id, CommandState.DONE, ANSWER, NOW)
        other = Answer(502, None, b"")
        assert not await commands.finish(record.command_id, CommandState.UNKNOWN, other, NOW)
        found = await commands.find(record.command_id)
        assert found == replace(record, state=CommandState.DONE, answer=ANSWER, final_at=NOW)


@async_test
async def test_finish_of_another_attempt_changes_nothing(mongodb: str, database_name: str) -> None:
    async with opened(mongodb, database_name) as database:
        commands = CommandStore(database)
        record = sent()
        await commands.claim_sent(record)
        assert not await commands.finish(
            record.command_id, CommandState.DONE, ANSWER, NOW, attempt=uuid4()
        )
        assert await commands.find(record.command_id) == record
        assert await commands.finish(
            record.command_id, CommandState.DONE, ANSWER, NOW, attempt=record.attempt
        )
        assert not await commands.finish(uuid4(), CommandState.DONE, ANSWER, NOW)


@async_test
async def test_finish_takes_final_states_only(mongodb: str, database_name: str) -> None:
    async with opened(mongodb, database_name) as database:
        with pytest.raises(ValueError, match="SENT"):
            await CommandStore(database).finish(uuid4(), CommandState.SENT, ANSWER, NOW)


@async_test
async def test_forget_deletes_the_own_open_record_only(mongodb: str, database_name: str) -> None:
    async with opened(mongodb, database_name) as database:
        commands = CommandStore(database)
        record, final = sent(), sent()
        await commands.claim_sent(record)
        await commands.claim_sent(final)
        await commands.finish(final.command_id, CommandState.DONE, ANSWER, NOW)
        assert not await commands.forget(record.command_id, uuid4())
        assert not await commands.forget(final.command_id, final.attempt)
        assert await commands.forget(record.command_id, record.attempt)
        assert await commands.find(record.command_id) is None
        assert await commands.find(final.command_id) is not None


@async_test
async def test_unresolved_are_the_sent_records_of_one_machine_oldest_first(
    mongodb: str, database_name: str
) -> None:
    async with opened(mongodb, database_name) as database:
        commands = CommandStore(database)
        late, early = sent(accepted_at=NOW + timedelta(seconds=1)), sent()
        done = sent()
        others = [sent(machine_id="desk-2"), sent(organization_id=OTHER_ORGANIZATION)]
        for record in (late, early, done, *others):
            await commands.claim_sent(record)
        await commands.finish(done.command_id, CommandState.DONE, ANSWER, NOW)
        assert await commands.unresolved(ORGANIZATION, "desk-1") == [early, late]


@async_test
async def test_lifetime_begins_with_the_final_state(mongodb: str, database_name: str) -> None:
    async with opened(mongodb, database_name) as database:
        commands = CommandStore(database, lifetime=timedelta(hours=2))
        record = sent()
        await commands.claim_sent(record)
        stored = database.collection("commands")
        assert "delete_at" not in there(await stored.find_one({}))
        await commands.finish(record.command_id, CommandState.DONE, ANSWER, NOW)
        assert there(await stored.find_one({}))["delete_at"] == NOW + timedelta(hours=2)
        indexes = await stored.index_information()
        assert indexes["lifetime"]["key"] == [("delete_at", 1)]
        assert indexes["lifetime"]["expireAfterSeconds"] == 0


@async_test
async def test_unresolved_uses_its_index(mongodb: str, database_name: str) -> None:
    async with opened(mongodb, database_name) as database:
        commands = CommandStore(database)
        await commands.claim_sent(sent())
        plan = await (
            database.collection("commands")
            .find({"organization_id": ORGANIZATION, "machine_id": "desk-1", "state": "SENT"})
            .sort("accepted_at", 1)
            .explain()
        )
        assert "sent_to_machine" in str(plan["queryPlanner"]["winningPlan"])
