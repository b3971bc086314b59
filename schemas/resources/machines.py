"""Machines as operators and HTTP clients see them."""

from typing import Annotated, Literal, Self
from uuid import UUID

from pydantic import BaseModel, Field, field_validator, model_validator
from pydantic_core import PydanticCustomError

from schemas.inputs.bodies import Operation
from schemas.inputs.outcomes import ActionStatus, Point
from schemas.inputs.pictures import Area
from schemas.link.messages import Capability, Display
from schemas.resources.pools import PoolIds, PoolReference, Tags
from schemas.resources.recordings import RecordingReference
from schemas.resources.tokens import CreatedToken
from schemas.values.pictures import PictureFormat
from schemas.values.scalars import MachineId, Name, Note, Storable, StrictBool
from schemas.values.strict import StrictModel
from schemas.values.times import Time

RESERVED_IDS = frozenset({"connect", "bulk"})
"""What stands in addresses in the place of a machine's id, and so is none."""


def check_not_reserved(machine_id: str | None) -> str | None:
    """An id, unless an address has it in the place of one."""
    if machine_id in RESERVED_IDS:
        raise PydanticCustomError(
            "reserved", "{id} is reserved: choose another id", {"id": machine_id}
        )
    return machine_id


MAX_VIEWER_NAMES = 20
"""So many viewers of a machine are named, at most."""

PauseReason = Annotated[str, Field(min_length=1, max_length=200), Storable]
"""Why a machine is paused, 1 to 200 characters: it is a part of every refusal."""

MachineState = Literal["online", "offline", "paused", "no_input"]


class NewMachine(StrictModel):
    """The body of ``POST /v1/machines``."""

    id: MachineId | None = Field(None, description="Left out, the server chooses one.")
    name: Name | None = None
    tags: Tags = Field([], description="Words that it is found by; needs pools:write.")
    pool_ids: PoolIds = Field([], description="Pools that it is put in; needs pools:write.")

    @field_validator("id")
    @classmethod
    def _not_an_address(cls, machine_id: str | None) -> str | None:
        return check_not_reserved(machine_id)


class MachineChange(StrictModel):
    """The body of ``PATCH /v1/machines/{machine_id}``; what is left out stays."""

    name: Name | None = None
    tags: Tags | None = Field(
        None, description="All that it has from then on; needs pools:write as well."
    )
    paused: StrictBool | None = Field(
        None, description="true refuses inputs until false, or until pause_until."
    )
    pause_reason: PauseReason | None = Field(
        None, description="Why, for whoever is refused; goes with paused: true."
    )
    pause_until: Time | None = Field(
        None,
        description="When the pause ends by itself, at most 30 days from now; goes with paused: "
        "true.  Without it somebody has to resume the machine.",
    )

    @model_validator(mode="after")
    def _pause_is_described_where_there_is_one(self) -> Self:
        if self.paused is not True and (self.pause_reason or self.pause_until):
            raise PydanticCustomError(
                "no_pause", "pause_reason and pause_until go with paused: true only"
            )
        return self


class InputCounts(BaseModel):
    """How many inputs a machine was sent, since it was added, by how they ended."""

    completed: int
    failed: int = Field(description="Everything final that is not completed.")


class Holder(BaseModel):
    """Who has control of a machine: nobody else may send it inputs."""

    by: str = Field(description="The user's name, else the token's.")
    since: Time
    private: bool = Field(
        description="Whether nobody else sees the screen, its elements or the clipboard meanwhile."
    )


class Pause(BaseModel):
    """That a machine takes no inputs: by whom, why and until when."""

    since: Time
    by: str = Field(description="The name of the token that paused it.")
    reason: str | None
    until: Time | None = Field(description="When it ends by itself; null is when it is resumed.")


class NewControl(StrictModel):
    """The body of ``POST /v1/machines/{machine_id}/control``."""

    take_over: StrictBool = Field(
        False, description="true takes control from whoever has it, and ends what they do."
    )
    private: StrictBool = Field(
        False,
        description="true keeps screen, elements and clipboard from everybody else meanwhile, and "
        "out of recordings.",
    )
    note: Note | None = Field(None, description="What for; it is kept in the audit.")


class ControlChange(StrictModel):
    """The body of ``PATCH /v1/machines/{machine_id}/control/{lease}``."""

    private: StrictBool = Field(
        description="Whether nobody else may see the screen, its elements or the clipboard from "
        "now on."
    )


class ControlRequest(StrictModel):
    """The body of ``POST /v1/machines/{machine_id}/control/request``."""

    note: Note | None = Field(
        None, description="What for; whoever listens to events is told, and the audit keeps it."
    )


class Control(Holder):
    """A control lease; this answer alone shows its id to whoever took it."""

    id: str = Field(
        description="A secret: inputs carry it in the header Farhand-Control, and it is good for "
        "the token or session alone that took it."
    )
    machine_id: str
    expires_at: Time = Field(description="When it ends unless it is renewed before.")


class InvitationReference(BaseModel):
    """Which invitation, for programs and for people."""

    id: UUID
    name: str | None


class Machine(BaseModel):
    """A machine and how it is."""

    id: str
    organization_id: UUID
    name: str
    state: MachineState
    reason: str = Field(description="Why the machine is in this state, for a person.")
    since: Time = Field(description="When it came into this state.")
    paused: bool
    pause: Pause | None = Field(description="By whom, why and until when, where it is paused.")
    control: Holder | None = Field(description="Who has control; null where everybody may send.")
    tags: list[str]
    pools: list[PoolReference] = Field(description="Those that it is in, by name.")
    platform: str | None
    client_version: str | None
    outdated: bool = Field(description="Whether its client is older than this server.")
    desktop: str | None = Field(
        description="What the machine client works on, such as x11 or vnc; null where it has not "
        "connected yet, or has nothing to work on."
    )
    displays: list[Display]
    node: str | None = Field(description="The node that it is connected to.")
    round_trip_ms: float | None = Field(description="Of the last heartbeat, while connected.")
    inputs: InputCounts
    last_input_at: Time | None = Field(description="When the last one that ended was accepted.")
    screen: Capability = Field(description="Whether its screen can be looked at, or why not.")
    elements: Capability = Field(
        description="Whether its programs tell what elements they have, or why not."
    )
    viewers: list[str] = Field(
        description="Who looks at its live screen, each once: the names of their tokens, 20 at "
        "most.  Viewers through other nodes may be named up to ten seconds late."
    )
    recordings: list[RecordingReference] = Field(
        description="Who records what is done on it, the first first."
    )
    invitation: InvitationReference | None = Field(
        description="The one that its host joined with last; null where it has a token in a file."
    )
    created_at: Time


class CreatedMachine(Machine):
    """The only answer that shows the token that the machine connects with."""

    token: CreatedToken


class Dimensions(BaseModel):
    """Where the displays are, in the pixels that inputs use: all of them, and each."""

    x: int
    y: int
    width: int
    height: int
    displays: list[Display]


class ClipboardContent(BaseModel):
    """What is in a machine's clipboard."""

    text: str


class InputResult(BaseModel):
    """The answer to an input that was carried out."""

    command_id: UUID
    machine_id: str
    operation: Operation
    status: Literal["completed"] = "completed"
    accepted_at: Time
    completed_at: Time
    duration_ms: float = Field(description="The machine's own time spent injecting.")
    pointer: Point = Field(description="Where the pointer was afterwards.")
    effect: Literal["accepted", "delivered"] | None = Field(
        None,
        description="Only where less is known than on X11; the pointer is where it was put then. "
        "accepted: a Wayland compositor has handled every event. delivered: what stands between "
        "the machine client and the desktop, a VNC server, has read every event, and does not say "
        "what became of it.",
        exclude_if=lambda effect: effect is None,
    )


class PictureContent(BaseModel):
    """A picture in an answer."""

    format: PictureFormat
    width: int = Field(description="Its own pixels.")
    height: int
    region: Area = Field(description="What it shows, in the desktop's pixels.")
    content: str = Field(description="Base64.")


class LeftOutPicture(BaseModel):
    """A picture that is not in the answer."""

    left_out: str = Field(description="Why, for a person.")


class ActionEnd(BaseModel):
    """How one of several actions ended."""

    operation: str
    status: ActionStatus = Field(
        description="not_seen: the screen did not show in time what was waited for. interrupted: "
        "it was ended early. unknown: it was begun, and nobody knows whether it ended. not_begun: "
        "nothing of it happened, and nothing ever will."
    )
    duration_ms: float | None = Field(None, description="The machine's own time.")
    code: str | None = Field(None, description="What was wrong, for a program.")
    message: str | None = Field(None, description="What was wrong, for a person.")
    matched: int | None = Field(None, description="Which condition was met, from 0.")
    at: Area | None = Field(None, description="Where, in the desktop's pixels.")
    picture: PictureContent | LeftOutPicture | None = Field(
        None, description="Of a screenshot, in the first answer alone."
    )


class ActionsResult(InputResult):
    """The answer to several actions that were all carried out."""

    actions: list[ActionEnd]
    screenshot: PictureContent | LeftOutPicture | None = Field(
        description="The picture at the end, where one was wanted; in the first answer alone."
    )


class WaitResult(BaseModel):
    """The answer to a wait for the screen, whether it has shown what was waited for or not."""

    matched: int | None = Field(
        description="Which of the conditions was met, from 0; null where none was in time."
    )
    at: Area | None = Field(description="Where it has changed, in the desktop's pixels.")
    elapsed: float = Field(description="Seconds.")
    seen: list[str] = Field(
        description="The texts that were most like those waited for, where none was seen in time."
    )
    screenshot: PictureContent | LeftOutPicture | None


class ScreenText(BaseModel):
    """A line that stands on a screen."""

    text: str
    score: float = Field(description="How sure the reader is of it, 0 to 1.")
    at: Area = Field(description="Where, in the desktop's pixels.")


class ScreenTexts(BaseModel):
    """What was read on a screen, from the top to the bottom."""

    texts: list[ScreenText]
    region: Area = Field(description="What was looked at, in the desktop's pixels.")
