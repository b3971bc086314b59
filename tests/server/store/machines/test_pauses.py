"""Pauses that end by themselves, as the database has them."""

from datetime import timedelta

from server.store.machines.documents import PauseDetails
from server.store.machines.machines import MachineStore
from server.store.machines.pauses import PauseStore
from server.store.times import now
from tests.store import ORGANIZATION, OTHER_ORGANIZATION, async_test, opened, there


async def paused(machines: MachineStore, name: str, minutes: float | None) -> PauseDetails:
    """A machine that is paused until so many minutes from now."""
    until = None if minutes is None else now() + timedelta(minutes=minutes)
    details = PauseDetails("$Ada", "for $lunch", until)
    await machines.create(ORGANIZATION, name, name)
    stored = there(await machines.change(ORGANIZATION, name, paused=True, details=details))
    assert stored.pause == details
    return details


@async_test
async def test_pause_that_ends_first_is_found_first(mongodb: str, database_name: str) -> None:
    async with opened(mongodb, database_name) as database:
        machines, pauses = MachineStore(database), PauseStore(database)
        await paused(machines, "for good", None)
        assert await pauses.first_to_end() is None
        await paused(machines, "later", 20)
        sooner = await paused(machines, "sooner", 10)
        first = there(await pauses.first_to_end())
        assert (first.organization_id, first.machine_id) == (ORGANIZATION, "sooner")
        assert first.details == sooner
        assert 590 < first.seconds_left <= 600
        await machines.change(ORGANIZATION, "sooner", paused=False)
        assert there(await pauses.first_to_end()).machine_id == "later"
        await machines.delete(ORGANIZATION, "later")
        assert await pauses.first_to_end() is None


@async_test
async def test_pause_is_ended_once_and_not_before_it_is_over(
    mongodb: str, database_name: str
) -> None:
    async with opened(mongodb, database_name) as database:
        machines, pauses = MachineStore(database), PauseStore(database)
        await paused(machines, "over", -1)
        await paused(machines, "lasting", 1)
        await paused(machines, "for good", None)
        assert there(await pauses.first_to_end()).seconds_left <= -60
        assert not await pauses.end_if_over(OTHER_ORGANIZATION, "over")
        ended = [await pauses.end_if_over(ORGANIZATION, name) for name in ("over", "over")]
        assert ended == [True, False]
        for name in ("lasting", "for good"):
            assert not await pauses.end_if_over(ORGANIZATION, name)
            assert there(await machines.get(ORGANIZATION, name)).paused
        resumed = there(await machines.get(ORGANIZATION, "over"))
        assert (resumed.paused, resumed.paused_since) == (False, None)
        assert resumed.pause == PauseDetails()


@async_test
async def test_pause_that_was_stored_without_details_is_an_operators(
    mongodb: str, database_name: str
) -> None:
    async with opened(mongodb, database_name) as database:
        machines = MachineStore(database)
        await paused(machines, "desk", None)
        await database.collection("machines").update_many({}, {"$unset": {"pause": ""}})
        found = there(await machines.get(ORGANIZATION, "desk"))
        assert found.paused
        assert found.why_paused == "an operator paused the machine"
