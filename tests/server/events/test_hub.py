"""What every hub does: who hears what, who is dropped, and what is told to those who come back."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any
from uuid import UUID

import pytest
from pydantic import BaseModel

from schemas.resources.events import EventType, MachineRemoved
from server.events.event import Subscription
from server.events.hub import EventHub, TooManySubscribersError
from tests.event_hubs import everything, heard, names_of, one_hub, publish, settled
from tests.store import ORGANIZATION, OTHER_ORGANIZATION

MakeHub = Callable[..., AbstractAsyncContextManager[EventHub]]


@pytest.fixture(params=["memory", "shared"])
def hub_of(request: pytest.FixtureRequest, mongodb: str, database_name: str) -> MakeHub:
    """Makes a hub of each kind."""

    def make(**settings: Any) -> AbstractAsyncContextManager[EventHub]:
        return one_hub(request.param, mongodb, database_name, **settings)

    return make


async def names(hub: EventHub, subscription: Subscription) -> list[str | None]:
    """What a subscriber takes of what was published, by the machines' names."""
    await settled(hub)
    return names_of(subscription.take(100))


async def test_subscriber_hears_what_is_published_from_then_on(hub_of: MakeHub) -> None:
    async with hub_of() as hub:
        publish(hub, "before")
        await settled(hub)
        subscription = await hub.subscribe(ORGANIZATION, None, everything)
        publish(hub, "a", "b")
        (first, second) = await heard(subscription, 2)
        assert (first.type, first.data) == ("machine_removed", b'{"id":"a"}')
        assert second.machine_id == "b"
        assert await names(hub, subscription) == []


async def test_another_organization_hears_nothing(hub_of: MakeHub) -> None:
    async with hub_of() as hub:
        other = await hub.subscribe(OTHER_ORGANIZATION, None, everything)
        publish(hub, "a")
        assert await names(hub, other) == []


async def test_only_what_is_wanted_is_told(hub_of: MakeHub) -> None:
    async with hub_of() as hub:
        subscription = await hub.subscribe(
            ORGANIZATION, None, lambda event: event.machine_id == "b"
        )
        publish(hub, "a", "b", "c")
        assert await names(hub, subscription) == ["b"]


async def test_machine_is_told_as_it_is_read(hub_of: MakeHub) -> None:
    async def read() -> tuple[EventType, BaseModel]:
        return "machine_removed", MachineRemoved(id="desk-1")

    async with hub_of() as hub:
        subscription = await hub.subscribe(ORGANIZATION, None, everything)
        await hub.publish_machine(ORGANIZATION, "desk-1", read)
        (told,) = await heard(subscription, 1)
        assert (told.type, told.machine_id) == ("machine_removed", "desk-1")
        assert told.data == b'{"id":"desk-1"}'


async def test_wait_ends_with_an_event_and_with_its_time(hub_of: MakeHub) -> None:
    async with hub_of() as hub:
        subscription = await hub.subscribe(ORGANIZATION, None, everything)
        await subscription.wait(0.01)
        assert await names(hub, subscription) == []
        asyncio.get_running_loop().call_later(0.01, publish, hub, "a")
        await subscription.wait(30)
        assert await names(hub, subscription) == ["a"]


async def test_who_comes_back_hears_what_was_missed(hub_of: MakeHub) -> None:
    async with hub_of() as hub:
        subscription = await hub.subscribe(ORGANIZATION, None, everything)
        publish(hub, "a", "b", "c")
        (first,) = await heard(subscription, 1)
        last_id = subscription.id_of(first.number)
        subscription.close()
        publish(hub, "d")
        await settled(hub)
        again = await hub.subscribe(ORGANIZATION, last_id, everything)
        publish(hub, "e")
        assert not again.must_reset
        assert await names(hub, again) == ["b", "c", "d", "e"]


async def test_id_of_a_subscriber_is_what_it_has_heard_and_not_what_waits(hub_of: MakeHub) -> None:
    async with hub_of() as hub:
        subscription = await hub.subscribe(
            ORGANIZATION, None, lambda event: event.machine_id != "x"
        )
        publish(hub, "a", "b", "x")
        await settled(hub)
        subscription.take(1)
        last_id = subscription.id_of(subscription.last_number)
        again = await hub.subscribe(ORGANIZATION, last_id, everything)
        assert await names(hub, again) == ["b", "x"]
        subscription.take(1)
        last_id = subscription.id_of(subscription.last_number)
        again = await hub.subscribe(ORGANIZATION, last_id, everything)
        assert await names(hub, again) == []


@pytest.mark.parametrize(
    "forgotten", ["", "-", "abc", "abc-1", "{tag}-", "{tag}-x", "{tag}-99", f"{{tag}}-{9**50}"]
)
async def test_id_that_is_not_known_means_reset(hub_of: MakeHub, forgotten: str) -> None:
    async with hub_of() as hub:
        subscription = await hub.subscribe(ORGANIZATION, None, everything)
        publish(hub, "a")
        await settled(hub)
        last_id = forgotten.format(tag=subscription.id_of(1).partition("-")[0])
        again = await hub.subscribe(ORGANIZATION, last_id, everything)
        assert again.must_reset
        publish(hub, "b")
        assert await names(hub, again) == ["b"]


async def test_only_so_many_events_are_kept(hub_of: MakeHub) -> None:
    async with hub_of(history=2) as hub:
        subscription = await hub.subscribe(ORGANIZATION, None, everything)
        publish(hub, "a", "b", "c")
        await settled(hub)
        first, second = subscription.id_of(0), subscription.id_of(1)
        assert (await hub.subscribe(ORGANIZATION, first, everything)).must_reset
        again = await hub.subscribe(ORGANIZATION, second, everything)
        assert await names(hub, again) == ["b", "c"]


async def test_id_of_another_organization_means_reset(hub_of: MakeHub) -> None:
    async with hub_of() as hub:
        last_id = (await hub.subscribe(ORGANIZATION, None, everything)).id_of(0)
        assert (await hub.subscribe(OTHER_ORGANIZATION, last_id, everything)).must_reset


async def test_slow_subscriber_is_dropped_and_the_others_are_not(hub_of: MakeHub) -> None:
    async with hub_of(queue=2) as hub:
        slow = await hub.subscribe(ORGANIZATION, None, everything)
        quick = await hub.subscribe(ORGANIZATION, None, everything)
        publish(hub, "a", "b")
        assert await names(hub, quick) == ["a", "b"]
        publish(hub, "c")
        assert await names(hub, slow) == []
        assert (slow.is_dropped, slow.is_closed) == (True, True)
        assert not quick.is_dropped
        assert await names(hub, quick) == ["c"]
        assert (hub.dropped, hub.subscribers) == (1, 1)


async def test_only_so_many_may_listen(hub_of: MakeHub) -> None:
    async with hub_of(subscribers=1) as hub:
        first = await hub.subscribe(ORGANIZATION, None, everything)
        with pytest.raises(TooManySubscribersError):
            await hub.subscribe(ORGANIZATION, None, everything)
        await hub.subscribe(OTHER_ORGANIZATION, None, everything)
        first.close()
        await hub.subscribe(ORGANIZATION, None, everything)


async def test_organization_with_subscribers_is_never_forgotten(hub_of: MakeHub) -> None:
    async with hub_of(organizations=1) as hub:
        kept = await hub.subscribe(ORGANIZATION, None, everything)
        publish(hub, "x", organization_id=UUID(int=7))
        await settled(hub)
        publish(hub, "a")
        assert await names(hub, kept) == ["a"]


async def test_closed_hub_ends_every_subscription(hub_of: MakeHub) -> None:
    async with hub_of() as hub:
        early = await hub.subscribe(ORGANIZATION, None, everything)
        hub.close()
        await early.wait(30)
        assert early.is_closed
        assert (await hub.subscribe(ORGANIZATION, None, everything)).is_closed
        await hub.finish(30)
        assert hub.is_closed
        publish(hub, "late")
