"""The capturer's thread: what it takes, when, and what it leaves alone."""

import queue
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import pytest

from machine_client.desktop.base import DesktopError, DesktopView
from machine_client.screen import capturer as capturer_module
from machine_client.screen import resting
from machine_client.screen.capturer import ScreenCapturer
from machine_client.screen.sender import (
    CaptureLive,
    DesktopQueried,
    OrderFailed,
    PictureCaptured,
    RunRequest,
    ScreenResult,
    StopLive,
)
from schemas.inputs.outcomes import Point
from schemas.link.messages import DesktopQuery, Screenshot, ScreenStart
from tests.machine_client.fakes import DISPLAY, FakeView
from tests.machine_client.screen.test_watching import ToldView
from tests.waiting import eventually

WAIT_SECONDS = 30.0


class Desk:
    """A capturer with a fake view, and what it reported."""

    def __init__(self, capturer: ScreenCapturer, reported: "queue.Queue[ScreenResult]") -> None:
        self.capturer = capturer
        self.reported = reported

    def next(self) -> ScreenResult:
        return self.reported.get(timeout=WAIT_SECONDS)


@contextmanager
def desk(
    open_view: Callable[[], DesktopView] | None, rate: float = 1000, bytes_per_second: int = 10**9
) -> Iterator[Desk]:
    reported: queue.Queue[ScreenResult] = queue.Queue()
    capturer = ScreenCapturer(open_view, reported.put, rate=rate, bytes_per_second=bytes_per_second)
    try:
        yield Desk(capturer, reported)
    finally:
        capturer.stop()


def live(stream: int = 1, rate: float = 60) -> ScreenStart:
    return ScreenStart(stream=stream, quality=70, rate=rate, server_time=0)


def screenshot(request: int = 1) -> Screenshot:
    return Screenshot(request=request, format="png", quality=70, server_time=0)


def looks(view: FakeView, times: int = 3) -> None:
    """Wait until the screen was looked at so many times more."""
    before = view.captures
    eventually(lambda: view.captures >= before + times or None, "the screen is looked at")


def pauses(view: FakeView) -> list[float]:
    """Seconds between one look at the screen and the next."""
    return [b - a for a, b in zip(view.captured_at, view.captured_at[1:], strict=False)]


def test_live_picture_is_taken_when_the_screen_has_changed_and_not_before() -> None:
    view, order = FakeView(), live()
    with desk(view.open) as at:
        at.capturer.submit(CaptureLive(order))
        first = at.next()
        assert isinstance(first, PictureCaptured)
        assert first.order is order
        at.capturer.submit(CaptureLive(order))
        looks(view)
        assert at.reported.empty()
        view.colour = 9
        second = at.next()
        assert isinstance(second, PictureCaptured)
        assert second.picture.content != first.picture.content
    assert view.threads == {"capturer"}


def test_nobody_looks_at_the_screen_before_an_order_and_after_its_end() -> None:
    view, order = FakeView(), live()
    with desk(view.open) as at:
        at.capturer.submit(CaptureLive(order))
        at.next()
        captures = view.captures
        at.capturer.submit(RunRequest(screenshot()))
        at.next()
        assert view.captures == captures + 1
        at.capturer.submit(CaptureLive(order))
        looks(view)
        at.capturer.submit(StopLive())
        # What was under way has ended when the next thing is done.
        at.capturer.submit(RunRequest(screenshot()))
        at.next()
        captures = view.captures
        at.capturer.submit(RunRequest(screenshot()))
        at.next()
        assert view.captures == captures + 1


def test_next_order_has_its_first_picture_though_the_screen_is_the_same() -> None:
    view = FakeView()
    with desk(view.open) as at:
        for order in (live(), live()):
            at.capturer.submit(CaptureLive(order))
            taken = at.next()
            assert isinstance(taken, PictureCaptured)
            assert taken.order is order


def test_rate_is_the_lower_of_both() -> None:
    for own, asked in ((25.0, 60.0), (1000.0, 25.0)):
        view, order = FakeView(), live(rate=asked)
        with desk(view.open, rate=own) as at:
            at.capturer.submit(CaptureLive(order))
            at.next()
            at.capturer.submit(CaptureLive(order))
            looks(view, 4)
        # One alone may be short: the look before it may have been late.
        assert sum(pauses(view)) / len(pauses(view)) > 0.9 / 25


def test_what_an_input_changes_is_looked_for_at_once_and_the_rate_holds() -> None:
    view, order, interval = FakeView(), live(rate=2), 0.5
    with desk(view.open) as at:
        at.capturer.submit(CaptureLive(order))
        at.next()
        at.capturer.submit(CaptureLive(order))
        looks(view, 1)  # The rate allows another picture from now on.

        def is_looked_for_soon() -> bool:
            at.capturer.expect_change()
            looks(view, 4)
            return min(pauses(view)[-3:]) < interval / 2

        # On a busy machine the first look may come when it is not looked often any more.
        eventually(is_looked_for_soon, "it is looked for soon")
        assert at.reported.empty()
        view.colour = 9
        at.capturer.expect_change()
        at.next()
        view.colour = 10
        captures = view.captures
        at.capturer.submit(CaptureLive(order))
        at.capturer.expect_change()
        at.next()
    assert view.captures == captures + 1
    assert pauses(view)[-1] > 0.9 * interval


@pytest.mark.parametrize(("since_input", "pause"), [(0.0, 0.02), (0.08, 0.08), (0.3, 0.5)])
def test_it_is_looked_less_often_the_longer_an_input_changes_nothing(
    since_input: float, pause: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(capturer_module, "boottime_seconds", lambda: 100.0)
    with desk(None) as at:
        at.capturer._eager_until = 100 - since_input + capturer_module.EAGER_SECONDS
        assert at.capturer._patience(100.0, interval=0.5) == pytest.approx(pause)


def test_nothing_is_captured_while_a_desktop_tells_that_nothing_is_drawn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(resting, "SURE_SECONDS", 3600)
    view, order = ToldView(), live()
    with desk(view.open) as at:
        at.capturer.submit(CaptureLive(order))
        at.next()
        at.capturer.submit(CaptureLive(order))
        asked = len(view.waits)
        # The pointer's place is known from the look after the first one on.
        eventually(lambda: len(view.waits) > asked + 10 or None, "it is asked whether it is drawn")
        assert view.captures == 2
        view.script.append(9)
        second = at.next()
        assert isinstance(second, PictureCaptured)
        # Another one who looks has a picture in any case.
        again = live()
        at.capturer.submit(CaptureLive(again))
        third = at.next()
        assert isinstance(third, PictureCaptured)
        assert third.order is again


def test_pictures_take_no_more_of_the_network_than_they_may() -> None:
    view, order = FakeView(), live()
    with desk(view.open, bytes_per_second=10_000) as at:
        for colour in range(4):
            view.colour = colour
            at.capturer.submit(CaptureLive(order))
            taken = at.next()
            assert isinstance(taken, PictureCaptured)
            size = len(taken.picture.content)
    pauses = [b - a for a, b in zip(view.captured_at, view.captured_at[1:], strict=False)]
    assert min(pauses) > 0.9 * size / 10_000


def test_screenshot_and_desktop_are_told_while_the_live_screen_waits() -> None:
    view, order = FakeView(), live(rate=0.001)
    with desk(view.open) as at:
        at.capturer.submit(CaptureLive(order))
        at.next()
        at.capturer.submit(CaptureLive(order))
        asked, query = screenshot(7), DesktopQuery(request=8, server_time=0)
        at.capturer.submit(RunRequest(asked))
        at.capturer.submit(RunRequest(query))
        taken = at.next()
        assert isinstance(taken, PictureCaptured)
        assert taken.order is asked
        assert taken.picture.format == "png"
        assert at.next() == DesktopQueried(query, (DISPLAY,), Point(x=1, y=2))


@pytest.mark.parametrize(
    ("failure", "words"),
    [(DesktopError("display_lost", "it is gone"), "it is gone"), (OSError("odd"), "OSError")],
)
def test_view_that_fails_is_told_and_opened_anew(
    failure: Exception, words: str, caplog: pytest.LogCaptureFixture
) -> None:
    view, order = FakeView(), live()
    with desk(view.open) as at:
        view.failure = failure
        for asked in (CaptureLive(order), RunRequest(screenshot())):
            at.capturer.submit(asked)
            failed = at.next()
            assert isinstance(failed, OrderFailed)
            assert failed.order is asked.order
            assert words in failed.reason
        view.failure = None
        at.capturer.submit(RunRequest(screenshot()))
        assert isinstance(at.next(), PictureCaptured)
    assert view.opened == 3
    assert view.closed == 3
    assert bool(caplog.records) == isinstance(failure, OSError)


def test_view_that_nobody_needs_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capturer_module, "IDLE_SECONDS", 0.02)
    view = FakeView()

    def closed(times: int) -> bool:
        return view.closed == times

    with desk(view.open) as at:
        for times in (1, 2):
            at.capturer.submit(RunRequest(screenshot()))
            at.next()
            eventually(partial(closed, times), "it is closed")
        assert view.opened == 2


def test_machine_without_a_view_says_so() -> None:
    with desk(None) as at:
        with pytest.raises(DesktopError, match="without a screen"):
            at.capturer.try_screen()
        at.capturer.submit(RunRequest(screenshot()))
        failed = at.next()
        assert isinstance(failed, OrderFailed)
        assert "without a screen" in failed.reason


def test_trying_the_view_looks_once_and_closes_it() -> None:
    view = FakeView()
    with desk(view.open) as at:
        at.capturer.try_screen()
        assert (view.opened, view.captures, view.closed) == (1, 1, 1)
        view.failure = DesktopError("screen_unavailable", "dark")
        with pytest.raises(DesktopError, match="dark"):
            at.capturer.try_screen()
        assert view.closed == 2
