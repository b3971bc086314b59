"""What only the hub of a node alone does; the rest is in test_hub.py."""

from uuid import UUID

import pytest

from server.errors import StoreUnavailable
from server.events.memory_hub import MemoryEventHub
from tests.event_hubs import everything, names_of, publish
from tests.store import ORGANIZATION, OTHER_ORGANIZATION


async def test_id_of_an_earlier_life_means_reset() -> None:
    hub, later = MemoryEventHub(), MemoryEventHub()
    last_id = (await hub.subscribe(ORGANIZATION, None, everything)).id_of(0)
    assert (await later.subscribe(ORGANIZATION, last_id, everything)).must_reset


async def test_organization_that_nobody_listens_to_is_forgotten_first() -> None:
    hub = MemoryEventHub(organizations=2)
    kept = await hub.subscribe(ORGANIZATION, None, everything)
    gone = await hub.subscribe(OTHER_ORGANIZATION, None, everything)
    gone.close()
    publish(hub, "x", organization_id=UUID(int=7))
    again = await hub.subscribe(OTHER_ORGANIZATION, gone.id_of(0), everything)
    assert again.must_reset
    assert not (await hub.subscribe(ORGANIZATION, kept.id_of(0), everything)).must_reset


async def test_event_is_there_at_once_and_what_cannot_be_read_is_for_the_caller() -> None:
    async def read() -> tuple[object, object]:
        raise StoreUnavailable("The database does not answer.")

    hub = MemoryEventHub()
    subscription = await hub.subscribe(ORGANIZATION, None, everything)
    with pytest.raises(StoreUnavailable):
        await hub.publish_machine(ORGANIZATION, "desk-1", read)  # type: ignore[arg-type]
    publish(hub, "a")
    assert names_of(subscription.take(10)) == ["a"]
