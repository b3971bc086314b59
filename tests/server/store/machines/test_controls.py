"""Leases in the real MongoDB, and the simulation's beside it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import pytest

from server.store.machines import controls as module
from server.store.machines.controls import ControlStore, KeptTo, NewControl
from server.store.machines.documents import ClientSummary, LinkFacts
from server.store.machines.machines import MachineStore
from tests.store import ORGANIZATION, OTHER_ORGANIZATION, opened, there

ADA = NewControl("of Ada", "$machine_id", uuid4())
BOB = NewControl("of Bob", "Bob", uuid4(), b"session")
DESK = ORGANIZATION, "desk"
LINK = LinkFacts(uuid4(), "node-1")


@asynccontextmanager
async def a_machine(mongodb: str, name: str) -> AsyncIterator[tuple[ControlStore, MachineStore]]:
    async with opened(mongodb, name) as database:
        machines = MachineStore(database)
        await machines.create(*DESK, "desk")
        yield ControlStore(database), machines


@pytest.fixture
def short_leases(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leases that are over when they begin."""
    monkeypatch.setattr(module, "_END", {"$add": ["$$NOW", -1]})


async def test_one_has_control_until_it_is_taken_over(mongodb: str, database_name: str) -> None:
    async with a_machine(mongodb, database_name) as (controls, machines):
        first, epoch = there(await controls.take(*DESK, ADA, take_over=False))
        assert (first.lease_hash, first.by, first.token_id, first.session_hash, epoch) == (
            *("of Ada", "$machine_id", ADA.token_id),
            *(None, 0),
        )
        assert (first.expires_at - first.since).total_seconds() == module.LEASE_SECONDS
        assert there(await machines.get(*DESK)).control == first
        assert there(await controls.take(*DESK, BOB, take_over=False))[0] == first
        for take_over in (True, False):
            await asyncio.sleep(0.002)  # Its times are kept to the millisecond.
            anew, _ = there(await controls.take(*DESK, ADA, take_over=take_over))
            assert (anew.lease_hash, anew.since > first.since) == ("of Ada", True)
            assert not await controls.end(*DESK, "of Ada", first.since)
        assert there(await controls.take(*DESK, BOB, take_over=False))[0] == anew
        second, _ = there(await controls.take(*DESK, BOB, take_over=True))
        assert (second.lease_hash, second.session_hash) == ("of Bob", b"session")
        (held,) = await controls.all()
        assert (held.organization_id, held.machine_id, held.control) == (*DESK, second)
        assert not held.is_over
        assert await controls.renew(*DESK, "of Ada") is None
        assert not await controls.end(*DESK, "of Ada")
        assert await controls.take(OTHER_ORGANIZATION, "desk", ADA, take_over=True) is None


async def test_lease_is_confirmed_until_it_is_taken_anew(mongodb: str, database_name: str) -> None:
    async with a_machine(mongodb, database_name) as (controls, machines):
        for _ in range(2):
            taken, _ = there(await controls.take(*DESK, ADA, take_over=False))
            assert not taken.is_confirmed
            for since, is_confirmed in (
                (taken.since - timedelta(milliseconds=1), False),
                (taken.since, True),
            ):
                await controls.confirm(*DESK, "of Bob", since)
                await controls.confirm(*DESK, "of Ada", since)
                stored = there(await machines.get(*DESK)).control
                assert stored == replace(taken, is_confirmed=is_confirmed)


async def test_lease_is_renewed_and_ended(mongodb: str, database_name: str) -> None:
    async with a_machine(mongodb, database_name) as (controls, machines):
        first, _ = there(await controls.take(*DESK, ADA, take_over=False))
        renewed = there(await controls.renew(*DESK, "of Ada"))
        assert renewed.since == first.since
        assert renewed.expires_at >= first.expires_at
        assert not await controls.end_if_over(*DESK, "of Ada")
        assert not await controls.end(OTHER_ORGANIZATION, "desk", "of Ada")
        assert await controls.end(*DESK, "of Ada")
        assert there(await machines.get(*DESK)).control is None
        assert await controls.all() == []


@pytest.mark.usefixtures("short_leases")
async def test_lease_that_has_run_out_is_nobodys(mongodb: str, database_name: str) -> None:
    async with a_machine(mongodb, database_name) as (controls, _):
        await controls.take(*DESK, ADA, take_over=False)
        assert await controls.renew(*DESK, "of Ada") is None
        (held,) = await controls.all()
        assert held.is_over
        assert there(await controls.take(*DESK, BOB, take_over=False))[0].lease_hash == "of Bob"
        assert not await controls.end_if_over(*DESK, "of Ada")
        assert await controls.end_if_over(*DESK, "of Bob")
        assert await controls.all() == []


async def test_lease_is_made_private_and_open(mongodb: str, database_name: str) -> None:
    async with a_machine(mongodb, database_name) as (controls, machines):
        await machines.begin_link(*DESK, ClientSummary("Linux", "1", ()), LINK)
        first, _ = there(await controls.take(*DESK, ADA, take_over=False))
        assert first.private_since is None
        made, epoch, has_changed = there(await controls.make_private(*DESK, "of Ada", private=True))
        assert (made.private_since is not None, epoch, has_changed) == (True, 1, True)
        again, _, has_changed = there(await controls.make_private(*DESK, "of Ada", private=True))
        assert (again, has_changed) == (made, False)
        restricted = await controls.restricted_of(LINK.node_id)
        assert restricted == {DESK: KeptTo(paused=False, lease_hash="of Ada", private=True)}
        opened_again, _, has_changed = there(
            await controls.make_private(*DESK, "of Ada", private=False)
        )
        assert (opened_again, has_changed) == (first, True)
        assert await controls.make_private(*DESK, "of Bob", private=True) is None
        private = replace(BOB, private=True)
        taken, _ = there(await controls.take(*DESK, private, take_over=True))
        assert taken.private_since == taken.since
        assert len({first.holder, taken.holder, replace(taken, session_hash=None).holder}) == 3


@pytest.mark.usefixtures("short_leases")
async def test_lease_that_has_run_out_is_not_made_private(mongodb: str, database_name: str) -> None:
    async with a_machine(mongodb, database_name) as (controls, _):
        await controls.take(*DESK, ADA, take_over=False)
        assert await controls.make_private(*DESK, "of Ada", private=True) is None


async def test_removed_machine_leaves_no_lease_behind(mongodb: str, database_name: str) -> None:
    async with a_machine(mongodb, database_name) as (controls, machines):
        await controls.take(*DESK, ADA, take_over=False)
        await machines.delete(*DESK)
        assert await controls.all() == []
        assert (await machines.create(*DESK, "anew")).control is None


async def test_node_reads_what_restricts_the_machines_that_it_holds(
    mongodb: str, database_name: str
) -> None:
    async with a_machine(mongodb, database_name) as (controls, machines):
        assert await controls.restricted_of(LINK.node_id) == {}
        await machines.begin_link(*DESK, ClientSummary("Linux", "1", ()), LINK)
        assert await controls.restricted_of(LINK.node_id) == {}
        await controls.take(*DESK, ADA, take_over=False)
        assert await controls.restricted_of(LINK.node_id) == {
            DESK: KeptTo(paused=False, lease_hash="of Ada", private=False)
        }
        await machines.create(ORGANIZATION, "without a link", "d")
        await machines.change(ORGANIZATION, "without a link", paused=True)
        await machines.change(*DESK, paused=True)
        await controls.end(*DESK, "of Ada")
        assert await controls.restricted_of(LINK.node_id) == {
            DESK: KeptTo(paused=True, lease_hash=None, private=False)
        }
        assert await controls.restricted_of(uuid4()) == {}
