"""Every message between the nodes of one installation, version 1.

A request names the organization and the machine that it is about, and is answered by the node that
has the machine's link.  Messages are JSON; what has a content
beside it, such as a picture, carries it behind one line feed.  Fields that a node does not know it
ignores, so that either may be the newer one; a message of another version, or of a type that it
does not know, it refuses, and carries out nothing.  Times are milliseconds since 1970.
"""

from typing import Annotated, Any, Final, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic_core import from_json

from schemas.inputs.bodies import Operation
from schemas.inputs.clipboard_texts import Selection
from schemas.inputs.outcomes import Point
from schemas.link.messages import Capability, Display, Quality, Rate, Side
from schemas.link.picture_frames import PictureFormat, Region, Size
from schemas.resources.machines import MAX_VIEWER_NAMES, MachineState

VERSION: Final = 1


class MessageRefusedError(Exception):
    """A message that is not understood; ``str()`` is why: malformed, or of another version."""


class Message(BaseModel):
    """What crosses the bus."""

    model_config = ConfigDict(frozen=True)

    version: Literal[1] = VERSION

    def encode(self, content: bytes = b"") -> bytes:
        """The message as bytes, with its content behind it."""
        text = self.__pydantic_serializer__.to_json(self)
        return b"%b\n%b" % (text, content) if content else text


class MachineRequest(Message):
    """Something that the node is asked to do that holds a machine's link."""

    organization_id: UUID
    machine_id: str


class ForwardedCommand(MachineRequest):
    """Carry out a command.

    ``forward_id`` is the same in every message by which a request is forwarded, and in no other:
    however many of them arrive, and whatever the reply, they get the same one.
    """

    type: Literal["command"] = "command"
    command_id: UUID
    operation: Operation
    body: dict[str, Any]
    fingerprint: str
    accepted_at: int
    expires_at: int
    answer_by: int
    request_id: str
    minimal: bool
    token_id: UUID | None
    token_name: str | None
    forward_id: UUID
    proof: str | None = Field(None, description="Of the control lease that it came with.")
    text_at: UUID | None = Field(
        None, description="The node that gives its text, which is too long for a message."
    )
    in_stretch: bool = Field(False, description="The audit has one entry for it and others.")


class ResolveCommand(MachineRequest):
    """Ask the machine what became of a command; its record then says it."""

    type: Literal["resolve"] = "resolve"
    command_id: UUID


class TakeScreenshot(MachineRequest):
    """Take a picture of the machine's screen."""

    type: Literal["screenshot"] = "screenshot"
    format: PictureFormat
    width: Side | None
    height: Side | None
    quality: Quality


class LookAtDesktop(MachineRequest):
    """Say where the displays and the pointer are."""

    type: Literal["look"] = "look"


class NextPicture(MachineRequest):
    """The next picture of a live screen, for the viewers of another node.

    The first request begins to watch.  ``viewer`` names who watches: all viewers of a node
    together, whose ``names`` these are.  They have left when they ask no more.
    """

    type: Literal["next_picture"] = "next_picture"
    viewer: UUID
    width: Side | None
    height: Side | None
    quality: Quality
    rate: Rate
    names: list[str] = Field(
        default=[], max_length=MAX_VIEWER_NAMES, description="Of these viewers."
    )


class StopWatching(MachineRequest):
    """The viewers of another node have left."""

    type: Literal["stop_watching"] = "stop_watching"
    viewer: UUID


class PauseChanged(MachineRequest):
    """The machine was paused or resumed; the database says which."""

    type: Literal["pause_changed"] = "pause_changed"


class ControlChanged(MachineRequest):
    """Control of the machine changed; the database says who has it.

    It is done when the machine has confirmed that nothing runs and nothing is held of whoever had
    it before, and if the lease of this ``proof`` is in force by then; null is that none need be.
    A link before ``epoch``, which was the newest when the lease began, cannot confirm it.
    """

    type: Literal["control_changed"] = "control_changed"
    proof: str | None
    epoch: int


class MachineRemoved(MachineRequest):
    """The machine was removed: close its links."""

    type: Literal["removed"] = "removed"


class FindLink(MachineRequest):
    """Say whether a link of the machine is here."""

    type: Literal["find_link"] = "find_link"


class GiveWay(MachineRequest):
    """A newer link of the machine is on another node: close those with an earlier epoch."""

    type: Literal["give_way"] = "give_way"
    epoch: int


class DescribeMachines(Message):
    """Say what these machines are like now, those of them that are here."""

    type: Literal["describe"] = "describe"
    organization_id: UUID
    machine_ids: list[str] = Field(max_length=1000)


class ReadClipboard(MachineRequest):
    """Say what is in the machine's clipboard."""

    type: Literal["read_clipboard"] = "read_clipboard"
    selection: Selection


class ReadText(Message):
    """Give the text of a command that was forwarded without it, as the content."""

    type: Literal["read_text"] = "read_text"
    forward_id: UUID


class ReadMetrics(Message):
    """Give this node's metrics, in Prometheus' text format, as the content."""

    type: Literal["metrics"] = "metrics"


Request = Annotated[
    ForwardedCommand
    | ResolveCommand
    | TakeScreenshot
    | LookAtDesktop
    | NextPicture
    | StopWatching
    | PauseChanged
    | ControlChanged
    | MachineRemoved
    | FindLink
    | GiveWay
    | ReadClipboard
    | ReadText
    | DescribeMachines
    | ReadMetrics,
    Field(discriminator="type"),
]


class Answered(Message):
    """The final answer to a command; its body is the content."""

    type: Literal["answered"] = "answered"
    status: int
    content_type: str | None
    is_replayed: bool


class Problem(Message):
    """There is no final answer, but this problem."""

    type: Literal["problem"] = "problem"
    name: str
    detail: str
    members: dict[str, Any]
    headers: dict[str, str]


class Invalid(Message):
    """The request is not what it should be; ``entries`` say where and what."""

    type: Literal["invalid"] = "invalid"
    entries: list[dict[str, Any]]


class NotHere(Message):
    """The link that was asked for has just ended; nothing was done."""

    type: Literal["not_here"] = "not_here"


class Refused(Message):
    """The message was not understood or came too late; nothing was done."""

    type: Literal["refused"] = "refused"
    reason: str


class Done(Message):
    """It is done."""

    type: Literal["done"] = "done"
    was_connected: bool = False


class DesktopLookedAt(Message):
    """Where the displays and the pointer are."""

    type: Literal["desktop"] = "desktop"
    displays: list[Display]
    pointer: Point


class PictureTaken(Message):
    """A picture of the screen; its bytes are the content."""

    type: Literal["picture"] = "picture"
    format: PictureFormat
    region: Region
    size: Size
    captured_at: int


class NoPicture(Message):
    """The screen has not changed for a while; it is still watched."""

    type: Literal["no_picture"] = "no_picture"


class ScreenEnded(Message):
    """There will be no further pictures."""

    type: Literal["screen_ended"] = "screen_ended"
    reason: str
    since: int | None


class DescribedMachine(BaseModel):
    """What a machine that is connected is like now."""

    machine_id: str
    state: MachineState
    reason: str
    since: int
    displays: list[Display] | None
    screen: Capability | None
    round_trip_seconds: float | None
    node: str | None
    viewers: list[str] = Field(default=[], max_length=MAX_VIEWER_NAMES)


class Described(Message):
    """What the machines are like now that are here."""

    type: Literal["described"] = "described"
    machines: list[DescribedMachine]


class MetricsRead(Message):
    """A node's metrics are the content."""

    type: Literal["metrics_read"] = "metrics_read"


class TextRead(Message):
    """A text is the content, as UTF-8."""

    type: Literal["text_read"] = "text_read"


Reply = Annotated[
    Answered
    | Problem
    | Invalid
    | NotHere
    | Refused
    | Done
    | DesktopLookedAt
    | PictureTaken
    | NoPicture
    | ScreenEnded
    | Described
    | MetricsRead
    | TextRead,
    Field(discriminator="type"),
]

_REQUESTS: TypeAdapter[Request] = TypeAdapter(Request)
_REPLIES: TypeAdapter[Reply] = TypeAdapter(Reply)


def decode_request(message: bytes) -> Request:
    """The request in a message from another node.  Raises MessageRefusedError."""
    try:
        request: Request = _REQUESTS.validator.validate_json(message)
    except ValidationError:
        raise MessageRefusedError(_why_refused(message)) from None
    return request


def decode_reply(message: bytes) -> tuple[Reply, bytes]:
    """The reply in a message from another node, and its content.  Raises MessageRefusedError."""
    text, _, content = message.partition(b"\n")
    try:
        return _REPLIES.validator.validate_json(text), content
    except ValidationError:
        raise MessageRefusedError(_why_refused(text)) from None


def _why_refused(text: bytes) -> str:
    try:
        version = from_json(text)["version"]
    except (ValueError, KeyError, TypeError):
        return "malformed"
    return "malformed" if version == VERSION else "version"
