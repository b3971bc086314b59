"""What the other nodes have to do with the links of this one."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Final
from uuid import UUID

from server.bus.bus import Bus, Registration
from server.bus.subjects import Subjects
from server.dispatch.forwarding.elsewhere import MachinesElsewhere
from server.dispatch.forwarding.responder import Responder
from server.dispatch.questions.control import FindLink
from server.errors import StoreUnavailable
from server.machines.link.rivals import Rival
from server.machines.registry import LinkRegistry
from server.machines.socket import LinkSocket
from server.store.machines.documents import Machine
from server.store.machines.machines import MachineStore
from server.store.presence import NodeRecord
from server.tasks import at_most

STATE_SECONDS: Final = 10.0
"""How often a node looks whether the database knows its links."""

COMPARE_EVERY: Final = 6
"""At every so many looks each link is compared; at the others their number and their epochs' sum,
for which none has to be read."""

ANNOUNCE_AGAIN_SECONDS: Final = 1.0
"""How soon it looks again where the database does not answer."""


class Membership:
    """Tells the other nodes which links are here, and which of theirs are not any more.

    ``on_changed`` is told of machines whose node is gone.
    """

    def __init__(
        self,
        bus: Bus,
        subjects: Subjects,
        node_id: UUID,
        elsewhere: MachinesElsewhere,
        registry: LinkRegistry,
        machines: MachineStore,
        on_changed: Callable[[UUID, str], None],
    ) -> None:
        self._bus = bus
        self._subjects = subjects
        self._node_id = node_id
        self._elsewhere = elsewhere
        self._registry = registry
        self._machines = machines
        self._on_changed = on_changed
        self._responder: Responder | None = None
        self._must_announce = asyncio.Event()
        self._answered: dict[LinkSocket | None, Registration] = {}

    def begin(self, responder: Responder) -> None:
        """Have it reply to the other nodes, from now on."""
        self._responder = responder
        subject = self._subjects.node(self._node_id)
        self._answered[None] = self._bus.answer(subject, responder.respond_for_node)

    def link_came_up(self, link: LinkSocket) -> None:
        """Answer for a link from now on."""
        if self._responder is None:
            return
        subject = self._subjects.link(link.organization_id, link.machine_id, link.epoch)
        respond = partial(self._responder.respond_for_link, link)
        self._answered[link] = self._bus.answer(subject, respond)

    def link_closed(self, link: LinkSocket) -> None:
        """Answer for a link no more."""
        registration = self._answered.pop(link, None)
        if registration is not None:
            registration.close()

    async def has_link(self, organization_id: UUID, machine_id: str, rival: Rival) -> bool:
        """Whether another node has a link of the machine, which is told of the rival then."""
        question = FindLink(organization_id=organization_id, machine_id=machine_id, rival=rival)
        return await self._elsewhere.tell(question)

    async def give_way(self, machine: Machine) -> bool:
        """Have the node of a machine's earlier link close that; whether it was up until now."""
        link = machine.link
        if link is None or link.earlier_node_id in (None, self._node_id):
            return False
        return await self._elsewhere.give_way(
            link.earlier_node_id, machine.organization_id, machine.machine_id, machine.epoch
        )

    async def gone(self, node: NodeRecord) -> None:
        """Another node is gone, and so are the links that it had."""
        ended = await self._machines.end_links_of(
            node.node_id, f"the node {node.name}, which it was connected to, is gone"
        )
        for organization_id, machine_id in ended:
            self._on_changed(organization_id, machine_id)

    def announce_links(self) -> None:
        """Have it be said again which links are here, after nobody could be told for a while."""
        self._must_announce.set()

    async def keep_links_announced(self) -> None:
        """Keep the database right about which links are here, for ever.

        It may be wrong: others took this node for gone, or a write that was given up came late.
        """
        looks = 0
        while True:
            must_announce = looks % COMPARE_EVERY == 0 or self._must_announce.is_set()
            self._must_announce.clear()
            try:
                if must_announce or not await self._seems_right():
                    await self._announce_missing_links()
            except StoreUnavailable:
                looks = 0
                await asyncio.sleep(ANNOUNCE_AGAIN_SECONDS)
                continue
            looks += 1
            await at_most(STATE_SECONDS, self._must_announce.wait())

    async def _seems_right(self) -> bool:
        """Whether the database knows as many links as are here, with epochs that add up alike."""
        stored = await self._machines.count_linked_to(self._node_id)
        epochs = [link.epoch for link in self._registry if link.is_up]
        return stored == (len(epochs), sum(epochs))

    async def _announce_missing_links(self) -> None:
        """Say of each link that it is here, where the database does not know it, and the other way.

        One that is not its machine's newest any more gives way.
        """
        known = await self._machines.linked_to(self._node_id)
        links = [link for link in self._registry if link.is_up]
        for link in links:
            key = link.organization_id, link.machine_id
            if known.get(key) == link.epoch or not link.is_up:
                continue
            if not await self._machines.link_again(*key, link.epoch, self._node_id):
                link.give_way()
                continue
            if not link.is_up:
                # It ended meanwhile, which may have been noted before.
                await self._machines.end_link(*key, link.epoch, link.over_reason)
            self._on_changed(*key)
        for key, epoch in known.items():
            if not self._registry.links_of(*key):
                await self._machines.end_link(*key, epoch, "it ended, which was not noted in time")
                self._on_changed(*key)

    def close(self) -> None:
        """Answer nobody any more."""
        self._responder = None
        for registration in self._answered.values():
            registration.close()
        self._answered.clear()
