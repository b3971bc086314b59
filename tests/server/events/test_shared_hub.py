"""Several nodes: all hear the same, in one order, and nobody misses anything unknowingly."""

import asyncio
import random
from uuid import UUID

import pytest

from server.events import shared_hub as shared_hub_module
from server.events.event import Subscription
from server.events.shared_hub import SharedEventHub
from server.store.event_log import MAX_BATCH_EVENTS, EventLog
from tests.event_hubs import (
    Node,
    everything,
    heard,
    names_of,
    publish,
    settled,
    several_nodes,
)
from tests.holding_up import held_up
from tests.store import ORGANIZATION, OTHER_ORGANIZATION
from tests.waiting import until


@pytest.fixture(autouse=True)
def nobody_looks_without_need(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a look into the log now and then would find as well, is to be found without it."""
    monkeypatch.setattr(shared_hub_module, "CONNECTED_POLL_SECONDS", 3600.0)


async def all_heard(subscription: Subscription, many: int) -> list[tuple[int, str | None]]:
    """Numbers and machines of the next events, so many."""
    return [(event.number, event.machine_id) for event in await heard(subscription, many)]


async def publish_slowly(hub: SharedEventHub, name: str, many: int) -> None:
    """Publish events in small portions, as they come in life, never more than may wait."""
    chance, told = random.Random(name), 0
    while told < many:
        portion = min(chance.randint(1, 90), many - told)
        publish(hub, *(f"{name}-{told + number}" for number in range(portion)))
        told += portion
        await asyncio.sleep(chance.random() * 0.01)
        await until(lambda: hub.waiting < 1000)


async def test_events_of_all_nodes_are_heard_on_all_in_one_order(
    mongodb: str, database_name: str
) -> None:
    """Three nodes publish thousands of events at once: no gap, none twice, each node's in order."""
    many = 1500
    async with several_nodes(mongodb, database_name, 3, queue=9000) as nodes:
        subscriptions = [await node.listen() for node in nodes]
        async with asyncio.TaskGroup() as group:
            for number, node in enumerate(nodes):
                group.create_task(publish_slowly(node.hub, f"n{number}", many))
        first, *others = [await all_heard(each, 3 * many) for each in subscriptions]
        assert [number for number, _ in first] == list(range(1, 3 * many + 1))
        assert all(other == first for other in others)
        for number in range(3):
            own = [name for _, name in first if name is not None and name.startswith(f"n{number}-")]
            assert own == [f"n{number}-{each}" for each in range(many)]


async def test_who_comes_back_at_another_node_misses_nothing(
    mongodb: str, database_name: str
) -> None:
    async with several_nodes(mongodb, database_name, 3) as (first, second, third):
        subscription = await first.listen()
        publish(first.hub, "a", "b", "c")
        (heard_last,) = await heard(subscription, 1)
        last_id = subscription.id_of(heard_last.number)
        await settled(first.hub)
        publish(second.hub, "d")
        await settled(second.hub)
        again = await third.listen(last_id)
        publish(third.hub, "e")
        assert not again.must_reset
        assert names_of(await heard(again, 4)) == ["b", "c", "d", "e"]


async def test_many_who_come_back_at_once_hear_the_same(mongodb: str, database_name: str) -> None:
    async with several_nodes(mongodb, database_name, 2) as (first, second):
        names = [str(number) for number in range(400)]
        for name in names:
            publish(first.hub, name)
            if int(name) % 100 == 99:
                await settled(first.hub)
        ids = [(await first.listen()).id_of(number) for number in range(0, 400, 7)]
        back = await asyncio.gather(*(second.listen(last_id) for last_id in ids))
        for number, subscription in zip(range(0, 400, 7), back, strict=True):
            assert not subscription.must_reset
            assert names_of(subscription.take(400)) == names[number:]


async def test_node_that_was_started_again_goes_on(mongodb: str, database_name: str) -> None:
    async with several_nodes(mongodb, database_name, 1) as (node,):
        subscription = await node.listen()
        publish(node.hub, "a", "b")
        (told,) = await heard(subscription, 1)
        last_id = subscription.id_of(told.number)
        await settled(node.hub)
    async with several_nodes(mongodb, database_name, 1) as (node,):
        publish(node.hub, "c")
        again = await node.listen(last_id)
        assert names_of(await heard(again, 2)) == ["b", "c"]


async def test_id_that_this_node_has_not_heard_of_yet_is_no_reset(
    mongodb: str, database_name: str
) -> None:
    async with several_nodes(mongodb, database_name, 2) as (first, second):
        await second.listen()
        second.bus.go_away()
        subscription = await first.listen()
        publish(first.hub, "a", "b")
        (told, _) = await heard(subscription, 2)
        again = await second.listen(subscription.id_of(told.number))
        assert not again.must_reset
        assert names_of(again.take(10)) == ["b"]


async def test_events_flow_while_the_bus_is_away(mongodb: str, database_name: str) -> None:
    async with several_nodes(mongodb, database_name, 2) as (first, second):
        subscription = await second.listen()
        first.bus.go_away()
        second.bus.go_away()
        publish(first.hub, "a")
        assert names_of(await heard(subscription, 1)) == ["a"]
        publish(first.hub, "b")
        await settled(first.hub)
        second.bus.come_back()
        assert names_of(await heard(subscription, 1)) == ["b"]
        first.bus.come_back()
        publish(first.hub, "c")
        assert names_of(await heard(subscription, 1)) == ["c"]


async def test_notice_that_is_lost_is_made_good_by_the_next(
    mongodb: str, database_name: str
) -> None:
    async with several_nodes(mongodb, database_name, 2) as (first, second):
        subscription = await second.listen()
        first.bus.go_away()
        publish(first.hub, "a")
        await settled(first.hub)
        first.bus.is_connected = True  # without saying that it is back
        publish(first.hub, "b")
        assert names_of(await heard(subscription, 2)) == ["a", "b"]


async def test_batch_that_does_not_fit_a_notice_is_read(mongodb: str, database_name: str) -> None:
    async with several_nodes(mongodb, database_name, 2) as (first, second):
        subscription = await second.listen()
        long = "x" * 100_000
        publish(first.hub, *(f"{number}-{long}" for number in range(4)))
        told = await heard(subscription, 4)
        assert [str(event.machine_id)[:2] for event in told] == ["0-", "1-", "2-", "3-"]


async def test_what_is_no_notice_harms_nobody(mongodb: str, database_name: str) -> None:
    async with several_nodes(mongodb, database_name, 2) as (first, second):
        subscription = await second.listen()
        subject = f"test.events.{ORGANIZATION.hex}"
        for message in (b"", b"[]", b'{"number": 9, "count": "x"}', b"\xff"):
            first.bus.publish(subject, message)
        publish(first.hub, "a")
        assert names_of(await heard(subscription, 1)) == ["a"]


async def test_what_does_not_fit_any_more_is_told_as_one_reset(
    mongodb: str, database_name: str
) -> None:
    async with several_nodes(mongodb, database_name, 2, outbox=10) as (first, second):
        subscription = await second.listen()
        publish(first.hub, *(str(number) for number in range(11)))
        publish(first.hub, "later")
        told = await heard(subscription, 2)
        assert [event.type for event in told] == ["reset", "machine_removed"]
        assert told[1].machine_id == "later"
        assert b"more happened" in told[0].data


async def test_what_waits_in_all_organizations_together_is_bounded(
    mongodb: str, database_name: str
) -> None:
    async with several_nodes(mongodb, database_name, 1, room=10) as (node,):
        mine = await node.listen()
        other = await node.hub.subscribe(OTHER_ORGANIZATION, None, everything)
        publish(node.hub, *(str(number) for number in range(10)))
        publish(node.hub, "x", organization_id=OTHER_ORGANIZATION)
        assert len(await heard(mine, 10)) == 10
        (told,) = await heard(other, 1)
        assert told.type == "reset"
        await settled(node.hub)
        publish(node.hub, "y", organization_id=OTHER_ORGANIZATION)
        assert names_of(await heard(other, 1)) == ["y"]


async def test_organization_with_events_that_wait_is_not_forgotten(
    mongodb: str, database_name: str
) -> None:
    async with several_nodes(mongodb, database_name, 2, organizations=1) as (first, second):
        subscription = await second.listen()
        publish(first.hub, "a")
        publish(first.hub, "x", organization_id=OTHER_ORGANIZATION)
        assert names_of(await heard(subscription, 1)) == ["a"]
        await settled(first.hub)
        for number in range(3, 6):
            publish(first.hub, "y", organization_id=UUID(int=number))
            await settled(first.hub)
        assert len(first.hub._channels) == 1
        publish(first.hub, "b")
        assert names_of(await heard(subscription, 1)) == ["b"]


async def test_organization_that_somebody_just_subscribes_to_is_not_forgotten(
    mongodb: str, database_name: str
) -> None:
    async def publish_elsewhere(hub: SharedEventHub) -> None:
        await asyncio.sleep(0)  # The subscriber asks the database just now.
        publish(hub, "x", organization_id=OTHER_ORGANIZATION)

    async with several_nodes(mongodb, database_name, 2, organizations=1) as (first, second):
        subscription, _ = await asyncio.gather(first.listen(), publish_elsewhere(first.hub))
        publish(second.hub, "a")
        assert names_of(await heard(subscription, 1)) == ["a"]


async def test_more_than_fits_a_batch_goes_in_several(mongodb: str, database_name: str) -> None:
    many = 2 * MAX_BATCH_EVENTS + 1
    async with several_nodes(mongodb, database_name, 2, queue=many) as (first, second):
        subscription = await second.listen()
        publish(first.hub, *(str(number) for number in range(many)))
        assert names_of(await heard(subscription, many)) == [str(each) for each in range(many)]
        assert len(await first.log.since(ORGANIZATION, 0)) == 3


async def test_last_events_of_a_node_that_ends_are_heard(mongodb: str, database_name: str) -> None:
    async with several_nodes(mongodb, database_name, 2) as (first, second):
        own, other = await first.listen(), await second.listen()
        first.hub.close()
        publish(first.hub, "a")
        await first.hub.finish(30)
        assert (first.hub.is_closed, own.is_closed) == (True, True)
        assert names_of(await heard(other, 1)) == ["a"]


async def test_node_without_subscribers_looks_for_nothing(mongodb: str, database_name: str) -> None:
    async with several_nodes(mongodb, database_name, 2) as (first, second):
        counted: list[str] = []
        second.database.on_operation = lambda _: counted.append("operation")
        await until(lambda: counted)  # it has emptied what is old
        begun = len(counted)
        publish(first.hub, "a")
        await settled(first.hub)
        second.bus.go_away()
        second.bus.come_back()
        await asyncio.sleep(0.1)
        assert len(counted) == begun


async def test_reset_comes_where_the_log_does_not_go_back_that_far(
    mongodb: str, database_name: str
) -> None:
    """For a subscriber that is here, and for one that comes back."""
    async with several_nodes(mongodb, database_name, 3, history=5) as (first, second, third):
        subscription = await second.listen()
        publish(first.hub, "a")
        (told,) = await heard(subscription, 1)
        with held_up(EventLog, "with_more") as looking:
            second.bus.go_away()
            publish(first.hub, *(str(number) for number in range(2 * MAX_BATCH_EVENTS)))
            await forget_all_but_newest(first)
            assert (await third.listen(subscription.id_of(told.number))).must_reset
            # It looks not before, and so misses what is gone by then.
            looking.may_begin.set()
            (reset,) = await heard(subscription, 1)
            assert reset.type == "reset"
        second.bus.come_back()
        publish(first.hub, "b")
        assert names_of(await heard(subscription, 1)) == ["b"]


async def forget_all_but_newest(node: Node) -> None:
    """Wait until all is in the log, and leave there what a trimming leaves after a long time."""
    await settled(node.hub)
    newest = await node.log.newest(ORGANIZATION)
    begin = await node.log.beginning_of(ORGANIZATION, newest)
    assert begin is not None
    last = ORGANIZATION.bytes + begin.to_bytes(8)
    await node.database.collection("events").delete_many({"_id": {"$lt": last}})
