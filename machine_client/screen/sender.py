"""What this machine sends of its screen, and when: a state machine without I/O.

At most one picture is on its way, and of it no more than the server has room for, so that an
acknowledgement never waits behind a picture.  Only when all of it has arrived is the next live
picture ordered.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple
from uuid import UUID

from schemas.inputs.outcomes import Point
from schemas.link import picture_frames
from schemas.link.element_messages import ElementsQuery, ElementsSeen, SeenElement, Truncation
from schemas.link.messages import (
    ActionPicture,
    ClientMessage,
    DesktopQuery,
    DesktopSeen,
    Display,
    FrameJudged,
    FrameShown,
    Look,
    LookStop,
    RequestFailed,
    ScreenCredit,
    ScreenFailed,
    Screenshot,
    ScreenStart,
    ScreenStop,
    Seen,
)
from schemas.values.pictures import PictureFormat, Region, Size

MAX_REQUESTS = 16
MAX_KEPT = 12

MAX_KEPT_BYTES = 16 * 1024 * 1024
"""Of pictures that nobody has asked for yet: those of two commands at most."""

ScreenQuestion = (
    ScreenStart
    | ScreenStop
    | ScreenCredit
    | Screenshot
    | ActionPicture
    | Look
    | LookStop
    | FrameJudged
    | DesktopQuery
    | ElementsQuery
)
Glance = Screenshot | DesktopQuery
"""What is answered with what is there now."""

Request = Glance | Look | ElementsQuery
Order = ScreenStart | Request


@dataclass(frozen=True, slots=True)
class EncodedPicture:
    """An encoded picture of the screen; ``captured_at`` is seconds of the boottime clock."""

    format: PictureFormat
    content: bytes
    size: Size
    region: Region
    captured_at: float


@dataclass(frozen=True, slots=True)
class PictureCaptured:
    """An order has its picture."""

    order: ScreenStart | Screenshot
    picture: EncodedPicture


@dataclass(frozen=True, slots=True)
class DesktopQueried:
    """A query has its answer."""

    order: DesktopQuery
    displays: tuple[Display, ...]
    pointer: Point


@dataclass(frozen=True, slots=True)
class OrderFailed:
    """An order cannot be carried out; ``reason`` is for a person.

    ``code`` and ``field`` are there where this desktop does not have what was asked for.
    """

    order: Order
    reason: str
    code: str | None = None
    field: str | None = None


@dataclass(frozen=True, slots=True)
class PictureKept:
    """A command has had a picture taken, which waits to be asked for; or ``why_none`` says why not.

    ``action`` is which of its actions; None is the picture at its end.
    """

    command_id: UUID
    action: int | None
    picture: EncodedPicture | None = None
    why_none: str = "the picture was not taken, or is not kept any more"


@dataclass(frozen=True, slots=True)
class Sight:
    """Which of several conditions the screen met, from 0, and where it changed; None of none.

    ``elapsed`` is after how many seconds; ``seen`` are the texts that were like the sought ones.
    """

    matched: int | None
    at: Region | None
    elapsed: float
    seen: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LookEnded:
    """A wait is over: what was seen, or that nobody waits any more."""

    order: Look
    sight: Sight


class ActionPlace(NamedTuple):
    """An action of a command."""

    command_id: UUID
    action: int


@dataclass(frozen=True, slots=True, eq=False)
class FrameOffered:
    """A wait has a part of the screen for the node to judge, for the conditions of these numbers.

    ``tell`` takes what it says, in whatever thread; nothing comes where the link ends before.
    """

    of: Look | ActionPlace
    conditions: tuple[int, ...]
    picture: EncodedPicture
    tell: Callable[[FrameJudged], None]


@dataclass(frozen=True, slots=True)
class ElementsListed:
    """A question about elements has its answer; ``silent`` are programs that say nothing."""

    order: ElementsQuery
    elements: tuple[SeenElement, ...]
    truncated: Truncation | None
    silent: tuple[str, ...]


ScreenResult = (
    PictureCaptured
    | DesktopQueried
    | LookEnded
    | ElementsListed
    | OrderFailed
    | PictureKept
    | FrameOffered
)


@dataclass(frozen=True, slots=True)
class CaptureLive:
    """Take a picture once the screen looks otherwise than at the last one of this order."""

    order: ScreenStart


@dataclass(frozen=True, slots=True)
class StopLive:
    """Take no more live pictures."""


@dataclass(frozen=True, slots=True)
class RunRequest:
    """Take this screenshot, or look at the desktop, now."""

    order: Glance


@dataclass(frozen=True, slots=True)
class BeginLook:
    """Wait for what this asks; its end is reported."""

    order: Look


@dataclass(frozen=True, slots=True)
class StopLook:
    """Wait no more for what this asked; its end is reported."""

    order: Look


@dataclass(frozen=True, slots=True)
class TellJudged:
    """Tell who offered a frame what the node says of it."""

    offered: FrameOffered
    judged: FrameJudged


@dataclass(frozen=True, slots=True)
class ListElements:
    """Look which elements the screen shows; the answer is reported."""

    order: ElementsQuery


@dataclass(frozen=True, slots=True)
class SendFrame:
    """Write these bytes to the websocket, as a binary message."""

    frame: bytes


@dataclass(frozen=True, slots=True)
class SendScreenMessage:
    """Write this message to the websocket."""

    message: ClientMessage


ScreenEffect = (
    CaptureLive
    | StopLive
    | RunRequest
    | BeginLook
    | StopLook
    | TellJudged
    | ListElements
    | SendFrame
    | SendScreenMessage
)


class ScreenSender:
    """What one link has asked of the screen, and what of the answers is on its way."""

    def __init__(self) -> None:
        self._live: ScreenStart | None = None
        self._is_taking = False
        self._requests: list[Request] = []
        self._outgoing: deque[tuple[picture_frames.PictureHeader, bytes]] = deque()
        self._offset = 0
        self._sent = self._credited = 0
        self._kept: dict[tuple[UUID, int | None], tuple[PictureKept, int]] = {}
        self._offered: dict[int, FrameOffered] = {}
        self._frames = 0

    def asked(self, question: ScreenQuestion) -> list[ScreenEffect]:
        """Take a message of the server about the screen."""
        match question:
            case ScreenStart():
                self._live, self._is_taking = question, False
                return self._order_next()
            case ScreenStop(stream=stream):
                if self._live is None or self._live.stream != stream:
                    return []
                self._live, self._is_taking = None, False
                return [StopLive()]
            case ScreenCredit(received=received):
                self._credited = min(max(self._credited, received), self._sent)
                return self._go_on()
            case ActionPicture():
                return self._asked_for_kept(question)
            case FrameJudged(number=number):
                offered = self._offered.pop(number, None)
                return [] if offered is None else [TellJudged(offered, question)]
            case LookStop(request=request):
                return [StopLook(look) for look in self._looks if look.request == request]
            case Screenshot() | Look() | DesktopQuery() | ElementsQuery():
                if len(self._requests) >= MAX_REQUESTS:
                    reason = f"more than {MAX_REQUESTS} requests wait"
                    return [
                        SendScreenMessage(RequestFailed(request=question.request, reason=reason))
                    ]
                self._requests.append(question)
                if isinstance(question, Look):
                    return [BeginLook(question)]
                if isinstance(question, ElementsQuery):
                    return [ListElements(question)]
                return [RunRequest(question)]

    def taken(self, taken: ScreenResult, captured_at: int, largest: int) -> list[ScreenEffect]:
        """Take what became of an order; those of an earlier link have nobody who waits for them.

        ``captured_at`` is milliseconds of the server's clock, ``largest`` how many bytes a picture
        may have.
        """
        if isinstance(taken, PictureKept):
            return self._keep(taken, captured_at, largest)
        if isinstance(taken, FrameOffered):
            return self._show(taken, captured_at, largest)
        if not self._is_open(taken.order):
            return []
        match taken:
            case PictureCaptured(order=order, picture=picture):
                if (why := _too_large(picture, largest)) is not None:
                    return self._failed(order, why)
                self._close(order)
                self._outgoing.append((_header(order, picture, captured_at), picture.content))
                return self._go_on()
            case DesktopQueried(order=query, displays=displays, pointer=pointer):
                self._close(query)
                seen = DesktopSeen(request=query.request, displays=[*displays], pointer=pointer)
                return [SendScreenMessage(seen)]
            case ElementsListed(order=asked):
                self._close(asked)
                return [SendScreenMessage(_answer(taken))]
            case LookEnded(order=look, sight=sight):
                self._close(look)
                return [
                    SendScreenMessage(
                        Seen(
                            request=look.request,
                            matched=sight.matched,
                            at=sight.at,
                            elapsed=sight.elapsed,
                            seen=sight.seen,
                        )
                    )
                ]
            case OrderFailed(order=failed, reason=reason, code=code, field=field):
                return self._failed(failed, reason, code, field)

    def _show(self, offered: FrameOffered, captured_at: int, largest: int) -> list[ScreenEffect]:
        """Have the node judge a frame, where whoever waits is still waited for."""
        if isinstance(offered.of, Look) and not self._is_open(offered.of):
            return []
        self._frames += 1
        if (why := _too_large(offered.picture, largest)) is not None:
            # It is as if the node had said so.
            refused = FrameJudged(number=self._frames, failed=why, server_time=captured_at)
            return [TellJudged(offered, refused)]
        self._offered[self._frames] = offered
        header = _header_of(
            picture_frames.PictureKind.FRAME, self._frames, offered.picture, captured_at
        )
        self._outgoing.append((header, offered.picture.content))
        return [SendScreenMessage(_shown(self._frames, offered)), *self._go_on()]

    def _keep(self, kept: PictureKept, captured_at: int, largest: int) -> list[ScreenEffect]:
        if kept.picture is not None and (why := _too_large(kept.picture, largest)) is not None:
            kept = PictureKept(kept.command_id, kept.action, why_none=why)
        self._kept[kept.command_id, kept.action] = kept, captured_at
        while len(self._kept) > MAX_KEPT or self._kept_bytes > MAX_KEPT_BYTES:
            del self._kept[next(iter(self._kept))]
        return []

    @property
    def _kept_bytes(self) -> int:
        pictures = (kept.picture for kept, _ in self._kept.values())
        return sum(len(picture.content) for picture in pictures if picture is not None)

    def _asked_for_kept(self, question: ActionPicture) -> list[ScreenEffect]:
        sought = question.command_id, question.action
        kept, captured_at = self._kept.pop(sought, (PictureKept(*sought), 0))
        if kept.picture is None:
            failed = RequestFailed(
                request=question.request,
                reason=kept.why_none[:500],
                code="no_picture",
                field="screenshot",
            )
            return [SendScreenMessage(failed)]
        header = _header(question, kept.picture, captured_at)
        self._outgoing.append((header, kept.picture.content))
        return self._go_on()

    def over(self) -> list[ScreenEffect]:
        """The link is gone, and with it whoever looked."""
        live, self._live = self._live, None
        stops: list[ScreenEffect] = [StopLook(look) for look in self._looks]
        self._requests, self._outgoing = [], deque()
        self._offered.clear()
        return stops if live is None else [*stops, StopLive()]

    @property
    def _looks(self) -> list[Look]:
        return [each for each in self._requests if isinstance(each, Look)]

    def _is_open(self, order: Order) -> bool:
        # By identity: the next link numbers its orders from the beginning again.
        return order is self._live or any(order is request for request in self._requests)

    def _close(self, order: Order) -> None:
        if order is self._live:
            self._is_taking = False
        else:
            self._requests = [request for request in self._requests if request is not order]

    def _failed(
        self, order: Order, reason: str, code: str | None = None, field: str | None = None
    ) -> list[ScreenEffect]:
        self._close(order)
        if isinstance(order, ScreenStart):
            self._live = None
            return [
                StopLive(),
                SendScreenMessage(ScreenFailed(stream=order.stream, reason=reason[:500])),
            ]
        failed = RequestFailed(request=order.request, reason=reason[:500], code=code, field=field)
        return [SendScreenMessage(failed)]

    def _go_on(self) -> list[ScreenEffect]:
        """Send as much as there is room for; then order the next live picture."""
        effects: list[ScreenEffect] = []
        while self._outgoing and (self._offset or self._sent == self._credited):
            header, content = self._outgoing[0]
            part = memoryview(content)[self._offset : self._offset + picture_frames.FRAME_BYTES]
            if self._sent - self._credited + len(part) > picture_frames.WINDOW_BYTES:
                return effects
            effects.append(SendFrame(header.frame(self._offset, part)))
            self._sent += len(part)
            self._offset += len(part)
            if self._offset == len(content):
                self._outgoing.popleft()
                self._offset = 0
        return [*effects, *self._order_next()]

    def _order_next(self) -> list[ScreenEffect]:
        if self._live is None or self._is_taking or self._outgoing or self._sent > self._credited:
            return []
        self._is_taking = True
        return [CaptureLive(self._live)]


def _too_large(picture: EncodedPicture, largest: int) -> str | None:
    """Why a picture cannot be sent, if it is so."""
    if (size := len(picture.content)) <= largest:
        return None
    return (
        f"the picture has {size} bytes and the server takes {largest}: ask for a smaller one, or "
        "for JPEG of a lower quality"
    )


def _shown(number: int, offered: FrameOffered) -> FrameShown:
    if isinstance(offered.of, Look):
        of: dict[str, Any] = {"request": offered.of.request}
    else:
        of = offered.of._asdict()
    return FrameShown(number=number, conditions=offered.conditions, **of)


def _answer(listed: ElementsListed) -> ElementsSeen:
    return ElementsSeen(
        request=listed.order.request,
        elements=[*listed.elements],
        truncated=listed.truncated,
        silent=[*listed.silent],
    )


def _header(
    order: ScreenStart | Screenshot | ActionPicture, picture: EncodedPicture, captured_at: int
) -> picture_frames.PictureHeader:
    if isinstance(order, ScreenStart):
        kind, number = picture_frames.PictureKind.LIVE, order.stream
    else:
        kind, number = picture_frames.PictureKind.SCREENSHOT, order.request
    return _header_of(kind, number, picture, captured_at)


def _header_of(
    kind: picture_frames.PictureKind, number: int, picture: EncodedPicture, captured_at: int
) -> picture_frames.PictureHeader:
    return picture_frames.PictureHeader(
        kind=kind,
        number=number,
        format=picture.format,
        captured_at=captured_at,
        region=picture.region,
        size=picture.size,
        total=len(picture.content),
    )
