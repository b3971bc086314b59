"""The server's end of what a link says about the screen and what is on it: a state machine without
I/O.

`server.machines.link.link` asks it while the link is up, and closes the link where it raises.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, get_args
from uuid import UUID

from pydantic import TypeAdapter

from schemas.inputs.sights import PictureShown, Sighted, TextShown
from schemas.inputs.waits import Condition
from schemas.link.element_messages import ElementsQuery, ElementsSeen
from schemas.link.messages import (
    ActionPicture,
    DesktopQuery,
    DesktopSeen,
    FrameJudged,
    FrameShown,
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
class FrameArrived:
    """The machine shows a part of its screen, and wants to know which of the conditions it meets.

    Each has the number that it has in its wait.
    """

    number: int
    conditions: tuple[tuple[int, Sighted], ...]
    picture: Picture


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
    | FrameArrived
    | RequestRefused
    | LiveScreenEnded
)
ScreenAnswer = ScreenFailed | RequestFailed | Seen | DesktopSeen | FrameShown | ElementsSeen
_Request = Screenshot | ActionPicture | Look | DesktopQuery | ElementsQuery
ScreenQuestion = ScreenStart | ScreenStop | LookStop | FrameJudged | _Request

MOST_FRAMES = 16
"""Frames that a machine may have shown and not sent yet: each of its waits shows one at a time, and
one that has ended may still be on its way."""

_CONDITIONS: TypeAdapter[tuple[Condition, ...]] = TypeAdapter(tuple[Condition, ...])

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
        self._waiting: dict[UUID, list[dict[str, Any]]] = {}
        self._frames: dict[int, tuple[tuple[int, Sighted], ...]] = {}
        self._newest_frame = 0

    def sent(self, command_id: UUID, actions: list[dict[str, Any]]) -> None:
        """Note the actions of a command, which may wait for what frames of the screen show."""
        if any(action["operation"] == "wait_for" for action in actions):
            self._waiting[command_id] = actions

    def ended(self, command_id: UUID) -> None:
        """A command is over: it waits for nothing any more."""
        self._waiting.pop(command_id, None)

    def asked(self, question: ScreenQuestion) -> None:
        """Note what is about to be sent; streams and requests have numbers that grow, from 1."""
        match question:
            case ScreenStart(stream=stream):
                self._live, self._newest_stream = question, stream
            case ScreenStop():
                self._live = None
            case LookStop() | FrameJudged():
                pass  # The one is answered by the end of what it stops, the other by nothing.
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
            case FrameShown():
                return self._shown(answer)
            case DesktopSeen(request=request):
                self._take_request(request, DesktopQuery)
                return [DesktopArrived(request, answer)]
            case ElementsSeen(request=request):
                asked = self._take_request(request, ElementsQuery)
                if isinstance(asked, ElementsQuery) and len(answer.elements) > asked.limit:
                    raise PictureError(f"more elements than the request {request} was for")
                return [ElementsArrived(request, answer)]

    def _shown(self, shown: FrameShown) -> list[ScreenArrival]:
        if shown.number <= self._newest_frame or len(self._frames) >= MOST_FRAMES:
            raise PictureError(f"a frame {shown.number} for nobody")
        conditions = dict(enumerate(self._conditions_of(shown)))
        sought = [(number, conditions.get(number)) for number in shown.conditions]
        self._frames[shown.number] = tuple(
            (number, each) for number, each in sought if isinstance(each, TextShown | PictureShown)
        )
        if not self._frames[shown.number]:
            raise PictureError(f"a frame {shown.number} for conditions that need none")
        self._newest_frame = shown.number
        return []

    def _conditions_of(self, shown: FrameShown) -> tuple[Condition, ...]:
        """What the wait waits for that a frame is shown for."""
        if shown.request is not None:
            look = self._requests.get(shown.request)
            if isinstance(look, Look):
                return look.any
        elif shown.command_id is not None and shown.action is not None:
            actions = self._waiting.get(shown.command_id, [])[shown.action :]
            if actions and actions[0]["operation"] == "wait_for":
                return _CONDITIONS.validate_python(actions[0]["any"])
        raise PictureError(f"a frame {shown.number} for a wait that nobody has begun")

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
        if header.kind is PictureKind.FRAME:
            if header.number not in self._frames:
                raise PictureError(f"a frame {header.number} that was not announced")
            return _AS_IT_WAS_TAKEN
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
        if header.kind is PictureKind.FRAME:
            return [FrameArrived(header.number, self._frames.pop(header.number), picture)]
        del self._requests[header.number]
        return [ScreenshotArrived(header.number, picture)]

    def _take_request(self, request: int, *kinds: type[_Request]) -> _Request:
        asked = self._requests.pop(request, None)
        if asked is None or not isinstance(asked, kinds):
            raise PictureError(f"an answer to a request {request} that nobody has made")
        return asked
