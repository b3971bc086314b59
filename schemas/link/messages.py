"""Every message of the link between a server and a machine client, protocol version 1.

``hello`` lists the versions that the client speaks and ``welcome`` chooses the newest that both
know; a message that only a later version has is never sent on a link of an earlier one.

One union for each direction, told apart by ``type``.  Times are milliseconds of the server's clock
since 1970, lengths of time are seconds.  Both sides ignore fields that they do not know, so that
either may be the newer one; a message of an unknown type is an error.  Messages about the screen
are sent only to a client whose ``hello`` says that it can show one; pictures are binary frames
(`schemas.link.picture_frames`).
"""

from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field, TypeAdapter

from schemas.inputs.actions import MAX_ACTIONS
from schemas.inputs.bodies import BUTTONS, Button, Operation
from schemas.inputs.outcomes import Outcome, Point
from schemas.inputs.pictures import Area
from schemas.inputs.sights import SeenTexts
from schemas.inputs.waits import MAX_CONDITIONS, MAX_WAIT_SECONDS, Conditions
from schemas.link.clipboard_messages import (
    ClipboardFailed,
    ClipboardNext,
    ClipboardQuery,
    ClipboardRead,
    InputText,
)
from schemas.link.element_messages import ElementsQuery, ElementsSeen
from schemas.link.message import Message as _Message
from schemas.link.picture_frames import MAX_PICTURE_BYTES
from schemas.values.foreign_texts import ForeignReason, ForeignText, ShortForeignText
from schemas.values.pictures import MAX_PICTURE_SIDE, PictureFormat, Region
from schemas.values.scalars import Int32

SUBPROTOCOL = "farhand.machine.v1"
PROTOCOLS: tuple[int, ...] = (1,)
"""The versions of the protocol that this program speaks, the newest last."""

JOIN_HEADER = "Farhand-Join"
"""What a client sends that joins with a code: the SHA-256 of the token that it made, in hex."""

HOST_HEADER = "Farhand-Host"
"""What the host of a client that joins calls itself."""

PROTOCOLS_HEADER = "Farhand-Protocols"
"""In the answer to a handshake: the versions that the server speaks, such as ``1, 2``.

So a version that does not fit is known without a ``hello``, which would take over the link.
"""

CONNECT_PATH = "/v1/machines/connect"

MAX_MESSAGE_BYTES = 256 * 1024
"""The longest text frame that either side accepts."""


class Display(_Message):
    """One screen of the desktop: its place and size in the pixels that inputs use."""

    x: Int32
    y: Int32
    width: Annotated[Int32, Field(gt=0)]
    height: Annotated[Int32, Field(gt=0)]
    scale: float = Field(1.0, gt=0, description="Physical pixels for each input pixel.")


class Capability(_Message):
    """Something that a machine can do, or why it cannot.

    What its owner has ``switched_off`` is no trouble that anybody should look after.
    """

    available: bool
    reason: ForeignReason | None = None
    switched_off: bool = False


class JournalPosition(_Message):
    """Which journal the machine keeps and how far it has come."""

    id: UUID
    sequence: int = Field(ge=0, lt=2**63, description="Grows with every record, never goes back.")


class Released(_Message):
    """What a machine client let go of that an earlier one, which was killed, had left pressed.

    Of keys only their number is told: which ones they were could tell what was typed.
    """

    buttons: list[Button] = Field(max_length=len(BUTTONS))
    keys: int = Field(ge=0, le=256)


class Hello(_Message):
    """The machine client's first message.

    One that ``yields`` was closed with TAKEN_OVER before and never takes over a live link.  What
    can be done with the clipboard is known when the client starts.
    """

    type: Literal["hello"] = "hello"
    protocols: list[Int32] = Field(min_length=1, max_length=16)
    client_version: ShortForeignText
    platform: ForeignText
    boot_id: ShortForeignText
    displays: list[Display] = Field(max_length=64)
    input: Capability
    screen: Capability
    journal: JournalPosition
    yields: bool
    released: Released | None = None
    clipboard_read: Capability
    clipboard_write: Capability
    elements: Capability
    desktop: ShortForeignText | None = Field(
        description="Its kind, such as x11; null where there is none to work on."
    )
    host: ShortForeignText | None = Field(
        None, description="What the host calls itself, for people; boot_id tells hosts apart."
    )


class DesktopChanged(_Message):
    """The desktop came, went or changed while the link stands."""

    type: Literal["desktop_changed"] = "desktop_changed"
    displays: list[Display] = Field(max_length=64)
    input: Capability
    screen: Capability
    elements: Capability
    released: Released | None = None


class Interrupted(_Message):
    """The answer to ``interrupt``: nothing runs or waits of what came before, nothing is held."""

    type: Literal["interrupted"] = "interrupted"
    request: UUID


class Ack(_Message):
    """How a command ended; sent once for each ``input``."""

    type: Literal["ack"] = "ack"
    command_id: UUID
    outcome: Outcome
    journal_sequence: int = Field(ge=0, lt=2**63)


class Report(_Message):
    """The answer to ``resolve``: the final outcome, or null while the command still runs."""

    type: Literal["report"] = "report"
    command_id: UUID
    outcome: Outcome | None
    journal_sequence: int = Field(ge=0, lt=2**63)


class Ready(_Message):
    """The answer to ``welcome``: this link is listened to, and the journal still as in ``hello``.

    Its number must not grow from ``hello`` to the first heartbeat: only then has the server stored
    what a lost journal leaves unknown.
    """

    type: Literal["ready"] = "ready"


class HeartbeatAck(_Message):
    """The answer to ``heartbeat``, after the journal has got a mark, which counts its number up.

    So a copy of the journal that was made before, and is put back later, is told by a lower one;
    a copy that has been used since, and has counted up as far, lacks the mark's random id.
    """

    type: Literal["heartbeat_ack"] = "heartbeat_ack"
    sequence: int
    journal_sequence: int = Field(ge=0, lt=2**63)
    mark: UUID = Field(description="The mark's id.")


class ScreenFailed(_Message):
    """The live screen that ``screen_start`` asked for cannot be shown any more."""

    type: Literal["screen_failed"] = "screen_failed"
    stream: int = Field(ge=0, lt=2**63)
    reason: ForeignReason


class RequestFailed(_Message):
    """The answer to a question about the screen, or its elements, where there is none.

    ``code`` and ``field`` are there where what was asked for is not to be had on this screen.
    """

    type: Literal["request_failed"] = "request_failed"
    request: int = Field(ge=0, lt=2**63)
    reason: ForeignReason
    code: str | None = Field(None, max_length=64)
    field: str | None = Field(None, max_length=64)


class DesktopSeen(_Message):
    """The answer to ``desktop_query``: the desktop as it is now."""

    type: Literal["desktop_seen"] = "desktop_seen"
    request: int = Field(ge=0, lt=2**63)
    displays: list[Display] = Field(min_length=1, max_length=64)
    pointer: Point


class Seen(_Message):
    """The answer to ``look``: which condition was met and where, null of both where none was."""

    type: Literal["seen"] = "seen"
    request: int = Field(ge=0, lt=2**63)
    matched: Annotated[int, Field(ge=0, lt=MAX_CONDITIONS)] | None
    at: Region | None
    elapsed: float = Field(ge=0, description="Seconds.")
    seen: SeenTexts = Field((), description="As the node has said them last.")


class FrameShown(_Message):
    """What does this show?  A picture of kind FRAME with its number follows.

    It is of a part of the desktop where something has changed, for the conditions of these numbers:
    of the wait that ``look`` asked for, or of an action of a command that is under way.
    """

    type: Literal["frame_shown"] = "frame_shown"
    number: int = Field(ge=1, lt=2**63, description="Grows with each on a link.")
    request: int | None = Field(None, ge=0, lt=2**63, description="That of ``look``.")
    command_id: UUID | None = None
    action: Annotated[int, Field(ge=0, lt=MAX_ACTIONS)] | None = None
    conditions: tuple[Annotated[int, Field(ge=0, lt=MAX_CONDITIONS)], ...] = Field(
        min_length=1, max_length=MAX_CONDITIONS
    )


class Limits(_Message):
    """What the server expects of the link."""

    unanswered_inputs: int = Field(gt=0)
    message_bytes: int = Field(gt=0)
    picture_bytes: int = Field(MAX_PICTURE_BYTES, gt=0)


class Welcome(_Message):
    """The server's answer to ``hello``: the machine is known, and says ``ready`` next.

    When the link ends, the client waits up to ``reconnect_spread_seconds`` before its first try, so
    that all the machines of a server do not come back in one moment.
    """

    type: Literal["welcome"] = "welcome"
    protocol: int
    link_id: UUID
    machine_id: str
    server_time: int
    heartbeat_seconds: float = Field(gt=0)
    limits: Limits
    reconnect_spread_seconds: float = Field(ge=0, le=3600)


class Input(_Message):
    """A command to carry out, after all earlier ones and not after ``expires_at``.

    It names the link that it is sent on.  On any other it means nothing: a server never says it
    twice, so that whoever repeats it there is no server.
    """

    type: Literal["input"] = "input"
    link_id: UUID
    command_id: UUID
    operation: Operation
    body: dict[str, Any]
    fingerprint: str = Field(max_length=64, description="Empty where no key can repeat it.")
    expires_at: int
    server_time: int
    request_id: str = Field("", max_length=64, description="For the logs of both sides.")


class Resolve(_Message):
    """Report what became of a command; one that never arrived must never be carried out.

    ``mark`` is the last mark of the journal that the server had heard of when the command was sent.
    A journal that lacks it is a copy from another branch: there the outcome is unknown.  There is
    none where the command was lost on its way from another node, which knew no journal.

    ``fingerprint`` is that of the input that was sent.
    """

    type: Literal["resolve"] = "resolve"
    command_id: UUID
    mark: UUID | None = None
    fingerprint: str = Field(max_length=64)
    server_time: int


class Interrupt(_Message):
    """End the input that runs, expire those that wait, and release what is held.

    Control of the machine changes hands, so that what comes after it is somebody else's, or the
    machine is paused, or the server stops.  The command that it ends is acknowledged as failed with
    the code "interrupted".
    """

    type: Literal["interrupt"] = "interrupt"
    request: UUID
    server_time: int


class NewToken(_Message):
    """Make a new token, and come back with it and this code; the one of now falls then."""

    type: Literal["new_token"] = "new_token"
    code: str = Field(max_length=64, repr=False)
    server_time: int


class Heartbeat(_Message):
    """Is anybody there?  Carries the server's clock.

    The first one of a link, whose ``sequence`` is 1, comes before anything else; when it is
    answered, inputs may follow.
    """

    type: Literal["heartbeat"] = "heartbeat"
    sequence: int
    server_time: int


Side = Annotated[int, Field(ge=1, le=MAX_PICTURE_SIDE)]
Quality = Annotated[int, Field(ge=1, le=95)]
Rate = Annotated[float, Field(gt=0, le=60, allow_inf_nan=False)]
"""Pictures a second."""


class PictureOptions(_Message):
    """How a picture should be: it fits into width and height, and is never enlarged."""

    width: Side | None = None
    height: Side | None = None
    quality: Quality = Field(description="Of JPEG: 1 is small and coarse, 95 large and fine.")


class ScreenStart(PictureOptions):
    """Send the live screen: a JPEG now, and another whenever it has changed.

    One that is under way gives way to it.  ``rate`` is pictures a second, at most.
    """

    type: Literal["screen_start"] = "screen_start"
    stream: int = Field(ge=0, description="Grows with each on a link.")
    rate: Rate
    server_time: int


class ScreenStop(_Message):
    """Nobody looks at the live screen any more."""

    type: Literal["screen_stop"] = "screen_stop"
    stream: int = Field(ge=0)
    server_time: int


class ScreenCredit(_Message):
    """So many bytes of pictures have arrived on this link, headers aside."""

    type: Literal["screen_credit"] = "screen_credit"
    received: int = Field(ge=0)
    server_time: int


class Screenshot(PictureOptions):
    """Send one picture of the screen as it is now: of all of it, a part, or one display."""

    type: Literal["screenshot"] = "screenshot"
    request: int = Field(ge=0, description="Grows with each request on a link.")
    format: PictureFormat
    region: Area | None = None
    display: int | None = None
    pointer: bool = True
    server_time: int


class ActionPicture(_Message):
    """Send the picture that a command had taken, which is kept until it is asked for once.

    ``action`` is which of its actions, null the one at its end.
    """

    type: Literal["action_picture"] = "action_picture"
    request: int = Field(ge=0, description="One of the numbers of ``screenshot``.")
    command_id: UUID
    action: int | None
    server_time: int


class Look(_Message):
    """Wait until the screen meets one of these conditions, for so many seconds at most."""

    type: Literal["look"] = "look"
    request: int = Field(ge=0, description="One of the numbers of ``screenshot``.")
    any: Conditions
    timeout: float = Field(gt=0, le=MAX_WAIT_SECONDS)
    server_time: int


class LookStop(_Message):
    """Nobody waits any more for what ``look`` asked; it is answered at once."""

    type: Literal["look_stop"] = "look_stop"
    request: int = Field(ge=0)
    server_time: int


class FrameJudged(_Message):
    """The answer to ``frame_shown``: which condition is met and where, null of both where none is.

    ``seen`` are the texts nearest to those that were sought in vain; ``failed`` says why nobody
    has looked.
    """

    type: Literal["frame_judged"] = "frame_judged"
    number: int = Field(ge=1)
    matched: Annotated[int, Field(ge=0, lt=MAX_CONDITIONS)] | None = None
    at: Region | None = None
    seen: SeenTexts = ()
    failed: ForeignReason | None = None
    server_time: int


class DesktopQuery(_Message):
    """Where are the displays, and where is the pointer?"""

    type: Literal["desktop_query"] = "desktop_query"
    request: int = Field(ge=0)
    server_time: int


AnyServerMessage = (
    Welcome
    | Input
    | Resolve
    | Interrupt
    | NewToken
    | Heartbeat
    | ScreenStart
    | ScreenStop
    | ScreenCredit
    | Screenshot
    | ActionPicture
    | Look
    | LookStop
    | FrameJudged
    | DesktopQuery
    | ElementsQuery
    | InputText
    | ClipboardQuery
    | ClipboardNext
)
AnyClientMessage = (
    Hello
    | Ready
    | Ack
    | Report
    | HeartbeatAck
    | ScreenFailed
    | RequestFailed
    | Seen
    | FrameShown
    | DesktopSeen
    | ElementsSeen
    | DesktopChanged
    | Interrupted
    | ClipboardRead
    | ClipboardFailed
)

ServerMessage = Annotated[AnyServerMessage, Field(discriminator="type")]
"""What a server sends."""

ClientMessage = Annotated[AnyClientMessage, Field(discriminator="type")]
"""What a machine client sends."""

SERVER_MESSAGES: TypeAdapter[AnyServerMessage] = TypeAdapter(ServerMessage)
CLIENT_MESSAGES: TypeAdapter[AnyClientMessage] = TypeAdapter(ClientMessage)
