"""What machines are like now, on whichever node their links are."""

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from uuid import UUID

from server.clock import milliseconds
from server.dispatch.forwarding.elsewhere import MachinesElsewhere
from server.dispatch.here.links import LinksHere
from server.dispatch.questions.nodes import LiveMachine
from server.store.machines.documents import LinkFacts
from server.store.machines.documents import Machine as StoredMachine


@dataclass(frozen=True)
class Troubled:
    """Which machines are not simply connected, for each node that has links.

    None stands for a node that cannot be reached from here.  ``linked_here`` are all machines with
    links to this node, which is ``here``: the end of another's link is not noted yet.
    """

    of: Mapping[UUID, Mapping[str, LiveMachine] | None]
    here: UUID
    linked_here: Set[str]


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

    async def troubled(self, organization_id: UUID, node_ids: Iterable[UUID]) -> "Troubled":
        """What is not simply connected of the machines with links to these nodes."""
        others = [each for each in node_ids if each != self._node_id]
        described = await asyncio.gather(
            *(self._elsewhere.describe_troubled(each, organization_id) for each in others)
        )
        # From here on nothing is awaited: what links here say is true together.
        found = dict(zip(others, described, strict=True))
        found[self._node_id] = self._here.all_troubled(organization_id)
        return Troubled(found, self._node_id, self._here.linked(organization_id))

    async def _of_node(
        self, organization_id: UUID, node_id: UUID, there: list[tuple[StoredMachine, LinkFacts]]
    ) -> dict[str, LiveMachine]:
        ids = [each.machine_id for each, _ in there]
        described = await self._elsewhere.describe(node_id, organization_id, ids)
        if described is None:
            return {
                each.machine_id: _unreachable(link.node_name, milliseconds(each.state_since))
                for each, link in there
            }
        return described


def why_unreachable(node_name: str) -> str:
    """Why a machine is offline whose link is on a node that cannot be reached."""
    return f"connected to the node {node_name}, which cannot be reached from here"


def _unreachable(node_name: str, since: int) -> LiveMachine:
    """What a machine is like whose link is on a node that cannot be reached (``since`` in ms)."""
    return LiveMachine(
        state="offline",
        reason=why_unreachable(node_name),
        since=since,
        node=node_name,
    )
