"""What the machines of this node are like now."""

from collections.abc import Iterable, Set
from heapq import nsmallest
from uuid import UUID

from schemas.resources.machines import MachineState
from server.dispatch.questions.nodes import MOST_DESCRIBED, LiveMachine
from server.machines.link.rivals import explained
from server.machines.registry import LinkRegistry
from server.machines.socket import LinkSocket


class LinksHere:
    """Looks at the links of this node."""

    def __init__(self, registry: LinkRegistry, node_name: str) -> None:
        self._registry = registry
        self._node_name = node_name

    def of(self, organization_id: UUID, machine_ids: Iterable[str]) -> dict[str, LiveMachine]:
        """Those of these machines that have a link, by their ids."""
        found = ((each, self._find(organization_id, each)) for each in machine_ids)
        return {machine_id: live for machine_id, live in found if live is not None}

    def troubled(self, organization_id: UUID, after: str = "") -> dict[str, LiveMachine]:
        """Those that have a link and are not simply connected: the first behind this id."""
        ids = self._registry.troubled.get(organization_id, ())
        first = nsmallest(MOST_DESCRIBED, (each for each in ids if each > after))
        return self.of(organization_id, first)

    def all_troubled(self, organization_id: UUID) -> dict[str, LiveMachine]:
        """All of those."""
        return self.of(organization_id, self._registry.troubled.get(organization_id, ()))

    def linked(self, organization_id: UUID) -> Set[str]:
        """All machines with a link here, those that are being closed among them."""
        return self._registry.linked.get(organization_id, frozenset())

    def _find(self, organization_id: UUID, machine_id: str) -> LiveMachine | None:
        if (link := self._registry.find(organization_id, machine_id)) is not None:
            return _connected(link, self._node_name)
        if (ending := self._registry.ending(organization_id, machine_id)) is not None:
            # Closing, and not closed yet: a machine that is gone says nothing for some seconds.
            return LiveMachine(state="offline", reason=ending.over_reason, since=ending.over_since)
        return None


def _connected(link: LinkSocket, node_name: str) -> LiveMachine:
    state, reason, since = _state(link)
    return LiveMachine(
        state=state,
        reason=reason,
        since=since,
        displays=link.desktop.displays,
        screen=link.desktop.screen,
        elements=link.desktop.elements,
        round_trip_seconds=link.round_trip_seconds,
        node=node_name,
        viewers=() if link.watched_screen is None else link.watched_screen.viewer_names,
    )


def _state(link: LinkSocket) -> tuple[MachineState, str, int]:
    """The state of a machine that has a link, why, and since when."""
    desktop, since = link.desktop, link.availability.input_since
    if (trouble := link.availability.no_input) is not None:
        return "no_input", *trouble
    if desktop.is_dark:
        why = f"connected, but its screen cannot be seen: {desktop.why_no_screen}"
        return "online", why, desktop.screen_since
    if link.rivals:
        return "online", f"connected, but {explained(link.rivals, link.greeting.boot_id)}", since
    if link.took_over:
        return "online", "connected, and took over from an earlier connection", since
    return "online", "connected", since
