"""What happens to a session, and what must be done about it."""

from dataclasses import dataclass, field

from machine_client.screen.sender import ScreenEffect, ScreenResult
from machine_client.work.orders import ClipboardTaken, ExecutorEffect, ExecutorResult, ReadClipboard
from schemas.link.close_codes import CloseCode
from schemas.link.messages import (
    ClientMessage,
    DesktopChanged,
    Hello,
    ServerMessage,
)


@dataclass(frozen=True, slots=True)
class LinkOpened:
    """The websocket is open."""

    hello: Hello


@dataclass(frozen=True, slots=True)
class MessageReceived:
    """The server said something."""

    message: ServerMessage


@dataclass(frozen=True, slots=True)
class DesktopObserved:
    """The desktop was looked at and is as this says."""

    desktop: DesktopChanged


@dataclass(frozen=True, slots=True)
class TimePassed:
    """Nothing happened, but later."""


@dataclass(frozen=True, slots=True)
class LinkLost:
    """The websocket is closed, whoever did it."""


Event = (
    LinkOpened
    | MessageReceived
    | ExecutorResult
    | DesktopObserved
    | ScreenResult
    | ClipboardTaken
    | TimePassed
    | LinkLost
)


@dataclass(frozen=True, slots=True)
class SendMessage:
    """Write this to the websocket."""

    message: ClientMessage


@dataclass(frozen=True, slots=True)
class CloseLink:
    """Close the websocket with this code."""

    code: CloseCode
    reason: str


@dataclass(frozen=True, slots=True)
class ReplaceToken:
    """Make a new token, and come back with it and this code."""

    code: str = field(repr=False)


Effect = ReplaceToken | SendMessage | ExecutorEffect | CloseLink | ScreenEffect | ReadClipboard
