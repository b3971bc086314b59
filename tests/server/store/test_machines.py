from dataclasses import replace
from uuid import uuid4

import pytest

from schemas.http.queries import PageQuery
from schemas.link.messages import Display, JournalPosition
from server.store.errors import AlreadyExists, NotFound
from server.store.machines import ClientSummary, MachineStore
from tests.store import ORGANIZATION, OTHER_ORGANIZATION, async_test, opened, there

CLIENT = ClientSummary("Linux 6", "0.1.0", (Display(x=0, y=0, width=1920, height=1080),))
JOURNAL = JournalPosition(id=uuid4(), sequence=2**63 - 1)


@async_test
async def test_two_organizations_may_use_one_id(mongodb: str, database_name: str) -> None:
    async with opened(mongodb, database_name) as database:
        machines = MachineStore(database)
        await machines.create(ORGANIZATION, "desk", "ours")
        await machines.create(OTHER_ORGANIZATION, "desk", "theirs")
        assert there(await machines.get(ORGANIZATION, "desk")).name == "ours"
        assert there(await machines.get(OTHER_ORGANIZATION, "desk")).name == "theirs"
        assert await machines.get(uuid4(), "desk") is None


@async_test
async def test_an_id_is_taken_once(mongodb: str, database_name: str) -> None:
    async with opened(mongodb, database_name) as database:
        machines = MachineStore(database)
        made = await machines.create(ORGANIZATION, "desk", "first")
        with pytest.raises(AlreadyExists):
            await machines.create(ORGANIZATION, "desk", "second")
        assert await machines.get(ORGANIZATION, "desk") == made


@async_test
async def test_list_is_by_id_and_one_page(mongodb: str, database_name: str) -> None:
    async with opened(mongodb, database_name) as database:
        machines = MachineStore(database)
        for name in ("c", "a", "b"):
            await machines.create(ORGANIZATION, name, name)
        await machines.create(OTHER_ORGANIZATION, "z", "z")
        page, total = await machines.list(ORGANIZATION, PageQuery(skip=1, limit=1))
        assert [machine.machine_id for machine in page] == ["b"]
        assert total == 3


@async_test
async def test_change_renames_and_answers_the_machine(mongodb: str, database_name: str) -> None:
    async with opened(mongodb, database_name) as database:
        machines = MachineStore(database)
        made = await machines.create(ORGANIZATION, "desk", "old")
        assert await machines.change(ORGANIZATION, "desk") == made
        # Neither a field's name nor an operator.
        renamed = there(await machines.change(ORGANIZATION, "desk", name="$machine_id"))
        assert renamed == replace(made, name="$machine_id")
        assert await machines.change(OTHER_ORGANIZATION, "desk", name="x") is None
        assert await machines.change(ORGANIZATION, "chair", paused=True) is None


@async_test
async def test_pausing_again_keeps_the_first_time(mongodb: str, database_name: str) -> None:
    async with opened(mongodb, database_name) as database:
        machines = MachineStore(database)
        await machines.create(ORGANIZATION, "desk", "d")
        paused = there(await machines.change(ORGANIZATION, "desk", paused=True))
        assert paused.paused
        assert paused.paused_since is not None
        assert await machines.change(ORGANIZATION, "desk", paused=True) == paused
        resumed = there(await machines.change(ORGANIZATION, "desk", paused=False))
        assert (resumed.paused, resumed.paused_since) == (False, None)


@async_test
async def test_every_link_has_its_own_epoch(mongodb: str, database_name: str) -> None:
    async with opened(mongodb, database_name) as database:
        machines = MachineStore(database)
        await machines.create(ORGANIZATION, "desk", "d")
        first = await machines.begin_link(ORGANIZATION, "desk", CLIENT)
        second = await machines.begin_link(ORGANIZATION, "desk", CLIENT)
        assert (first.epoch, second.epoch) == (1, 2)
        assert second.client == CLIENT
        assert second.connected_at == second.state_since
        with pytest.raises(NotFound):
            await machines.begin_link(ORGANIZATION, "chair", CLIENT)


@async_test
async def test_end_of_an_older_link_does_not_disconnect_the_newer(
    mongodb: str, database_name: str
) -> None:
    async with opened(mongodb, database_name) as database:
        machines = MachineStore(database)
        await machines.create(ORGANIZATION, "desk", "d")
        await machines.begin_link(ORGANIZATION, "desk", CLIENT)
        await machines.begin_link(ORGANIZATION, "desk", CLIENT)
        assert not await machines.end_link(ORGANIZATION, "desk", 1, "replaced")
        assert there(await machines.get(ORGANIZATION, "desk")).disconnected_at is None
        assert await machines.end_link(ORGANIZATION, "desk", 2, "heartbeat missed")
        ended = there(await machines.get(ORGANIZATION, "desk"))
        assert ended.reason == "heartbeat missed"
        assert ended.disconnected_at == ended.state_since
        assert not await machines.end_link(ORGANIZATION, "desk", 2, "again")


@async_test
async def test_removed_machine_is_gone_but_its_epochs_are_not_used_again(
    mongodb: str, database_name: str
) -> None:
    async with opened(mongodb, database_name) as database:
        machines = MachineStore(database)
        await machines.create(ORGANIZATION, "desk", "d")
        await machines.begin_link(ORGANIZATION, "desk", CLIENT)
        assert await machines.delete(ORGANIZATION, "desk")
        assert not await machines.delete(ORGANIZATION, "desk")
        assert await machines.get(ORGANIZATION, "desk") is None
        assert await machines.list(ORGANIZATION, PageQuery()) == ([], 0)
        with pytest.raises(NotFound):
            await machines.begin_link(ORGANIZATION, "desk", CLIENT)
        again = await machines.create(ORGANIZATION, "desk", "new")
        assert (again.name, again.client, again.connected_at) == ("new", None, None)
        assert (await machines.begin_link(ORGANIZATION, "desk", CLIENT)).epoch == 2
