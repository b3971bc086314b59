"""A machine as operators see it: what is stored, and what this node knows of its link."""

from datetime import datetime

from schemas.machines import InputCounts, Machine, MachineState
from schemas.wire import Capability, Display
from server.clock import from_milliseconds
from server.machines.registry import LinkRegistry
from server.machines.socket import LinkSocket
from server.store.machines import ClientSummary
from server.store.machines import Machine as StoredMachine

NOT_CONNECTED = Capability(available=False, reason="the machine is not connected")
UNKNOWN_WHY = "it did not say why"


def machine_view(registry: LinkRegistry, stored: StoredMachine) -> Machine:
    """A stored machine with what this node knows of its link."""
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
        inputs=InputCounts(completed=stored.inputs_completed, failed=stored.inputs_failed),
        last_input_at=stored.last_input_at,
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
