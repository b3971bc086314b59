"""Links that move from node to node, and what the database knows of them."""

import asyncio
import json
from typing import Any
from uuid import UUID

import pytest

from server.dispatch.forwarding import membership
from server.errors import StoreUnavailable
from server.events.event import Subscription
from server.store.machines.documents import ClientSummary, LinkFacts
from server.store.machines.machines import MachineStore
from tests.links import hello
from tests.nodes import at, reached, until_reached
from tests.service import PATIENCE_SECONDS, Service, new_key, until


@pytest.fixture(autouse=True)
def _looking_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(membership, "STATE_SECONDS", 0.1)


async def told(subscription: Subscription, state: str) -> str:
    """Wait until a machine is told to be in a state; the reason."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            await subscription.wait(1)
            for event in subscription.take(100):
                machine = json.loads(event.data)
                if machine["state"] == state:
                    return str(machine["reason"])


def machines_of(node: Service) -> MachineStore:
    """The machines as a node stores them."""
    return node.stores.machines


async def test_link_that_was_taken_for_ended_is_found_again(nodes: list[Service]) -> None:
    here, there = nodes
    async with reached(nodes) as (machine, link):
        node_id = here.server.services.cluster.node.node_id
        await machines_of(there).end_links_of(node_id, "its node is gone")
        there.server.services.cluster.elsewhere._addresses._known.clear()
        await until_reached(there, machine)
        await link.obeys(at(there, machine).moving(new_key()))


async def test_link_gives_way_to_one_that_the_database_counted_late(nodes: list[Service]) -> None:
    _, there = nodes
    async with reached(nodes) as (machine, link):
        facts = LinkFacts(there.server.services.cluster.node.node_id, "b")
        client = ClientSummary("linux", "0", ())
        await machines_of(there).begin_link(there.organization_id, "desk-1", client, facts)
        code, reason = await link.closed()
        assert "took over" in reason, code
    await machine.until_closed()
    async with machine.connected():
        await until_reached(there, machine)


async def test_link_that_ends_while_it_is_stated_has_ended(
    nodes: list[Service], monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = nodes
    monkeypatch.setattr(membership, "STATE_SECONDS", 1000.0)
    machine = await here.new_machine()
    cluster = here.server.services.cluster
    store, stated = cluster.membership._machines, []
    link_again = store.link_again

    async def is_linked() -> bool:
        stored = await machines_of(there).get(here.organization_id, "desk-1")
        assert stored is not None
        return stored.is_linked

    async with machine.connected() as link:
        await until_reached(there, machine)

        async def ends_meanwhile(*facts: Any) -> bool:
            await link.websocket.close()
            await machine.until_closed()
            stated.append(await link_again(*facts))
            return stated[-1]

        monkeypatch.setattr(store, "link_again", ends_meanwhile)
        await machines_of(there).end_links_of(cluster.node.node_id, "its node is gone")
        cluster.membership.announce_links()
        await until(lambda: stated)
        assert stated == [True]
        async with asyncio.timeout(PATIENCE_SECONDS):
            while await is_linked():
                pass


async def test_links_are_stated_as_soon_as_the_database_answers(
    nodes: list[Service], monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = nodes
    monkeypatch.setattr(membership, "STATE_SECONDS", 1000.0)
    monkeypatch.setattr(membership, "ANNOUNCE_AGAIN_SECONDS", 0.01)
    async with reached(nodes) as (machine, _):
        cluster = here.server.services.cluster
        store, failures = cluster.membership._machines, 0
        linked_to = store.linked_to

        async def fails_twice(node_id: UUID) -> object:
            nonlocal failures
            failures += 1
            if failures < 3:
                raise StoreUnavailable("out")
            return await linked_to(node_id)

        monkeypatch.setattr(store, "linked_to", fails_twice)
        await machines_of(there).end_links_of(cluster.node.node_id, "its node is gone")
        there.server.services.cluster.elsewhere._addresses._known.clear()
        cluster.membership.announce_links()
        await until_reached(there, machine)
        assert failures == 3


async def test_link_that_moves_is_found_where_it_is(nodes: list[Service]) -> None:
    here, there = nodes
    async with reached(nodes) as (machine, first), at(there, machine).connected() as second:
        code, reason = await first.closed()
        assert code == 4006, reason
        await until_reached(here, machine)
        for node in nodes:
            await second.obeys(at(node, machine).moving(new_key()))
        view = (await here.get("/v1/machines/desk-1")).json
        assert (view["state"], view["node"]) == ("online", "b")
        assert "took over" in view["reason"]


async def test_machines_of_a_node_that_is_gone_are_offline_and_told_so(
    nodes: list[Service], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(membership, "STATE_SECONDS", 1000.0)
    here, there = nodes
    here.server.services.cluster.membership.announce_links()
    async with reached(nodes):
        gone = here.server.services.cluster.presence.node
        (record,) = there.server.services.cluster.presence.others
        assert record.node_id == gone.node_id
        subscription = await there.server.services.events.subscribe(
            there.organization_id, None, lambda event: event.type == "machine"
        )
        await there.server.services.cluster.membership.gone(record)
        stored = await there.stores.machines.get(there.organization_id, "desk-1")
        assert stored is not None
        assert (stored.is_linked, stored.reason) == (
            False,
            "the node a, which it was connected to, is gone",
        )
        assert await told(subscription, "offline") == stored.reason
        # It was not gone after all, finds that out, and says so.
        here.server.services.cluster.membership.announce_links()
        assert await told(subscription, "online") == "connected"
        view = (await there.get("/v1/machines/desk-1")).json
        assert (view["state"], view["node"]) == ("online", "a")


async def test_client_that_yields_leaves_the_link_to_the_one_on_another_node(
    nodes: list[Service],
) -> None:
    _, there = nodes
    async with reached(nodes) as (machine, link):
        greeting = hello().model_copy(update={"yields": True})
        greeting = greeting.model_copy(update={"boot_id": "a clone's", "host": "till-2"})
        async with at(there, machine).opened(greeting) as late:
            assert (await late.closed())[0] == 4006
        told = (await there.get("/v1/machines/desk-1")).json["reason"]
        assert told.startswith("connected, but another host comes with its token (till-2)")
        await link.obeys(machine.moving())


async def test_links_are_compared_where_their_number_or_epochs_differ_and_now_and_then(
    nodes: list[Service], monkeypatch: pytest.MonkeyPatch
) -> None:
    here, _ = nodes
    async with here.joined() as (machine, _):
        await machine.until_live()
        known = here.server.services.cluster.membership
        assert await known._seems_right()
        stored = (await known._machines.count_linked_to(known._node_id))[1]
        for other in ((0, 0), (2, stored), (1, stored + 1)):

            async def wrong(_: UUID, other: tuple[int, int] = other) -> tuple[int, int]:
                return other

            with monkeypatch.context() as patch:
                patch.setattr(known._machines, "count_linked_to", wrong)
                assert not await known._seems_right()
        compared, state = 0, membership.Membership._announce_missing_links

        async def counted(each: membership.Membership) -> None:
            nonlocal compared
            compared += each is known
            await state(each)

        monkeypatch.setattr(membership, "STATE_SECONDS", 0.01)
        monkeypatch.setattr(membership.Membership, "_announce_missing_links", counted)
        known.announce_links()
        await until(lambda: compared >= 3)
