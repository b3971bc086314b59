"""Viewers of one screen: they share what is asked of the machine, and see the newest picture."""

import asyncio

import pytest
from pydantic import ValidationError

from schemas.inputs.outcomes import Point
from schemas.inputs.pictures import PictureWanted
from schemas.link.messages import (
    DesktopQuery,
    DesktopSeen,
    Display,
    Screenshot,
    ScreenStart,
    ScreenStop,
)
from schemas.link.picture_frames import Picture
from schemas.link.screen_options import LiveOptions
from schemas.resources.machines import MAX_VIEWER_NAMES
from server.machines.link.errors import LinkBusyError, LinkDownError, LinkLostError
from server.machines.link.questions.screen import (
    DesktopArrived,
    LivePictureArrived,
    LiveScreenEnded,
    RequestRefused,
    ScreenQuestion,
    ScreenshotArrived,
)
from server.machines.screens import (
    MAX_OPEN_REQUESTS,
    MachineScreen,
    ScreenUnavailableError,
    Viewer,
)
from tests.pictures import REGION, SIZE

OPTIONS = LiveOptions(width=640, height=None, quality=70, rate=5)


def shown(content: bytes) -> Picture:
    return Picture("jpeg", content, SIZE, REGION, 0)


class Desk:
    """A machine's screen whose questions are kept."""

    def __init__(self) -> None:
        self.questions: list[ScreenQuestion] = []
        self.is_up = True
        self.viewers: list[tuple[str, ...]] = []
        self.screen = MachineScreen(
            self.questions.append,
            lambda: self.is_up,
            lambda: self.viewers.append(self.screen.viewer_names),
        )

    def shows(self, content: bytes) -> None:
        self.screen.arrived(LivePictureArrived(shown(content)))

    def asked(self) -> list[tuple[int, int | None, int | None, int, float] | int]:
        """The live screens asked for since the last call; a stop is its number alone."""
        starts: list[tuple[int, int | None, int | None, int, float] | int] = []
        for each in self.questions:
            if isinstance(each, ScreenStart):
                starts.append((each.stream, each.width, each.height, each.quality, each.rate))
            elif isinstance(each, ScreenStop):
                starts.append(each.stream)
        self.questions.clear()
        return starts


async def sees(viewer: Viewer) -> bytes:
    async with asyncio.timeout(5):
        return (await viewer.next()).content


async def test_first_viewer_starts_the_live_screen_and_the_last_one_stops_it() -> None:
    desk = Desk()
    first, second = desk.screen.watch(OPTIONS), desk.screen.watch(OPTIONS)
    assert desk.asked() == [(1, 640, None, 70, 5)]
    assert desk.screen.viewers == 2
    first.close()
    first.close()
    assert desk.asked() == []
    second.close()
    assert desk.asked() == [1]
    assert desk.screen.viewers == 0
    desk.screen.watch(OPTIONS)
    assert desk.asked() == [(2, 640, None, 70, 5)]


async def test_viewers_are_told_by_name_each_once() -> None:
    desk = Desk()
    ann = desk.screen.watch(OPTIONS, "ann")
    of_another_node = desk.screen.watch(OPTIONS, "cid", "bob")
    again = desk.screen.watch(OPTIONS, "ann")
    ann.close()
    of_another_node.rename(("bob",))
    again.close()
    of_another_node.close()
    assert desk.viewers == [
        ("ann",),
        ("ann", "bob", "cid"),
        ("ann", "bob"),
        ("bob",),
        (),
    ]
    desk.screen.watch(OPTIONS, *(f"{number:02}" for number in range(MAX_VIEWER_NAMES + 1)))
    assert len(desk.viewers[-1]) == MAX_VIEWER_NAMES


async def test_one_capture_has_the_most_of_what_all_asked_for() -> None:
    desk = Desk()
    small = desk.screen.watch(LiveOptions(320, 200, 90, 1))
    wide = desk.screen.watch(LiveOptions(1280, 100, 50, 10))
    full = desk.screen.watch(LiveOptions(None, None, 10, 2))
    assert desk.asked() == [
        (1, 320, 200, 90, 1),
        (2, 1280, 200, 90, 10),
        (3, None, None, 90, 10),
    ]
    full.close()
    wide.close()
    assert desk.asked() == [(4, 1280, 200, 90, 10), (5, 320, 200, 90, 1)]
    small.close()
    assert desk.asked() == [5]


async def test_every_viewer_sees_every_picture_and_who_is_slow_the_newest() -> None:
    desk = Desk()
    quick, slow = desk.screen.watch(OPTIONS), desk.screen.watch(OPTIONS)
    for content in (b"1", b"2", b"3"):
        desk.shows(content)
        assert await sees(quick) == content
    assert await sees(slow) == b"3"
    waiting = asyncio.gather(sees(quick), sees(slow))
    await asyncio.sleep(0)
    assert not waiting.done()
    desk.shows(b"4")
    assert list(await waiting) == [b"4", b"4"]


async def test_viewer_who_comes_later_sees_the_screen_at_once() -> None:
    desk = Desk()
    desk.screen.watch(OPTIONS)
    desk.shows(b"1")
    assert await sees(desk.screen.watch(OPTIONS)) == b"1"


def test_viewer_whose_question_is_refused_is_none() -> None:
    desk = Desk()
    with pytest.raises(ValidationError):
        desk.screen.watch(LiveOptions(width=-5, height=None, quality=70, rate=-1), "nobody")
    assert (desk.screen.viewers, desk.screen.viewer_names, desk.viewers) == (0, (), [])
    desk.screen.watch(OPTIONS, "ann")
    assert desk.asked() == [(1, 640, None, 70, 5)]
    assert (desk.screen.viewers, desk.screen.viewer_names) == (1, ("ann",))


async def test_picture_of_a_screen_that_nobody_watched_meanwhile_is_not_shown() -> None:
    desk = Desk()
    viewer = desk.screen.watch(OPTIONS)
    desk.shows(b"old")
    viewer.close()
    viewer = desk.screen.watch(OPTIONS)
    desk.shows(b"new")
    assert await sees(viewer) == b"new"


async def test_screen_that_fails_ends_its_viewers_and_the_next_one_tries_anew() -> None:
    desk = Desk()
    viewer = desk.screen.watch(OPTIONS)
    waiting = asyncio.gather(sees(viewer), return_exceptions=True)
    await asyncio.sleep(0)
    desk.asked()
    desk.screen.arrived(LiveScreenEnded("the display is gone"))
    (failure,) = await waiting
    assert isinstance(failure, ScreenUnavailableError)
    assert str(failure) == "the display is gone"
    again = desk.screen.watch(OPTIONS)
    assert desk.asked() == [(2, 640, None, 70, 5)]
    viewer.close()
    assert desk.asked() == []
    desk.shows(b"1")
    assert await sees(again) == b"1"


async def test_end_of_the_link_ends_viewers_and_requests() -> None:
    desk = Desk()
    viewer = desk.screen.watch(OPTIONS)
    asking = asyncio.gather(
        desk.screen.look(5),
        desk.screen.screenshot(PictureWanted(), 5),
        sees(viewer),
        return_exceptions=True,
    )
    await asyncio.sleep(0)
    desk.is_up = False
    desk.screen.over()
    desk.screen.over()
    look, screenshot, live = await asking
    assert isinstance(look, LinkLostError)
    assert isinstance(screenshot, LinkLostError)
    assert isinstance(live, ScreenUnavailableError)
    viewer.close()
    with pytest.raises(LinkDownError):
        desk.screen.watch(OPTIONS)
    with pytest.raises(LinkDownError):
        await desk.screen.look(5)


async def test_pause_ends_with_the_stream() -> None:
    viewer = Desk().screen.watch(OPTIONS)
    await viewer.pause(-1)
    await viewer.pause(0.001)
    pausing = asyncio.gather(viewer.pause(3600))
    await asyncio.sleep(0)
    viewer.end("enough")
    async with asyncio.timeout(5):
        await pausing


async def test_requests_get_their_own_answers() -> None:
    desk = Desk()
    seen = DesktopSeen(
        request=1, displays=[Display(x=0, y=0, width=5, height=5)], pointer=Point(x=1, y=2)
    )
    asking = asyncio.gather(
        desk.screen.look(5),
        desk.screen.screenshot(PictureWanted(format="jpeg", width=640), 5),
        desk.screen.screenshot(PictureWanted(height=480), 5),
        return_exceptions=True,
    )
    await asyncio.sleep(0)
    query, jpeg, png = desk.questions
    assert isinstance(query, DesktopQuery)
    assert isinstance(jpeg, Screenshot)
    assert isinstance(png, Screenshot)
    assert (jpeg.format, jpeg.width, jpeg.height) == ("jpeg", 640, None)
    assert (png.format, png.width, png.height) == ("png", None, 480)
    desk.screen.arrived(RequestRefused(png.request, "too dark"))
    desk.screen.arrived(ScreenshotArrived(jpeg.request, shown(b"1")))
    desk.screen.arrived(DesktopArrived(query.request, seen))
    looked, taken, refused = await asking
    assert looked is seen
    assert taken == shown(b"1")
    assert isinstance(refused, ScreenUnavailableError)
    assert str(refused) == "too dark"


async def test_requests_that_were_given_up_count_until_they_are_answered() -> None:
    desk = Desk()
    for _ in range(MAX_OPEN_REQUESTS):
        with pytest.raises(TimeoutError):
            await desk.screen.look(0.001)
    with pytest.raises(LinkBusyError):
        await desk.screen.look(0.001)
    desk.screen.arrived(RequestRefused(1, "late"))
    with pytest.raises(TimeoutError):
        await desk.screen.look(0.001)
