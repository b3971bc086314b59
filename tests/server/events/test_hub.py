"""The hub alone: who hears what, who is dropped, and what is told to those who come back."""

import asyncio
from uuid import UUID

import pytest

from schemas.resources.events import MachineRemoved
from server.events.hub import Event, EventHub, Subscription, TooManySubscribersError
from tests.store import ORGANIZATION, OTHER_ORGANIZATION, async_test


def everything(_: Event) -> bool:
    """Wants every event."""
    return True


def publish(hub: EventHub, *names: str, organization_id: UUID = ORGANIZATION) -> None:
    """Tell of machines of these names."""
    for name in names:
        hub.publish(organization_id, "machine_removed", MachineRemoved(id=name), name)


def names(subscription: Subscription) -> list[str | None]:
    """What a subscriber takes, by the machines' names."""
    return [event.machine_id for event in subscription.take(100)]


@async_test
async def test_subscriber_hears_what_is_published_from_then_on() -> None:
    hub = EventHub()
    publish(hub, "before")
    subscription = hub.subscribe(ORGANIZATION, None, everything)
    publish(hub, "a", "b")
    (first, second) = subscription.take(100)
    assert (first.type, first.data) == ("machine_removed", b'{"id":"a"}')
    assert second.machine_id == "b"
    assert names(subscription) == []


@async_test
async def test_another_organization_hears_nothing() -> None:
    hub = EventHub()
    other = hub.subscribe(OTHER_ORGANIZATION, None, everything)
    publish(hub, "a")
    assert names(other) == []


@async_test
async def test_only_what_is_wanted_is_told() -> None:
    hub = EventHub()
    subscription = hub.subscribe(ORGANIZATION, None, lambda event: event.machine_id == "b")
    publish(hub, "a", "b", "c")
    assert names(subscription) == ["b"]


@async_test
async def test_wait_ends_with_an_event_and_with_its_time() -> None:
    hub = EventHub()
    subscription = hub.subscribe(ORGANIZATION, None, everything)
    await subscription.wait(0.01)
    assert names(subscription) == []
    asyncio.get_running_loop().call_later(0.01, publish, hub, "a")
    await subscription.wait(30)
    assert names(subscription) == ["a"]


@async_test
async def test_who_comes_back_hears_what_was_missed() -> None:
    hub = EventHub()
    subscription = hub.subscribe(ORGANIZATION, None, everything)
    publish(hub, "a", "b", "c")
    (first,) = subscription.take(1)
    last_id = subscription.id_of(first.number)
    subscription.close()
    publish(hub, "d")
    again = hub.subscribe(ORGANIZATION, last_id, everything)
    publish(hub, "e")
    assert not again.must_reset
    assert names(again) == ["b", "c", "d", "e"]


@async_test
async def test_id_of_a_subscriber_is_what_it_has_heard_and_not_what_waits() -> None:
    hub = EventHub()
    subscription = hub.subscribe(ORGANIZATION, None, lambda event: event.machine_id != "x")
    publish(hub, "a", "b", "x")
    subscription.take(1)
    again = hub.subscribe(ORGANIZATION, subscription.id_of(subscription.last_number), everything)
    assert names(again) == ["b", "x"]
    subscription.take(1)
    again = hub.subscribe(ORGANIZATION, subscription.id_of(subscription.last_number), everything)
    assert names(again) == []


@pytest.mark.parametrize("forgotten", ["", "-", "abc", "abc-1", "{tag}-", "{tag}-x", "{tag}-99"])
@async_test
async def test_id_that_is_not_known_means_reset(forgotten: str) -> None:
    hub = EventHub()
    subscription = hub.subscribe(ORGANIZATION, None, everything)
    publish(hub, "a")
    last_id = forgotten.format(tag=subscription.id_of(1).partition("-")[0])
    again = hub.subscribe(ORGANIZATION, last_id, everything)
    assert again.must_reset
    publish(hub, "b")
    assert names(again) == ["b"]


@async_test
async def test_only_so_many_events_are_kept() -> None:
    hub = EventHub(history=2)
    subscription = hub.subscribe(ORGANIZATION, None, everything)
    publish(hub, "a", "b", "c")
    assert hub.subscribe(ORGANIZATION, subscription.id_of(0), everything).must_reset
    assert names(hub.subscribe(ORGANIZATION, subscription.id_of(1), everything)) == ["b", "c"]


@async_test
async def test_id_of_an_earlier_life_or_another_organization_means_reset() -> None:
    hub, later = EventHub(), EventHub()
    last_id = hub.subscribe(ORGANIZATION, None, everything).id_of(0)
    assert later.subscribe(ORGANIZATION, last_id, everything).must_reset
    assert hub.subscribe(OTHER_ORGANIZATION, last_id, everything).must_reset


@async_test
async def test_slow_subscriber_is_dropped_and_the_others_are_not() -> None:
    hub = EventHub(queue=2)
    slow = hub.subscribe(ORGANIZATION, None, everything)
    quick = hub.subscribe(ORGANIZATION, None, everything)
    publish(hub, "a", "b")
    assert names(quick) == ["a", "b"]
    publish(hub, "c")
    assert (slow.is_dropped, slow.is_closed, names(slow)) == (True, True, [])
    assert (quick.is_dropped, names(quick)) == (False, ["c"])
    assert (hub.dropped, hub.subscribers) == (1, 1)


@async_test
async def test_only_so_many_may_listen() -> None:
    hub = EventHub(subscribers=1)
    first = hub.subscribe(ORGANIZATION, None, everything)
    with pytest.raises(TooManySubscribersError):
        hub.subscribe(ORGANIZATION, None, everything)
    hub.subscribe(OTHER_ORGANIZATION, None, everything)
    first.close()
    hub.subscribe(ORGANIZATION, None, everything)


@async_test
async def test_organization_that_nobody_listens_to_is_forgotten_first() -> None:
    hub = EventHub(organizations=2)
    kept = hub.subscribe(ORGANIZATION, None, everything)
    gone = hub.subscribe(OTHER_ORGANIZATION, None, everything)
    gone.close()
    publish(hub, "x", organization_id=UUID(int=7))
    assert hub.subscribe(OTHER_ORGANIZATION, gone.id_of(0), everything).must_reset
    assert not hub.subscribe(ORGANIZATION, kept.id_of(0), everything).must_reset


@async_test
async def test_closed_hub_ends_every_subscription() -> None:
    hub = EventHub()
    early = hub.subscribe(ORGANIZATION, None, everything)
    hub.close()
    await early.wait(30)
    assert early.is_closed
    assert hub.subscribe(ORGANIZATION, None, everything).is_closed
