"""What those who listen are told of what was stored: which event, with what in it."""

from collections.abc import Callable
from functools import partial
from uuid import UUID

from schemas.help.requests import HelpRequest, HelpState
from schemas.resources.events import EventType
from schemas.runs.runs import Run
from server.dispatch.machine_events import MachineEventPublisher
from server.events.hub import EventHub
from server.fleet.recordings import recording_view
from server.store.recordings.recordings import StoredRecording
from server.store.runs.documents import StoredRun


def of_recordings(
    events: EventHub, publisher: MachineEventPublisher
) -> Callable[[StoredRecording], None]:
    """Tells of a recording that has got steps, or has ended: then its machine has changed, too."""

    def tell(stored: StoredRecording) -> None:
        told = partial(recording_view, stored)
        events.publish(stored.organization_id, "recording", told, stored.machine_id)
        if not stored.runs:
            publisher.changed(stored.organization_id, stored.machine_id)

    return tell


def of_help(events: EventHub) -> Callable[[UUID, HelpRequest], None]:
    """Tells of a help request that was asked or has ended."""

    kinds: dict[HelpState, EventType] = {
        "open": "help_requested",
        "answered": "help_answered",
        "withdrawn": "help_ended",
        "timed_out": "help_ended",
    }

    def tell(organization_id: UUID, told: HelpRequest) -> None:
        events.publish(organization_id, kinds[told.state], told, told.machine_id)

    return tell


def of_runs(events: EventHub) -> Callable[[StoredRun, Run], None]:
    """Tells of a run that has come a step further, is halted, goes on, or has ended."""

    def tell(stored: StoredRun, run: Run) -> None:
        events.publish(stored.organization_id, "run", run, stored.machine_id)

    return tell
