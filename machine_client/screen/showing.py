"""What of a wait the machine's node judges: parts of the screen, whenever they have changed.

One part is shown at a time, and after each the wait rests for as long as its judgement took, so
that a screen that never rests keeps nobody busy all the time.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from machine_client.desktop.base import DesktopError, RawFrame
from machine_client.screen.encoding import encode
from machine_client.screen.sender import EncodedPicture
from machine_client.screen.stillness import change_between
from schemas.inputs.pictures import Area
from schemas.inputs.sights import PictureShown, TextShown
from schemas.inputs.waits import Condition
from schemas.link.messages import FrameJudged
from schemas.values.pictures import Region

SHORTEST_REST: Final = 0.1
"""Seconds."""

VISION_UNAVAILABLE: Final = "vision_unavailable"

Tell = Callable[[FrameJudged], None]
Show = Callable[[tuple[int, ...], EncodedPicture, Tell], None]
"""Shows the node a picture for the conditions of these numbers, and tells what it says."""


def show_nobody(_conditions: tuple[int, ...], _picture: EncodedPicture, _tell: Tell) -> None:
    """For whoever waits for what nobody else has to judge."""


@dataclass(frozen=True, slots=True)
class _AsItIs:
    """A picture at the screen's own resolution."""

    width: int | None = None
    height: int | None = None
    quality: int = 80


@dataclass(slots=True)
class _Part:
    """A part of the screen, the numbers of what is sought there, and what was shown of it last."""

    region: Area | None
    numbers: tuple[int, ...] = ()
    shown: RawFrame | None = None
    compared: RawFrame | None = None
    ignore: tuple[Area, ...] = ()


class Showing:
    """Those of a wait's conditions that the node judges; nothing is shown where there are none.

    ``met`` is which of them is met, and where; ``seen`` are the texts that were like those sought.
    """

    def __init__(self, conditions: Iterable[Condition], show: Show) -> None:
        self.met: tuple[int, Region | None] | None = None
        self.seen: tuple[str, ...] = ()
        self._show = show
        self._parts = _parts_of(conditions)
        self._frame: RawFrame | None = None
        self._shown_at: float | None = None
        self._judged: FrameJudged | None = None
        self._rests_until = 0.0

    @property
    def is_being_judged(self) -> bool:
        """Whether something that was shown is being judged."""
        return self._shown_at is not None

    @property
    def is_busy(self) -> bool:
        """Whether something is being judged, or is to be shown soon."""
        return self.is_being_judged or any(self._is_new(part) for part in self._parts)

    def saw(self, frame: RawFrame) -> None:
        """The screen shows this."""
        self._frame = frame

    def go_on(self, at: float) -> None:
        """Take what was judged, and show what has changed; ``at`` is seconds of any one clock.

        Raises DesktopError where nobody judges it.
        """
        if self._shown_at is not None:
            if self._judged is None:
                return
            self._take(self._judged, at - self._shown_at, at)
        if self.met is None and at >= self._rests_until:
            self._show_next(at)

    def _take(self, judged: FrameJudged, took: float, at: float) -> None:
        self._judged = self._shown_at = None
        self._rests_until = at + max(took, SHORTEST_REST)
        if judged.failed is not None:
            raise DesktopError(VISION_UNAVAILABLE, judged.failed)
        self.seen = judged.seen or self.seen
        if judged.matched is not None:
            self.met = judged.matched, judged.at

    def _show_next(self, at: float) -> None:
        for part in tuple(self._parts):
            if self._frame is not None and self._is_new(part) and _differs(part, self._frame):
                # The others come first next time.
                self._parts.remove(part)
                self._parts.append(part)
                part.shown = part.compared = self._frame
                self._shown_at = at
                self._show(part.numbers, _picture_of(part, self._frame), self._tell)
                return

    def _is_new(self, part: _Part) -> bool:
        return part.compared is not self._frame

    def _tell(self, judged: FrameJudged) -> None:
        self._judged = judged


def _parts_of(conditions: Iterable[Condition]) -> list[_Part]:
    parts: list[_Part] = []
    for number, condition in enumerate(conditions):
        if not isinstance(condition, TextShown | PictureShown):
            continue
        part = next((each for each in parts if each.region == condition.region), None)
        if part is None:
            part = _Part(condition.region)
            parts.append(part)
        part.numbers = (*part.numbers, number)
    return parts


def _differs(part: _Part, frame: RawFrame) -> bool:
    part.compared = frame
    return part.shown is None or change_between(part.shown, frame, part) is not None


def _picture_of(part: _Part, frame: RawFrame) -> EncodedPicture:
    area = part.region
    region = frame.region if area is None else Region(area.x, area.y, area.width, area.height)
    content, size = encode(frame, "png", _AsItIs(), region)
    return EncodedPicture("png", content, size, region, frame.captured_at)
