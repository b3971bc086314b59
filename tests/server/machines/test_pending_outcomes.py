import asyncio
from uuid import UUID

import pytest

from server.machines.link.errors import LinkLostError
from server.machines.pending_outcomes import OneTimeEvent, PendingOutcomes
from tests.links import COMPLETED

ID = UUID(int=0xA)


async def test_all_who_wait_for_a_command_have_its_outcome() -> None:
    pending = PendingOutcomes()
    sent = pending.outcome_of(ID)
    question, is_new = pending.question(ID, "first")
    assert is_new
    assert pending.question(ID, "first") == (question, False)
    # The machine answers with the id alone: only one request is asked about at once.
    assert pending.question(ID, "second") == (question, False)
    pending.settle(ID, COMPLETED)
    assert await sent == await question.outcome == COMPLETED
    await question.reported
    assert pending.question(ID, "first")[1]


async def test_word_that_a_command_runs_is_no_outcome() -> None:
    pending = PendingOutcomes()
    question, _ = pending.question(ID, "first")
    pending.heard_of(ID)
    await question.reported
    assert not question.outcome.done()
    pending.settle(ID, COMPLETED)
    assert await question.outcome == COMPLETED


async def test_what_nobody_waits_for_any_more_may_be_answered_all_the_same() -> None:
    pending = PendingOutcomes()
    pending.outcome_of(ID).cancel()
    pending.settle(ID, COMPLETED)
    pending.settle(UUID(int=0xB), COMPLETED)
    assert not pending.outcome_of(ID).done()


async def test_abandoned_commands_end_with_the_link() -> None:
    pending = PendingOutcomes()
    question, _ = pending.question(ID, "first")
    pending.abandon([ID, UUID(int=0xB)])
    for future in (question.outcome, question.reported):
        with pytest.raises(LinkLostError):
            await future


async def test_all_who_wait_go_on_when_it_happens_and_nobody_waits_after_that() -> None:
    once = OneTimeEvent()
    waiting = asyncio.gather(once.wait(), once.wait())
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(once.wait(), 0.01)
    assert not waiting.done()
    once.happens()
    once.happens()
    await waiting
    await once.wait()
