"""The photographer's thread: what it takes, when, and what it leaves alone."""

import queue
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import pytest

from machine_client.desktop.base import DesktopError
from machine_client.screen import capturer as photographer_module
from machine_client.screen.capturer import Camera, Photographer
from machine_client.screen.sender import (
    CarryOut,
    DesktopLookedAt,
    OrderFailed,
    PictureTaken,
    StopLive,
    TakeLive,
    Taken,
)
from schemas.inputs.outcomes import Point
from schemas.link.messages import DesktopQuery, Screenshot, ScreenStart
from tests.desktop import eventually
from tests.machine_client.fakes import DISPLAY, FakeCamera

WAIT_SECONDS = 10.0


class Desk:
    """A photographer with a fake camera, and what it reported."""

    def __init__(self, photographer: Photographer, reported: "queue.Queue[Taken]") -> None:
        self.photographer = photographer
        self.reported = reported

    def next(self) -> Taken:
        return self.reported.get(timeout=WAIT_SECONDS)


@contextmanager
def desk(
    open_camera: Callable[[], Camera] | None, rate: float = 1000, bytes_per_second: int = 10**9
) -> Iterator[Desk]:
    reported: queue.Queue[Taken] = queue.Queue()
    photographer = Photographer(
        open_camera, reported.put, rate=rate, bytes_per_second=bytes_per_second
    )
    try:
        yield Desk(photographer, reported)
    finally:
        photographer.stop()


def live(stream: int = 1, rate: float = 60) -> ScreenStart:
    return ScreenStart(stream=stream, quality=70, rate=rate, server_time=0)


def screenshot(request: int = 1) -> Screenshot:
    return Screenshot(request=request, format="png", quality=70, server_time=0)


def looks(camera: FakeCamera, times: int = 3) -> None:
    """Wait until the screen was looked at so many times more."""
    before = camera.captures
    eventually(lambda: camera.captures >= before + times or None, "the screen is looked at")


def test_live_picture_is_taken_when_the_screen_has_changed_and_not_before() -> None:
    camera, order = FakeCamera(), live()
    with desk(camera.open) as at:
        at.photographer.obey(TakeLive(order))
        first = at.next()
        assert isinstance(first, PictureTaken)
        assert first.order is order
        at.photographer.obey(TakeLive(order))
        looks(camera)
        assert at.reported.empty()
        camera.colour = 9
        second = at.next()
        assert isinstance(second, PictureTaken)
        assert second.picture.content != first.picture.content
    assert camera.threads == {"photographer"}


def test_nobody_looks_at_the_screen_before_an_order_and_after_its_end() -> None:
    camera, order = FakeCamera(), live()
    with desk(camera.open) as at:
        at.photographer.obey(TakeLive(order))
        at.next()
        captures = camera.captures
        at.photographer.obey(CarryOut(screenshot()))
        at.next()
        assert camera.captures == captures + 1
        at.photographer.obey(TakeLive(order))
        looks(camera)
        at.photographer.obey(StopLive())
        # What was under way has ended when the next thing is done.
        at.photographer.obey(CarryOut(screenshot()))
        at.next()
        captures = camera.captures
        at.photographer.obey(CarryOut(screenshot()))
        at.next()
        assert camera.captures == captures + 1


def test_next_order_has_its_first_picture_though_the_screen_is_the_same() -> None:
    camera = FakeCamera()
    with desk(camera.open) as at:
        for order in (live(), live()):
            at.photographer.obey(TakeLive(order))
            taken = at.next()
            assert isinstance(taken, PictureTaken)
            assert taken.order is order


def test_rate_is_the_lower_of_both() -> None:
    for own, asked in ((25.0, 60.0), (1000.0, 25.0)):
        camera, order = FakeCamera(), live(rate=asked)
        with desk(camera.open, rate=own) as at:
            at.photographer.obey(TakeLive(order))
            at.next()
            at.photographer.obey(TakeLive(order))
            looks(camera, 4)
        pauses = [b - a for a, b in zip(camera.captured_at, camera.captured_at[1:], strict=False)]
        assert min(pauses) > 0.9 / 25


def test_pictures_take_no_more_of_the_network_than_they_may() -> None:
    camera, order = FakeCamera(), live()
    with desk(camera.open, bytes_per_second=10_000) as at:
        for colour in range(4):
            camera.colour = colour
            at.photographer.obey(TakeLive(order))
            taken = at.next()
            assert isinstance(taken, PictureTaken)
            size = len(taken.picture.content)
    pauses = [b - a for a, b in zip(camera.captured_at, camera.captured_at[1:], strict=False)]
    assert min(pauses) > 0.9 * size / 10_000


def test_screenshot_and_desktop_are_told_while_the_live_screen_waits() -> None:
    camera, order = FakeCamera(), live(rate=0.001)
    with desk(camera.open) as at:
        at.photographer.obey(TakeLive(order))
        at.next()
        at.photographer.obey(TakeLive(order))
        asked, query = screenshot(7), DesktopQuery(request=8, server_time=0)
        at.photographer.obey(CarryOut(asked))
        at.photographer.obey(CarryOut(query))
        taken = at.next()
        assert isinstance(taken, PictureTaken)
        assert taken.order is asked
        assert taken.picture.format == "png"
        assert at.next() == DesktopLookedAt(query, (DISPLAY,), Point(x=1, y=2))


@pytest.mark.parametrize(
    ("failure", "words"),
    [(DesktopError("display_lost", "it is gone"), "it is gone"), (OSError("odd"), "OSError")],
)
def test_camera_that_fails_is_told_and_opened_anew(
    failure: Exception, words: str, caplog: pytest.LogCaptureFixture
) -> None:
    camera, order = FakeCamera(), live()
    with desk(camera.open) as at:
        camera.failure = failure
        for asked in (TakeLive(order), CarryOut(screenshot())):
            at.photographer.obey(asked)
            failed = at.next()
            assert isinstance(failed, OrderFailed)
            assert failed.order is asked.order
            assert words in failed.reason
        camera.failure = None
        at.photographer.obey(CarryOut(screenshot()))
        assert isinstance(at.next(), PictureTaken)
    assert camera.opened == 3
    assert camera.closed == 3
    assert bool(caplog.records) == isinstance(failure, OSError)


def test_camera_that_nobody_needs_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(photographer_module, "IDLE_SECONDS", 0.02)
    camera = FakeCamera()

    def closed(times: int) -> bool:
        return camera.closed == times

    with desk(camera.open) as at:
        for times in (1, 2):
            at.photographer.obey(CarryOut(screenshot()))
            at.next()
            eventually(partial(closed, times), "it is closed")
        assert camera.opened == 2


def test_machine_without_a_camera_says_so() -> None:
    with desk(None) as at:
        with pytest.raises(DesktopError, match="without a screen"):
            at.photographer.try_camera()
        at.photographer.obey(CarryOut(screenshot()))
        failed = at.next()
        assert isinstance(failed, OrderFailed)
        assert "without a screen" in failed.reason


def test_trying_the_camera_looks_once_and_closes_it() -> None:
    camera = FakeCamera()
    with desk(camera.open) as at:
        at.photographer.try_camera()
        assert (camera.opened, camera.captures, camera.closed) == (1, 1, 1)
        camera.failure = DesktopError("screen_unavailable", "dark")
        with pytest.raises(DesktopError, match="dark"):
            at.photographer.try_camera()
        assert camera.closed == 2
