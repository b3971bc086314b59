"""Whose link is worth another look, and for how long."""

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import cast
from uuid import UUID, uuid4

import pytest

from schemas.link.close_codes import MOVED_REASON
from server.dispatch import handover
from server.dispatch.handover import JUST_MILLISECONDS, MOVING_SECONDS, NOTING_SECONDS, HandoverWait
from server.store.machines.documents import LinkFacts, Machine
from server.store.machines.machines import MachineStore
from server.store.times import now

HERE, ALIVE, DEAD = uuid4(), uuid4(), uuid4()


@dataclass
class Stored:
    """A store of at most one machine."""

    machine: Machine | None

    async def get(self, organization_id: UUID, machine_id: str) -> Machine | None:
        return self.machine


def linked(node_id: UUID) -> Machine:
    return Machine(
        organization_id=uuid4(),
        machine_id="desk-1",
        name="desk-1",
        paused=False,
        paused_since=None,
        created_at=now(),
        epoch=1,
        connected_at=now(),
        disconnected_at=None,
        state_since=now(),
        reason=None,
        client=None,
        link=LinkFacts(node_id, "node"),
    )


def ended(reason: str, *, ago: float = 0.0) -> Machine:
    time = now() - timedelta(milliseconds=ago)
    return replace(linked(ALIVE), disconnected_at=time, state_since=time, reason=reason)


async def is_worth_a_look(machine: Machine | None, waited: float) -> bool:
    found = HandoverWait(
        cast("MachineStore", Stored(machine)), HERE, lambda node_id: node_id == ALIVE
    )
    return await found.wait(uuid4(), "desk-1", waited)


@pytest.fixture(autouse=True)
def _short_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handover, "POLL_SECONDS", 0.0)


@pytest.mark.parametrize(
    ("machine", "patience"),
    [
        (ended(MOVED_REASON), MOVING_SECONDS),
        (linked(ALIVE), NOTING_SECONDS),
        (linked(HERE), NOTING_SECONDS),
    ],
    ids=[
        "moved just now",
        "linked to a node that has it no more",
        "about to be linked to this one",
    ],
)
async def test_machine_between_two_nodes_is_waited_for_and_not_forever(
    machine: Machine, patience: float
) -> None:
    machine = replace(machine, state_since=now())
    assert await is_worth_a_look(machine, 0.0)
    assert await is_worth_a_look(machine, patience - 0.01)
    assert not await is_worth_a_look(machine, patience)


@pytest.mark.parametrize(
    "machine",
    [
        None,
        ended("the connection broke"),
        ended(MOVED_REASON, ago=JUST_MILLISECONDS + 1),
        linked(DEAD),
        replace(linked(ALIVE), connected_at=None, link=None),
    ],
    ids=["unknown", "ended by itself", "moved long ago", "its node is gone", "never connected"],
)
async def test_machine_that_is_away_is_not_waited_for(machine: Machine | None) -> None:
    assert not await is_worth_a_look(machine, 0.0)
