"""What machines are like now, on whichever node their links are."""

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from uuid import UUID

from server.clock import milliseconds
from server.dispatch.forwarding.elsewhere import MachinesElsewhere
from server.dispatch.here.links import LinksHere
from server.dispatch.questions.nodes import LiveMachine
from server.store.machines.documents import LinkFacts
from server.store.machines.documents import Machine as StoredMachine


class LiveMachines:
    """Looks at the links of this node, and asks each other node once for all of its machines."""

    def __init__(self, here: LinksHere, elsewhere: MachinesElsewhere, node_id: UUID) -> None:
        self._here = here
        self._elsewhere = elsewhere
        self._node_id = node_id

    async def of(
        self, organization_id: UUID, machines: Sequence[StoredMachine]
    ) -> dict[str, LiveMachine]:
        """Those of these machines that have a link, by their ids."""
        found = self._here.of(organization_id, [each.machine_id for each in machines])
        nodes: defaultdict[UUID, list[tuple[StoredMachine, LinkFacts]]] = defaultdict(list)
        for each in machines:
            link, here = each.link, found.get(each.machine_id)
            # A link that is ending here may have a newer one elsewhere.
            if each.is_linked and link is not None and (here is None or here.node is None):
                nodes[link.node_id].append((each, link))
        # What this node knows nothing of has just ended here.
        nodes.pop(self._node_id, None)
        described = await asyncio.gather(
            *(self._of_node(organization_id, node_id, there) for node_id, there in nodes.items())
        )
        for of_node in described:
            found |= of_node
        return found

    async def _of_node(
        self, organization_id: UUID, node_id: UUID, there: list[tuple[StoredMachine, LinkFacts]]
    ) -> dict[str, LiveMachine]:
        ids = [each.machine_id for each, _ in there]
        described = await self._elsewhere.describe(node_id, organization_id, ids)
        if described is None:
            return {each.machine_id: _unreachable(each, link) for each, link in there}
        return described


def _unreachable(machine: StoredMachine, link: LinkFacts) -> LiveMachine:
    return LiveMachine(
        state="offline",
        reason=f"connected to the node {link.node_name}, which cannot be reached from here",
        since=milliseconds(machine.state_since),
        node=link.node_name,
    )
