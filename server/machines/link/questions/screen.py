"""The server's end of what a link says about the screen and what is on it: a state machine without
I/O.

`server.machines.link.link` asks it while the link is up, and closes the link where it raises.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import get_args

from schemas.link.element_messages import ElementsQuery, ElementsSeen
from schemas.link.messages import (
    ActionPicture,
    DesktopQuery,
    DesktopSeen,
    Look,
    LookStop,
    PictureOptions,
    RequestFailed,
    ScreenCredit,
    ScreenFailed,
    Screenshot,
    ScreenStart,
    ScreenStop,
    Seen,
)
from schemas.link.picture_frames import Picture, PictureHeader, PictureKind
from server.machines.link.questions.pictures import PictureAssembly, PictureError

CREDIT_BYTES = 32 * 1024
"""How much of a picture arrives before the machine is told: half of what may be on its way."""


@dataclass(frozen=True, slots=True)
class LivePictureArrived:
    """The screen has changed, and looks like this now."""

    picture: Picture


@dataclass(frozen=True, slots=True)
class ScreenshotArrived:
    """The answer to a screenshot."""

    request: int
    picture: Picture


@dataclass(frozen=True, slots=True)
class DesktopArrived:
    """The answer to a desktop query."""

    request: int
    seen: DesktopSeen


@dataclass(frozen=True, slots=True)
class ElementsArrived:
    """The answer to a query for elements."""

    request: int
    seen: ElementsSeen


@dataclass(frozen=True, slots=True)
class LookEnded:
    """A wait is over."""

    request: int
    seen: Seen


@dataclass(frozen=True, slots=True)
class RequestRefused:
    """A question about the screen has no answer.

    ``code`` and ``field`` are there where this desktop does not have what was asked for.
    """

    request: int
    reason: str
    code: str | None = None
    field: str | None = None


@dataclass(frozen=True, slots=True)
class LiveScreenEnded:
    """The machine cannot show its live screen any more."""

    reason: str


ScreenArrival = (
    LivePictureArrived
    | ScreenshotArrived
    | DesktopArrived
    | ElementsArrived
    | LookEnded
    | RequestRefused
    | LiveScreenEnded
)
ScreenAnswer = ScreenFailed | RequestFailed | Seen | DesktopSeen | ElementsSeen
_Request = Screenshot | ActionPicture | Look | DesktopQuery | ElementsQuery
ScreenQuestion = ScreenStart | ScreenStop | LookStop | _Request

_AS_IT_WAS_TAKEN = PictureOptions(quality=1)


class ScreenLink:
    """What was asked of one machine's screen, and what may come back."""

    def __init__(self, largest_picture: int, server_time: Callable[[], int]) -> None:
        self._server_time = server_time
        self._assembly = PictureAssembly(largest_picture)
        self._received = self._credited = 0
        self._live: ScreenStart | None = None
        self._newest_stream = 0
        self._oldest_stream = 1
        self._requests: dict[int, _Request] = {}

    def asked(self, question: ScreenQuestion) -> None:
        """Note what is about to be sent; streams and requests have numbers that grow, from 1."""
        match question:
            case ScreenStart(stream=stream):
                self._live, self._newest_stream = question, stream
            case ScreenStop():
                self._live = None
            case LookStop():
                pass  # It is answered by the end of what it stops.
            case _:
                self._requests[question.request] = question

    def answered(self, answer: ScreenAnswer) -> list[ScreenArrival]:
        """Take a text message about the screen.  Raises PictureError."""
        match answer:
            case ScreenFailed(stream=stream, reason=reason):
                if not 0 < stream <= self._newest_stream:
                    raise PictureError(f"a live screen {stream} failed that nobody asked for")
                if self._live is None or self._live.stream != stream:
                    return []
                self._live = None
                return [LiveScreenEnded(reason)]
            case RequestFailed(request=request, reason=reason, code=code, field=field):
                self._take_request(request, *get_args(_Request))
                return [RequestRefused(request, reason, code, field)]
            case Seen(request=request):
                self._take_request(request, Look)
                return [LookEnded(request, answer)]
            case DesktopSeen(request=request):
                self._take_request(request, DesktopQuery)
                return [DesktopArrived(request, answer)]
            case ElementsSeen(request=request):
                asked = self._take_request(request, ElementsQuery)
                if isinstance(asked, ElementsQuery) and len(answer.elements) > asked.limit:
                    raise PictureError(f"more elements than the request {request} was for")
                return [ElementsArrived(request, answer)]

    def frame_received(self, frame: bytes) -> list[ScreenCredit | ScreenArrival]:
        """Take a part of a picture.  Raises PictureError."""
        header, size, content = self._assembly.add(frame)
        wish = self._wish_of(header)
        self._received += size
        effects: list[ScreenCredit | ScreenArrival] = []
        if content is not None or self._received - self._credited >= CREDIT_BYTES:
            self._credited = self._received
            effects.append(ScreenCredit(received=self._received, server_time=self._server_time()))
        if content is not None:
            effects += self._arrived(header, wish, content)
        return effects

    def _wish_of(self, header: PictureHeader) -> PictureOptions | None:
        """What a picture was to be like; None for one of a live screen that was stopped since."""
        if header.kind is PictureKind.SCREENSHOT:
            asked = self._requests.get(header.number)
            if isinstance(asked, ActionPicture):
                return _AS_IT_WAS_TAKEN
            if not isinstance(asked, Screenshot) or asked.format != header.format:
                raise PictureError(f"a screenshot {header.number} that nobody asked for")
            return asked
        if (
            header.format != "jpeg"
            or not self._oldest_stream <= header.number <= self._newest_stream
        ):
            raise PictureError(f"a picture of a live screen {header.number} that nobody asked for")
        # A machine that has begun a later stream has nothing more to say of the earlier ones.
        self._oldest_stream = header.number
        if self._live is not None and self._live.stream == header.number:
            return self._live
        return None

    def _arrived(
        self, header: PictureHeader, wish: PictureOptions | None, content: bytes
    ) -> list[ScreenCredit | ScreenArrival]:
        if wish is None:
            # One picture may have been on its way when its stream was stopped; only one.
            self._oldest_stream = header.number + 1
            return []
        width, height = header.size
        if width > (wish.width or width) or height > (wish.height or height):
            raise PictureError(f"a picture of {width} x {height} pixels is larger than asked for")
        picture = Picture(
            format=header.format,
            content=content,
            size=header.size,
            region=header.region,
            captured_at=min(header.captured_at, self._server_time()),
        )
        if header.kind is PictureKind.LIVE:
            return [LivePictureArrived(picture)]
        del self._requests[header.number]
        return [ScreenshotArrived(header.number, picture)]

    def _take_request(self, request: int, *kinds: type[_Request]) -> _Request:
        asked = self._requests.pop(request, None)
        if asked is None or not isinstance(asked, kinds):
            raise PictureError(f"an answer to a request {request} that nobody has made")
        return asked
