"""Which link another node is asked for."""

from uuid import UUID, uuid4

import pytest

from server.bus.bus import NoResponderError
from server.dispatch.forwarding import addresses as module
from server.dispatch.forwarding.addresses import LinkAddresses
from server.store.machines.documents import ClientSummary, LinkFacts
from server.store.machines.machines import MachineStore
from tests.store import ORGANIZATION

HERE, THERE = UUID(int=1), UUID(int=2)
CLIENT = ClientSummary("Linux", "1", ())
DESK = (ORGANIZATION, "desk")


async def test_newest_link_is_found_and_remembered(machines: MachineStore) -> None:
    addresses = LinkAddresses(machines, HERE)
    for key in (DESK, (uuid4(), "desk")):
        with pytest.raises(NoResponderError):
            await addresses.find(key)
    await machines.create(*DESK, "d")
    with pytest.raises(NoResponderError):
        await addresses.find(DESK)
    await machines.begin_link(*DESK, CLIENT, LinkFacts(THERE, "there"))
    assert await addresses.find(DESK) == 1
    await machines.begin_link(*DESK, CLIENT, LinkFacts(THERE, "there"))
    # Remembered, until the one who asks has found out that it is over.
    assert await addresses.find(DESK) == 1
    assert await addresses.find(DESK, but=1) == 2
    with pytest.raises(NoResponderError):
        await addresses.find(DESK, but=2)
    await machines.begin_link(*DESK, CLIENT, LinkFacts(HERE, "here"))
    with pytest.raises(NoResponderError):
        await addresses.find(DESK)
    await machines.end_link(*DESK, 3, "over")
    with pytest.raises(NoResponderError):
        await addresses.find(DESK)


async def test_no_more_are_remembered_than_there_is_room_for(
    machines: MachineStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_KNOWN", 2)
    addresses = LinkAddresses(machines, HERE)
    for name in ("a", "b", "c"):
        await machines.create(ORGANIZATION, name, name)
        await machines.begin_link(ORGANIZATION, name, CLIENT, LinkFacts(THERE, "there"))
        await addresses.find((ORGANIZATION, name))
    assert len(addresses._known) == 2
