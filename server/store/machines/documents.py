"""How a machine is stored: who it is, its newest link, and what its client last said."""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from random import getrandbits
from typing import Final
from uuid import UUID

from bson import Int64

from schemas.link.messages import Display
from schemas.values.times import format_time
from server.store.machines.controls import StoredControl, control_of
from server.store.machines.recording_marks import RecordingMark, marks_of
from server.store.mongodb.documents import Document, fields_of

RESUMED: Final[Document] = {"paused": False, "paused_since": None, "pause": None}
"""The fields of a machine that is not paused."""


LINK_ENDED: Final = "its last link has ended, and the next is not made yet"
"""Why a machine is offline whose link's end is not noted, or not why."""


GONE: Final = "offline_owed"
"""What a machine's ``word`` is whose link has ended, until somebody is told."""

TOLD: Final = "offline_told"
BACK: Final = "online_owed"

BEGUN_WORD: Final[Document] = {"$cond": [{"$in": ["$word", [TOLD, BACK]]}, BACK, None]}
"""What becomes of it when a link begins: only of an outage that was told the end is, too."""


def existing(organization_id: UUID, machine_id: str) -> Document:
    """The filter for a machine that is there."""
    return {"organization_id": organization_id, "machine_id": machine_id, "deleted_at": None}


def _change_id() -> Int64:
    """Another one for each change."""
    return Int64(getrandbits(63))  # no secret


def noted(change: Document) -> Document:
    """An update that says as well that and when the machine was changed, by MongoDB's clock.

    Whatever changes what a list shows or is filtered by says so: held lists are brought up to
    date by it.
    """
    marked = {**change.get("$set", {}), "change_id": _change_id()}
    return {**change, "$set": marked, "$currentDate": {"changed_at": True}}


def noted_stage(change: Document) -> Document:
    """The same as a stage of a pipeline, for the fields that are set."""
    return {"$set": {**change, "change_id": _change_id(), "changed_at": "$$NOW"}}


@dataclass(frozen=True)
class ClientSummary:
    """What a machine client last said about itself."""

    platform: str
    client_version: str
    displays: tuple[Display, ...]
    desktop: str | None = None


@dataclass(frozen=True)
class LinkFacts:
    """Which node holds a machine's newest link, and which one held the link before.

    ``attempt`` is another one for each link that was begun.
    """

    node_id: UUID
    node_name: str
    earlier_node_id: UUID | None = None
    attempt: UUID | None = field(default=None, compare=False)


@dataclass(frozen=True)
class PauseDetails:
    """By whom a machine was paused, why and until when; ``until`` None is until it is resumed."""

    by: str = "an operator"
    reason: str | None = None
    until: datetime | None = None


@dataclass(frozen=True)
class Labels:
    """What a machine is found by and put together under: its tags, and the ids of its pools."""

    tags: Sequence[str] = ()
    pools: Sequence[UUID] = ()


NO_LABELS: Final = Labels()


@dataclass(frozen=True)
class JoinedWith:
    """The invitation that a machine's host joined with; neither is ever called otherwise."""

    id: UUID
    name: str | None


@dataclass(frozen=True)
class Machine:
    """A machine as it is stored.

    ``epoch`` counts its links.  ``connected_at``, ``disconnected_at`` and ``link`` are of the
    newest link, whose end may be unknown where its node died; ``reason`` says why it ended.
    ``control`` is its lease, which may have just run out.  ``pause`` is about a paused one.
    ``recordings`` are those of it that run.
    """

    organization_id: UUID
    machine_id: str
    name: str
    paused: bool
    paused_since: datetime | None
    created_at: datetime
    epoch: int
    connected_at: datetime | None
    disconnected_at: datetime | None
    state_since: datetime
    reason: str | None
    client: ClientSummary | None
    link: LinkFacts | None = None
    control: StoredControl | None = None
    pause: PauseDetails = PauseDetails()
    labels: Labels = NO_LABELS
    invitation: JoinedWith | None = None
    recordings: Sequence[RecordingMark] = ()

    @property
    def is_linked(self) -> bool:
        """Whether its newest link has not ended, as far as anybody has noted."""
        return self.connected_at is not None and self.disconnected_at is None

    @property
    def why_paused(self) -> str:
        """For a person, who paused a paused machine, until when, and why."""
        pause = self.pause
        end = "" if pause.until is None else f" until {format_time(pause.until)}"
        reason = "" if pause.reason is None else f": {pause.reason}"
        return f"{pause.by} paused the machine{end}{reason}"

    @property
    def why_offline(self) -> str:
        """For a person, why a machine without a link has none."""
        if self.reason is not None:
            return self.reason
        if self.connected_at is None:
            return "it has never connected"
        return LINK_ENDED


def client_document(client: ClientSummary) -> Document:
    """What is stored of what a client said about itself."""
    return {
        "platform": client.platform,
        "client_version": client.client_version,
        "displays": display_documents(client.displays),
        "desktop": client.desktop,
    }


def display_documents(displays: Sequence[Display]) -> Sequence[Document]:
    """What is stored of displays."""
    return [display.model_dump() for display in displays]


def link_document(link: LinkFacts) -> Document:
    """A link's facts, for a pipeline, which knows what the link before was."""
    facts = {name: {"$literal": getattr(link, name)} for name in _LINK_FIELDS}
    return {**facts, "attempt": link.attempt, "earlier_node_id": "$link.node_id"}


_LINK_FIELDS = ("node_id", "node_name")
_OWN_FIELDS = {"client", "link", "control", "pause", "labels", "invitation", "recordings"}
_MACHINE_FIELDS = [each.name for each in fields(Machine) if each.name not in _OWN_FIELDS]


def machine_of(document: Document) -> Machine:
    """A stored machine; what only a later Farhand knows of it stays unread."""
    client, link = document["client"], document.get("link")
    invitation = document.get("invitation")
    return Machine(
        client=client
        and ClientSummary(
            platform=client["platform"],
            client_version=client["client_version"],
            displays=tuple(Display.model_validate(display) for display in client["displays"]),
            desktop=client["desktop"],
        ),
        link=link
        and LinkFacts(
            **{name: link[name] for name in _LINK_FIELDS},
            earlier_node_id=link.get("earlier_node_id"),
            attempt=link["attempt"],
        ),
        control=control_of(document),
        pause=pause_of(document),
        labels=labels_of(document),
        invitation=invitation and JoinedWith(**invitation),
        recordings=marks_of(document),
        **{name: document[name] for name in _MACHINE_FIELDS},
    )


def pause_of(document: Document) -> PauseDetails:
    """What is stored of a pause; of one that is not there, nothing."""
    return PauseDetails(**fields_of(PauseDetails, document.get("pause") or {}))


def labels_of(document: Document) -> Labels:
    """The tags and pools in a machine's document."""
    return Labels(tuple(sorted(document.get("tags", ()))), tuple(document.get("pools", ())))


def labelled(add: Labels, remove: Labels) -> Document:
    """The fields of a machine that has got labels, and lost others: a pipeline's."""
    return {
        field: {
            "$setDifference": [
                # In a pipeline a text that begins with $ would be read as a field of the document.
                {"$setUnion": [f"${field}", {"$literal": [*getattr(add, field)]}]},
                {"$literal": [*getattr(remove, field)]},
            ]
        }
        for field in ("tags", "pools")
    }
