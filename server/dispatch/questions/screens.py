"""What a machine's screen shows: once, and live for the viewers of another node."""

from typing import Annotated, Final, Literal, Self
from uuid import UUID

from pydantic import Field

from schemas.inputs.actions import MAX_ACTIONS
from schemas.inputs.outcomes import Point
from schemas.inputs.pictures import PictureWanted
from schemas.inputs.waits import MAX_WAIT_SECONDS, Conditions
from schemas.link.messages import Display, Quality, Rate, Side
from schemas.link.picture_frames import Picture
from schemas.link.screen_options import LiveOptions
from schemas.resources.machines import MAX_VIEWER_NAMES
from schemas.values.pictures import PictureFormat, Region, Size
from schemas.values.scalars import Name
from server.dispatch.questions.question import (
    Done,
    LinkQuestion,
    Look,
    Milliseconds,
    Refusal,
    Reply,
    ReplyWithContent,
)
from server.dispatch.refusals import no_screen

ANSWER_SECONDS: Final = 15.0
"""For a machine to answer a question about its screen, or to send a live screen's first picture."""

PICTURE_SECONDS: Final = 20.0
"""For the next picture: after half of that it is said that nothing has changed."""


class PictureTaken(ReplyWithContent):
    """A picture of the screen; its bytes are the content."""

    type: Literal["picture"] = "picture"
    format: PictureFormat
    region: Region
    size: Size
    captured_at: int

    @classmethod
    def of(cls, picture: Picture) -> Self:
        """The reply that brings a picture."""
        return cls(
            format=picture.format,
            content=picture.content,
            region=picture.region,
            size=picture.size,
            captured_at=picture.captured_at,
        )

    @property
    def picture(self) -> Picture:
        """The picture that it brings."""
        return Picture(self.format, self.content, self.size, self.region, self.captured_at)


class TakeScreenshot(Look[PictureTaken]):
    """What does the screen show now?"""

    answer_seconds = ANSWER_SECONDS + 1.0

    type: Literal["screenshot"] = "screenshot"
    wanted: PictureWanted

    def lost(self) -> Refusal:
        """It may show something; nobody says what."""
        return no_screen("its node did not answer in time", None)


class FetchPicture(Look[PictureTaken]):
    """The picture that a command had taken; ``action`` is which of its actions, None the end.

    It was taken at any time from ``since``, when the command was accepted.
    """

    answer_seconds = ANSWER_SECONDS + 1.0

    type: Literal["fetch_picture"] = "fetch_picture"
    command_id: UUID
    action: Annotated[int, Field(ge=0, lt=MAX_ACTIONS)] | None
    since: Milliseconds = 0

    def lost(self) -> Refusal:
        """It may be there; nobody brings it."""
        return no_screen("its node did not answer in time", None)


class ScreenSeen(Reply):
    """A wait is over: which condition was met and where, None of both where none was in time.

    ``seen`` are the texts then that were most like those that were waited for.
    """

    type: Literal["screen_seen"] = "screen_seen"
    matched: int | None
    at: Region | None
    elapsed: float
    seen: tuple[str, ...] = ()


class StillWaiting(Reply):
    """Nothing was seen yet: ask again."""

    type: Literal["still_waiting"] = "still_waiting"


class AwaitScreen(Look[ScreenSeen | StillWaiting]):
    """Has the screen met one of the conditions?

    The first question begins the wait, which is over when nobody asks any more.
    """

    answer_seconds = 5.0

    type: Literal["await_screen"] = "await_screen"
    wait_id: UUID
    any: Conditions
    timeout: Annotated[float, Field(gt=0, le=MAX_WAIT_SECONDS)]

    def lost(self) -> Refusal:
        """It may show something; nobody says what."""
        return no_screen("its node did not answer in time", None)


class StopWaiting(LinkQuestion[Done]):
    """Nobody waits any more for what another question has begun to wait for."""

    type: Literal["stop_waiting"] = "stop_waiting"
    wait_id: UUID


class DesktopSeen(Reply):
    """Where the displays and the pointer are."""

    type: Literal["desktop"] = "desktop"
    displays: list[Display]
    pointer: Point


class LookAtDesktop(Look[DesktopSeen]):
    """Where are the displays and the pointer now?"""

    answer_seconds = ANSWER_SECONDS + 1.0

    type: Literal["look"] = "look"

    def lost(self) -> Refusal:
        """As for a picture: both come from the screen."""
        return no_screen("its node did not answer in time", None)


class FindScreen(Look[Done]):
    """Is a link of the machine there, and may whoever asks see its screen?"""

    type: Literal["find_screen"] = "find_screen"


class NoPicture(Reply):
    """The screen has not changed for a while; it is still watched."""

    type: Literal["no_picture"] = "no_picture"


class ScreenEnded(Reply):
    """There will be no further pictures."""

    type: Literal["screen_ended"] = "screen_ended"
    reason: str
    since: int | None


class NextPicture(Look[PictureTaken | NoPicture | ScreenEnded]):
    """The next picture of a live screen, for the viewers of another node.

    The first question begins to watch.  ``viewer`` names who watches: all viewers of a node with
    the same looker together, whose ``names`` these are.  They have left when they ask no more.
    """

    answer_seconds = PICTURE_SECONDS

    type: Literal["next_picture"] = "next_picture"
    viewer: UUID
    width: Side | None
    height: Side | None
    quality: Quality
    rate: Rate
    names: Annotated[tuple[Name, ...], Field(max_length=MAX_VIEWER_NAMES)] = ()

    @property
    def options(self) -> LiveOptions:
        """How the live screen is wanted."""
        return LiveOptions(self.width, self.height, self.quality, self.rate)


class StopWatching(LinkQuestion[Done]):
    """The viewers of another node have left."""

    answer_seconds = PICTURE_SECONDS

    type: Literal["stop_watching"] = "stop_watching"
    viewer: UUID
