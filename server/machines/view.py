"""A machine as operators see it: what is stored, and what this node knows of its link."""

from schemas.machines import InputCounts, Machine, MachineState
from schemas.wire import Capability
from server.clock import from_milliseconds
from server.machines.registry import LinkRegistry
from server.store.machines import Machine as StoredMachine

NOT_CONNECTED = Capability(available=False, reason="the machine is not connected")


def machine_view(registry: LinkRegistry, stored: StoredMachine) -> Machine:
    """A stored machine with what this node knows of its link."""
    link = registry.find(stored.organization_id, stored.machine_id)
    round_trip = None if link is None else link.round_trip_seconds
    state: MachineState = "offline"
    reason, since = stored.why_offline, stored.state_since
    client = stored.client
    if link is not None:
        state, reason = "online", "connected"
        since = from_milliseconds(link.up_since)
        if link.took_over:
            reason = "connected, and took over from an earlier connection"
        if not link.hello.input.available:
            state, reason = "no_input", link.hello.input.reason or "it did not say why"
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
        displays=[] if client is None else list(client.displays),
        round_trip_ms=None if round_trip is None else round(round_trip * 1000, 3),
        inputs=InputCounts(completed=stored.inputs_completed, failed=stored.inputs_failed),
        last_input_at=stored.last_input_at,
        screen=NOT_CONNECTED if link is None else link.hello.screen,
        created_at=stored.created_at,
    )
