import asyncio
from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID, uuid4

import pytest

from schemas.link.messages import Display, JournalPosition
from server.errors import AlreadyExists, NotFound
from server.store.machines.documents import ClientSummary, LinkFacts, Machine
from server.store.machines.machines import MachineStore
from server.store.mongodb.database import Database
from tests.store import ORGANIZATION, OTHER_ORGANIZATION, there

CLIENT = ClientSummary("Linux 6", "0.1.0", (Display(x=0, y=0, width=1920, height=1080),), "vnc")
LINK = LinkFacts(uuid4(), "node-1")
JOURNAL = JournalPosition(id=uuid4(), sequence=2**63 - 1)


async def test_two_organizations_may_use_one_id(machines: MachineStore) -> None:
    await machines.create(ORGANIZATION, "desk", "ours")
    await machines.create(OTHER_ORGANIZATION, "desk", "theirs")
    assert there(await machines.get(ORGANIZATION, "desk")).name == "ours"
    assert there(await machines.get(OTHER_ORGANIZATION, "desk")).name == "theirs"
    assert await machines.get(uuid4(), "desk") is None


async def test_an_id_is_taken_once(machines: MachineStore) -> None:
    made = await machines.create(ORGANIZATION, "desk", "first")
    with pytest.raises(AlreadyExists):
        await machines.create(ORGANIZATION, "desk", "second")
    assert await machines.get(ORGANIZATION, "desk") == made


async def test_some_are_those_that_there_are_in_the_order_asked(machines: MachineStore) -> None:
    for name in ("c", "a", "b"):
        await machines.create(ORGANIZATION, name, name)
    await machines.create(OTHER_ORGANIZATION, "z", "z")
    found = await machines.some(ORGANIZATION, ["c", "z", "a"])
    assert [machine.machine_id for machine in found] == ["c", "a"]
    assert await machines.some(ORGANIZATION, []) == []


async def test_change_renames_and_answers_the_machine(machines: MachineStore) -> None:
    made = await machines.create(ORGANIZATION, "desk", "old")
    assert await machines.change(ORGANIZATION, "desk") == made
    # Neither a field's name nor an operator.
    renamed = there(await machines.change(ORGANIZATION, "desk", name="$machine_id"))
    assert renamed == replace(made, name="$machine_id")
    assert await machines.change(OTHER_ORGANIZATION, "desk", name="x") is None
    assert await machines.change(ORGANIZATION, "chair", paused=True) is None


async def test_pausing_again_keeps_the_first_time(machines: MachineStore) -> None:
    await machines.create(ORGANIZATION, "desk", "d")
    paused = there(await machines.change(ORGANIZATION, "desk", paused=True))
    assert paused.paused
    assert paused.paused_since is not None
    assert await machines.change(ORGANIZATION, "desk", paused=True) == paused
    resumed = there(await machines.change(ORGANIZATION, "desk", paused=False))
    assert (resumed.paused, resumed.paused_since) == (False, None)


async def test_every_link_has_its_own_epoch(machines: MachineStore) -> None:
    await machines.create(ORGANIZATION, "desk", "d")
    first = await machines.begin_link(ORGANIZATION, "desk", CLIENT, LINK)
    second = await machines.begin_link(ORGANIZATION, "desk", CLIENT, LINK)
    assert (first.epoch, second.epoch) == (1, 2)
    assert second.client == CLIENT
    assert second.connected_at == second.state_since
    with pytest.raises(NotFound):
        await machines.begin_link(ORGANIZATION, "chair", CLIENT, LINK)


async def test_end_of_an_older_link_does_not_disconnect_the_newer(machines: MachineStore) -> None:
    await machines.create(ORGANIZATION, "desk", "d")
    await machines.begin_link(ORGANIZATION, "desk", CLIENT, LINK)
    await machines.begin_link(ORGANIZATION, "desk", CLIENT, LINK)
    await machines.end_link(ORGANIZATION, "desk", 1, "replaced")
    assert there(await machines.get(ORGANIZATION, "desk")).disconnected_at is None
    # Until its end is noted, whoever finds no link there cannot say why.
    between = "its last link has ended, and the next is not made yet"
    assert there(await machines.get(ORGANIZATION, "desk")).why_offline == between
    await machines.end_link(ORGANIZATION, "desk", 2, "heartbeat missed")
    ended = there(await machines.get(ORGANIZATION, "desk"))
    assert ended.reason == ended.why_offline == "heartbeat missed"
    assert ended.disconnected_at == ended.state_since
    await machines.end_link(ORGANIZATION, "desk", 2, "again")


async def test_link_says_on_which_node_it_is_and_on_which_the_one_before_was(
    machines: MachineStore,
) -> None:
    created = await machines.create(ORGANIZATION, "desk", "d")
    assert (created.link, created.is_linked) == (None, False)
    first = await machines.begin_link(ORGANIZATION, "desk", CLIENT, LINK)
    assert (first.link, first.is_linked) == (LINK, True)
    elsewhere = replace(LINK, node_id=uuid4(), node_name="$node")
    second = await machines.begin_link(ORGANIZATION, "desk", CLIENT, elsewhere)
    assert second.link == replace(elsewhere, earlier_node_id=LINK.node_id)
    assert await machines.end_links_of(LINK.node_id, "gone") == []
    assert await machines.end_links_of(elsewhere.node_id, "gone") == [(ORGANIZATION, "desk")]
    ended = there(await machines.get(ORGANIZATION, "desk"))
    assert (ended.is_linked, ended.reason) == (False, "gone")
    assert not await machines.link_again(ORGANIZATION, "desk", 1, LINK.node_id)
    assert await machines.link_again(ORGANIZATION, "desk", 2, elsewhere.node_id)
    again = there(await machines.get(ORGANIZATION, "desk"))
    assert (again.is_linked, again.reason) == (True, None)
    assert await machines.link_again(ORGANIZATION, "desk", 2, elsewhere.node_id)
    assert there(await machines.get(ORGANIZATION, "desk")) == again


async def test_links_of_a_node_as_the_database_knows_them(machines: MachineStore) -> None:
    for machine_id in ("desk", "chair", "lamp"):
        await machines.create(ORGANIZATION, machine_id, "d")
    for machine_id in ("desk", "desk", "chair"):
        await machines.begin_link(ORGANIZATION, machine_id, CLIENT, LINK)
    await machines.begin_link(ORGANIZATION, "lamp", CLIENT, LinkFacts(uuid4(), "b"))
    await machines.end_link(ORGANIZATION, "chair", 1, "gone")
    assert await machines.linked_to(LINK.node_id) == {(ORGANIZATION, "desk"): 2}
    assert await machines.count_linked_to(LINK.node_id) == (1, 2)
    assert await machines.count_linked_to(uuid4()) == (0, 0)


async def test_machine_of_a_newer_farhand_is_read(
    database: Database, machines: MachineStore
) -> None:
    created = await machines.create(ORGANIZATION, "desk", "d")
    await database.collection("machines").update_one({}, {"$set": {"of_tomorrow": 1}})
    assert await machines.get(ORGANIZATION, "desk") == created


async def test_removed_machine_is_gone_but_its_epochs_are_not_used_again(
    machines: MachineStore,
) -> None:
    await machines.create(ORGANIZATION, "desk", "d")
    await machines.begin_link(ORGANIZATION, "desk", CLIENT, LINK)
    assert await machines.delete(ORGANIZATION, "desk")
    assert not await machines.delete(ORGANIZATION, "desk")
    assert await machines.get(ORGANIZATION, "desk") is None
    assert await machines.some(ORGANIZATION, ["desk"]) == []
    with pytest.raises(NotFound):
        await machines.begin_link(ORGANIZATION, "desk", CLIENT, LINK)
    again = await machines.create(ORGANIZATION, "desk", "new")
    assert (again.name, again.client, again.connected_at) == ("new", None, None)
    assert (await machines.begin_link(ORGANIZATION, "desk", CLIENT, LINK)).epoch == 2


async def test_links_that_begin_and_end_at_the_same_time_have_epochs_of_their_own(
    database: Database,
) -> None:
    machines, others = MachineStore(database), MachineStore(database)
    other_organization = uuid4()
    keys = [(ORGANIZATION, "a"), (ORGANIZATION, "b"), (other_organization, "a")]
    for key in keys:
        await machines.create(*key, "d")
    await machines.begin_link(*keys[1], CLIENT, LINK)
    begun = await asyncio.gather(
        *(machines.begin_link(*key, CLIENT, LINK) for key in [*keys, keys[0]]),
        *(others.begin_link(*key, CLIENT, LINK) for key in keys),
        machines.begin_link(ORGANIZATION, "chair", CLIENT, LINK),
        return_exceptions=True,
    )
    assert isinstance(begun.pop(), NotFound)
    epochs = [
        (each.organization_id, each.machine_id, each.epoch)
        for each in begun
        if isinstance(each, Machine)
    ]
    assert len(set(epochs)) == len(begun) == 7
    newest = {key: there(await machines.get(*key)).epoch for key in keys}
    assert newest == {key: max(each[2] for each in epochs if each[:2] == key) for key in keys}
    await asyncio.gather(
        *(machines.end_link(*key, epoch, f"over {key[1]}") for key, epoch in newest.items()),
        machines.end_link(*keys[0], 1, "an older one"),
    )
    found = await asyncio.gather(
        *(machines.get_together(*key) for key in [*keys, (other_organization, "b")])
    )
    assert [each and each.reason for each in found] == ["over a", "over b", "over a", None]


async def test_link_that_another_began_between_gets_an_epoch_all_the_same(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    machines, others = MachineStore(database), MachineStore(database)
    for machine_id in ("a", "b", "c"):
        await machines.create(ORGANIZATION, machine_id, "d")
    find = MachineStore._find

    async def overtaken(store: MachineStore, keys: Sequence[tuple[UUID, str]]) -> object:
        await others.begin_link(ORGANIZATION, "b", CLIENT, LINK)
        return await find(store, keys)

    monkeypatch.setattr(MachineStore, "_find", overtaken)
    begun = await asyncio.gather(
        *(machines.begin_link(ORGANIZATION, each, CLIENT, LINK) for each in ("a", "b", "c"))
    )
    assert [each.epoch for each in begun] == [1, 3, 1]
