"""Machines as operators see them: what is stored, what is counted, and what their links say."""

import asyncio
from collections.abc import Mapping, Sequence
from uuid import UUID

from schemas.link.messages import Capability
from schemas.resources.machines import Holder, InputCounts, InvitationReference, Machine, Pause
from schemas.resources.pools import references
from schemas.resources.recordings import RecordedInputs, RecordingReference
from schemas.resources.troubles import Trouble, TroubleKind
from server.clock import from_milliseconds, milliseconds
from server.dispatch.live_machines import LiveMachines
from server.dispatch.questions.nodes import LiveMachine
from server.store.machines.documents import Machine as StoredMachine
from server.store.machines.input_counts import InputCount, InputCountStore
from server.store.machines.pools import PoolStore
from server.store.machines.recording_marks import RecordingMark
from server.store.times import now
from server.versions import is_outdated

NOT_CONNECTED = Capability(available=False, reason="the machine is not connected")


class MachineViews:
    """Puts together what is stored of machines, what is counted, and what they are like now."""

    def __init__(self, live: LiveMachines, counts: InputCountStore, pools: PoolStore) -> None:
        self._live = live
        self._counts = counts
        self._pools = pools

    async def of(self, stored: StoredMachine) -> Machine:
        """The view of one machine."""
        count = await self._counts.of_one(stored.organization_id, stored.machine_id)
        pools = await self._pools.names_together((stored.organization_id, stored.labels.pools))
        live = await self._live.of(stored.organization_id, [stored])
        return _view(stored, count, pools, live.get(stored.machine_id) or _offline(stored))

    async def trouble(self, stored: StoredMachine) -> Trouble | None:
        """What is wrong with a machine now; None where nothing is, or where it was never there."""
        live = await self._live.of(stored.organization_id, [stored])
        present = live.get(stored.machine_id) or _offline(stored)
        kind = _kind(present)
        if kind is None or stored.client is None:
            return None
        since = from_milliseconds(present.since)
        seconds = max((now() - since).total_seconds(), 0)
        return Trouble(kind=kind, reason=present.reason, since=since, until=None, seconds=seconds)

    async def of_all(self, organization_id: UUID, stored: Sequence[StoredMachine]) -> list[Machine]:
        """The views of several machines of one organization."""
        machine_ids = [each.machine_id for each in stored]
        pool_ids = {pool_id for each in stored for pool_id in each.labels.pools}
        counts, pools = await asyncio.gather(
            self._counts.of(organization_id, machine_ids),
            self._pools.names(organization_id, pool_ids),
        )
        live = await self._live.of(organization_id, stored)
        return [
            _view(each, counts[each.machine_id], pools, live.get(each.machine_id) or _offline(each))
            for each in stored
        ]


def _offline(stored: StoredMachine) -> LiveMachine:
    since = milliseconds(stored.state_since)
    return LiveMachine(state="offline", reason=stored.why_offline, since=since)


def _kind(live: LiveMachine) -> TroubleKind | None:
    """What is wrong with a machine, where anything is."""
    if live.state in ("offline", "no_input"):
        return "offline" if live.state == "offline" else "no_input"
    return "no_screen" if live.is_dark else None


def _holder(stored: StoredMachine) -> Holder | None:
    """Who has control; a lease that has run out may be there for a moment yet."""
    control = stored.control
    if control is None or control.expires_at <= now():
        return None
    private = control.private_since is not None
    return Holder(by=control.by, since=control.since, private=private)


def _pause(stored: StoredMachine) -> Pause | None:
    if not stored.paused:
        return None
    details = stored.pause
    return Pause(
        since=stored.paused_since or stored.state_since,
        by=details.by,
        reason=details.reason,
        until=details.until,
    )


def _recording(mark: RecordingMark) -> RecordingReference:
    of: RecordedInputs = "everybody" if mark.of_all else "me"
    return RecordingReference(id=mark.id, by=mark.by, since=mark.since, of=of, secret=mark.secret)


def _view(
    stored: StoredMachine, count: InputCount, pools: Mapping[UUID, str], live: LiveMachine
) -> Machine:
    """``pools`` has the names of those that it is in, and perhaps of others."""
    state, reason, since = live.state, live.reason, from_milliseconds(live.since)
    if stored.paused:
        state, reason = "paused", stored.why_paused
        since = stored.paused_since or since
    client, round_trip, invitation = stored.client, live.round_trip_seconds, stored.invitation
    displays = live.displays
    if displays is None:
        displays = () if client is None else client.displays
    return Machine(
        id=stored.machine_id,
        organization_id=stored.organization_id,
        name=stored.name,
        state=state,
        reason=reason,
        since=since,
        paused=stored.paused,
        pause=_pause(stored),
        control=_holder(stored),
        tags=[*stored.labels.tags],
        pools=references({each: pools[each] for each in stored.labels.pools if each in pools}),
        platform=None if client is None else client.platform,
        client_version=None if client is None else client.client_version,
        outdated=client is not None and is_outdated(client.client_version),
        desktop=None if client is None else client.desktop,
        displays=list(displays),
        node=live.node,
        round_trip_ms=None if round_trip is None else round(round_trip * 1000, 3),
        inputs=InputCounts(completed=count.completed, failed=count.failed),
        last_input_at=count.last_at,
        screen=live.screen or NOT_CONNECTED,
        elements=live.elements or NOT_CONNECTED,
        viewers=list(live.viewers),
        recordings=[_recording(mark) for mark in stored.recordings],
        invitation=invitation and InvitationReference(id=invitation.id, name=invitation.name),
        created_at=stored.created_at,
    )
