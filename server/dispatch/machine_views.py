"""A machine as operators see it: what is stored, and what this node knows of its link."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from schemas.link.messages import Capability, Display
from schemas.resources.machines import InputCounts, Machine, MachineState
from server.clock import from_milliseconds
from server.machines.registry import LinkRegistry
from server.machines.socket import LinkSocket
from server.store.input_counts import InputCount, InputCountStore
from server.store.machines import ClientSummary
from server.store.machines import Machine as StoredMachine

NOT_CONNECTED = Capability(available=False, reason="the machine is not connected")
UNKNOWN_WHY = "it did not say why"


class MachineViews:
    """Puts together what is stored of machines, what is counted, and what this node knows."""

    def __init__(self, registry: LinkRegistry, counts: InputCountStore) -> None:
        self._registry = registry
        self._counts = counts

    async def of(self, stored: StoredMachine) -> Machine:
        """The view of one machine."""
        return (await self.of_all(stored.organization_id, [stored]))[0]

    async def of_all(self, organization_id: UUID, stored: Sequence[StoredMachine]) -> list[Machine]:
        """The views of several machines of one organization."""
        counts = await self._counts.of(organization_id, [each.machine_id for each in stored])
        return [_view(self._registry, each, counts[each.machine_id]) for each in stored]


def _view(registry: LinkRegistry, stored: StoredMachine, count: InputCount) -> Machine:
    link = registry.find(stored.organization_id, stored.machine_id)
    round_trip = None if link is None else link.round_trip_seconds
    state: MachineState = "offline"
    reason, since = stored.why_offline, stored.state_since
    client = stored.client
    if link is not None:
        state, reason, since = _connected(link)
    elif (ending := registry.ending(stored.organization_id, stored.machine_id)) is not None:
        # Closing, and not closed yet: a machine that is gone says nothing for some seconds.
        reason, since = ending.over_reason, from_milliseconds(ending.over_since)
    if stored.paused:
        state, reason = "paused", "an operator paused the machine"
        since = stored.paused_since or since
    return Machine(
        id=stored.machine_id,
        organization_id=stored.organization_id,
        name=stored.name,
        state=state,
        reason=reason,
        since=since,
        paused=stored.paused,
        platform=None if client is None else client.platform,
        client_version=None if client is None else client.client_version,
        displays=_displays(link, client),
        round_trip_ms=None if round_trip is None else round(round_trip * 1000, 3),
        inputs=InputCounts(completed=count.completed, failed=count.failed),
        last_input_at=count.last_at,
        screen=NOT_CONNECTED if link is None else link.desktop.screen,
        created_at=stored.created_at,
    )


def _connected(link: LinkSocket) -> tuple[MachineState, str, datetime]:
    """The state of a machine that has a link, why, and since when."""
    desktop = link.desktop
    if not desktop.input.available:
        why = desktop.input.reason or UNKNOWN_WHY
        return "no_input", why, from_milliseconds(desktop.input_since)
    if desktop.is_dark:
        why = f"connected, but its screen cannot be seen: {desktop.screen.reason or UNKNOWN_WHY}"
        return "online", why, from_milliseconds(desktop.screen_since)
    since = from_milliseconds(desktop.input_since)
    if link.took_over:
        return "online", "connected, and took over from an earlier connection", since
    return "online", "connected", since


def _displays(link: LinkSocket | None, client: ClientSummary | None) -> list[Display]:
    if link is not None:
        return list(link.desktop.displays)
    return [] if client is None else list(client.displays)
