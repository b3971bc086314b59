"""What the server answers, as pydantic models with the names and fields of its OpenAPI document.

Times are UTC, durations seconds unless the name says ``_ms``, places and sizes pixels of the
machine's desktop unless it is said.  What a newer server says beside this is kept as well.
"""

import base64
from datetime import datetime
from typing import Any, Generic, Literal, TypeVar
from uuid import UUID

from pydantic import Field, PrivateAttr

from farhand._desktop_types import Area, Dimensions, Display, Element, Elements, Point
from farhand._fleet_types import (
    Answer,
    BulkItem,
    BulkResult,
    ConsoleSession,
    CreatedInvitation,
    CreatedToken,
    CreatedWebhook,
    Delivery,
    ExpectedOffline,
    HelpRequest,
    Invitation,
    Join,
    Organization,
    Pool,
    PoolCount,
    PoolReference,
    QuietHours,
    Recording,
    RecordingReference,
    StateCounts,
    TagCount,
    Token,
    Trouble,
    Webhook,
)
from farhand._library_types import (
    Editor,
    GoingTrajectory,
    ImportedLine,
    IncludedResource,
    LatestTrajectory,
    Parameter,
    PictureOutlook,
    Review,
    StoredPicture,
    Trajectory,
    TrajectoryHead,
    TrajectoryStep,
    TrajectoryWithIncluded,
    Workflow,
)
from farhand._run_types import (
    BulkRun,
    BulkRuns,
    Candidate,
    Halted,
    NewRun,
    Repair,
    Run,
    RunWithSteps,
    StepResult,
)

Item = TypeVar("Item")

# fmt: off
__all__ = [
    "ActionEnd",
    "ActionsResult",
    "Answer",
    "Area",
    "AuditEntry",
    "BulkItem",
    "BulkResult",
    "BulkRun",
    "BulkRuns",
    "Candidate",
    "Capability",
    "ClipboardContent",
    "CommandAnswer",
    "CommandItem",
    "CommandView",
    "ConsoleSession",
    "Control",
    "CreatedInvitation",
    "CreatedMachine",
    "CreatedToken",
    "CreatedWebhook",
    "Delivery",
    "Dimensions",
    "Display",
    "Editor",
    "Element",
    "Elements",
    "Event",
    "ExpectedOffline",
    "GoingTrajectory",
    "Grant",
    "Halted",
    "HelpRequest",
    "Holder",
    "ImportedLine",
    "IncludedResource",
    "InputCounts",
    "InputResult",
    "Invitation",
    "InvitationReference",
    "Join",
    "LatestTrajectory",
    "LeftOutPicture",
    "Machine",
    "NewRun",
    "Organization",
    "Page",
    "Parameter",
    "Pause",
    "Picture",
    "PictureContent",
    "PictureOutlook",
    "Point",
    "Pool",
    "PoolCount",
    "PoolReference",
    "QuietHours",
    "Recording",
    "RecordingReference",
    "Repair",
    "Review",
    "Run",
    "RunWithSteps",
    "ScreenText",
    "ScreenTexts",
    "StateCounts",
    "StepResult",
    "StoredPicture",
    "TagCount",
    "Token",
    "Trajectory",
    "TrajectoryHead",
    "TrajectoryStep",
    "TrajectoryWithIncluded",
    "Trouble",
    "WaitResult",
    "Webhook",
    "Workflow",
]
# fmt: on


class PictureContent(Answer):
    """A picture in an answer."""

    format: Literal["png", "jpeg", "webp"]
    width: int
    """Its own pixels."""
    height: int
    region: Area
    """What it shows, in the desktop's pixels."""
    content: str
    """Base64."""

    @property
    def data(self) -> bytes:
        """The picture's bytes."""
        return base64.b64decode(self.content)


class LeftOutPicture(Answer):
    """A picture that is not in the answer."""

    left_out: str
    """Why, for a person."""


class InputResult(Answer):
    """An input that was carried out."""

    command_id: UUID
    machine_id: str
    operation: str
    status: Literal["completed"] = "completed"
    accepted_at: datetime
    completed_at: datetime
    duration_ms: float
    """The machine's own time."""
    pointer: Point
    """Where the pointer was afterwards."""
    effect: Literal["accepted", "delivered"] | None = None
    """Only where less is known than on X11: ``docs/reference/desktops.md`` says what."""

    _key: str = PrivateAttr("")
    _is_replayed: bool = PrivateAttr(False)

    @property
    def key(self) -> str:
        """The Idempotency-Key that it was sent with."""
        return self._key

    @property
    def replayed(self) -> bool:
        """Whether this is the first answer again: it was done before, and not once more."""
        return self._is_replayed


class ActionEnd(Answer):
    """How one of several actions ended."""

    operation: str
    status: Literal["completed", "failed", "interrupted", "not_seen", "unknown", "not_begun"]
    duration_ms: float | None = None
    code: str | None = None
    """What was wrong, for a program."""
    message: str | None = None
    """What was wrong, for a person."""
    matched: int | None = None
    """Which condition was met, from 0."""
    at: Area | None = None
    picture: PictureContent | LeftOutPicture | None = None
    """Of a screenshot, in the first answer alone."""


class ActionsResult(InputResult):
    """Several actions, all of which were carried out."""

    actions: list[ActionEnd]
    screenshot: PictureContent | LeftOutPicture | None = None
    """The picture at the end, where one was wanted; in the first answer alone."""


class WaitResult(Answer):
    """The end of a wait for the screen."""

    matched: int | None
    """Which of the conditions was met, from 0; None where none was in time."""
    at: Area | None
    """Where it has changed."""
    elapsed: float
    seen: list[str] = Field(default_factory=list)
    """The texts that were most like those waited for, where none was seen in time."""
    screenshot: PictureContent | LeftOutPicture | None = None


class ScreenText(Answer):
    """A line that stands on a screen."""

    text: str
    score: float
    """How sure the reader is of it, 0 to 1."""
    at: Area


class ScreenTexts(Answer):
    """What was read on a screen, from the top to the bottom."""

    texts: list[ScreenText]
    region: Area
    """What was looked at."""


class ClipboardContent(Answer):
    """What is in a machine's clipboard."""

    text: str


class Capability(Answer):
    """Whether a machine can do something, or why not."""

    available: bool
    reason: str | None = None
    switched_off: bool = False
    """Whether the machine's owner switched it off."""


class Holder(Answer):
    """Who has control of a machine."""

    by: str
    since: datetime
    private: bool
    """Whether nobody else sees the screen, its elements or the clipboard meanwhile."""


class Control(Holder):
    """A control lease."""

    id: str
    """A secret, which inputs carry."""
    machine_id: str
    expires_at: datetime


class Pause(Answer):
    """That a machine takes no inputs."""

    since: datetime
    by: str
    reason: str | None
    until: datetime | None
    """When it ends by itself; None is when it is resumed."""


class InputCounts(Answer):
    """How many inputs a machine was sent, since it was added, by how they ended."""

    completed: int
    failed: int
    """Everything final that is not completed."""


class InvitationReference(Answer):
    """Which invitation, for programs and for people."""

    id: UUID
    name: str | None


class Machine(Answer):
    """A machine and how it is."""

    id: str
    organization_id: UUID
    name: str
    state: Literal["online", "offline", "paused", "no_input"]
    reason: str
    """Why it is in this state, for a person."""
    since: datetime
    paused: bool
    pause: Pause | None
    control: Holder | None
    """Who has control; None where everybody may send."""
    tags: list[str]
    pools: list[PoolReference]
    """Those that it is in, by name."""
    platform: str | None
    client_version: str | None
    outdated: bool
    """Whether its client is older than the server."""
    desktop: str | None
    """Such as ``x11`` or ``vnc``; None where it has none, or has not connected yet."""
    displays: list[Display]
    node: str | None
    round_trip_ms: float | None
    inputs: InputCounts
    last_input_at: datetime | None
    screen: Capability
    elements: Capability
    """Whether its programs tell what elements they have."""
    viewers: list[str]
    """Who looks at its live screen, 20 at most."""
    recordings: list[RecordingReference]
    """Who records what is done on it."""
    invitation: InvitationReference | None
    """The one that its host joined with last; None where it has a token in a file."""
    created_at: datetime


class CreatedMachine(Machine):
    """A new machine, with the token that it connects with."""

    token: CreatedToken


class CommandItem(Answer):
    """An input in a list; never what was typed."""

    command_id: UUID
    operation: str
    token_name: str | None
    token_id: UUID | None
    accepted_at: datetime
    completed_at: datetime | None
    outcome: Literal[
        "completed",
        "failed",
        "refused",
        "stopped",
        "expired",
        "not_carried_out",
        "unknown",
        "pending",
    ]
    code: str | None
    duration_ms: float | None
    inputs: int = 1
    """As how many it is counted."""
    note: str | None = None
    """What was done by hand, or by several actions, in words."""


class CommandAnswer(Answer):
    """What every request with the command's key is answered."""

    status: int
    body: Any = None


class CommandView(Answer):
    """What became of a command."""

    command_id: UUID
    machine_id: str
    operation: str
    state: Literal["claimed", "sent", "done", "not_carried_out", "unknown"]
    final: bool
    accepted_at: datetime
    expires_at: datetime
    """It does not begin after this."""
    final_at: datetime | None
    answer: CommandAnswer | None


class Grant(Answer):
    """What a token allowed."""

    role: str | None
    scopes: list[str]


class AuditEntry(Answer):
    """Something that was done, by whom and to what."""

    id: str
    created_at: datetime
    action: str
    token_id: UUID | None
    token_name: str | None
    target: str | None
    target_name: str | None = None
    grant: Grant | None = None
    machine_id: str | None
    request_id: str
    note: str | None = None
    command: CommandItem | None


class Page(Answer, Generic[Item]):
    """A part of a list."""

    items: list[Item]
    total: int
    """Of all that fit, and not of this part."""
    skip: int
    limit: int


class Picture(Answer):
    """A screenshot."""

    data: bytes = Field(repr=False)
    format: Literal["png", "jpeg", "webp"]
    width: int
    """Its own pixels."""
    height: int
    region: Area
    """What it shows, in the desktop's pixels."""


class Event(Answer):
    """Something that happened, as ``GET /v1/events`` tells it."""

    id: str
    """Where to go on: :meth:`Farhand.events` takes it as ``last_event_id``."""
    type: str
    """``machine``, ``command`` and the like; after ``reset`` read everything anew."""
    data: Any
