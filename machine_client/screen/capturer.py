"""The one thread that looks at the screen, and only while somebody asks for it.

Injection and the journal have threads of their own, so that a picture delays neither.
"""

import logging
import threading
from collections import deque
from collections.abc import Callable
from typing import Protocol

from machine_client.concurrency.threads import daemon_thread
from machine_client.desktop.base import DesktopError, DesktopView, RawFrame, Refusal
from machine_client.screen import sender
from machine_client.screen.encoding import Fineness, Part, encode, part_of
from machine_client.screen.resting import Resting
from machine_client.system.clock import boottime_seconds
from schemas.inputs.outcomes import Refused
from schemas.link.messages import Screenshot, ScreenStart
from schemas.values.pictures import PictureFormat, Region

logger = logging.getLogger(__name__)

IDLE_SECONDS = 10.0
"""After which a view that nobody needs is closed."""
STOP_SECONDS = 5.0
EAGER_SECONDS = 0.2
"""For so long after an input its effect is looked for more often than else."""
EAGER_INTERVAL = 0.02
NO_SCREEN = "this machine client was started without a screen"


class ScreenCapturer:
    """Carries out orders in a thread: screenshots at once, live pictures when something changes.

    ``report`` takes what became of each order; it is called from this thread.  ``rate`` is live
    pictures a second at most, ``bytes_per_second`` what they may take on average; whatever a
    viewer asks for stays within both.
    """

    def __init__(
        self,
        open_view: Callable[[], DesktopView] | None,
        report: Callable[[sender.ScreenResult], None],
        *,
        rate: float,
        bytes_per_second: int,
    ) -> None:
        self._open_view = open_view
        self._report = report
        self._rate = rate
        self._bytes_per_second = bytes_per_second
        self._view: DesktopView | None = None
        self._resting: Resting | None = None
        self._changed = threading.Condition()
        self._requests: deque[sender.Glance] = deque()
        self._live: ScreenStart | None = None
        self._last: tuple[ScreenStart, RawFrame] | None = None
        self._next_at = 0.0
        self._free_at = 0.0
        self._eager_until = 0.0
        self._stopping = False
        self._thread = daemon_thread(self._work, "capturer")
        self._thread.start()

    def submit(self, order: sender.CaptureLive | sender.StopLive | sender.RunRequest) -> None:
        """Take an order; for any thread, and never waits for the screen."""
        with self._changed:
            match order:
                case sender.CaptureLive(order=live):
                    self._live = live
                case sender.StopLive():
                    self._live = self._last = None
                case sender.RunRequest(order=request):
                    self._requests.append(request)
            self._changed.notify()

    def expect_change(self) -> None:
        """An input has happened: look for what it changes; for any thread.

        No more pictures are sent for that than the rate allows, but the next one may be sooner.
        """
        with self._changed:
            if self._live is None:
                return
            now = boottime_seconds()
            self._eager_until = now + EAGER_SECONDS
            next_at = max(now + EAGER_INTERVAL, self._free_at)
            if next_at < self._next_at:
                self._next_at = next_at
                self._changed.notify()

    def try_screen(self) -> None:
        """Look at the screen once, for any thread.  Raises DesktopError where that cannot be."""
        view = self._new_view()
        try:
            view.capture()
        finally:
            view.close()

    def stop(self) -> None:
        """End the thread and let go of the screen."""
        with self._changed:
            self._stopping = True
            self._changed.notify()
        self._thread.join(STOP_SECONDS)

    def _work(self) -> None:
        while True:
            with self._changed:
                order = self._next_order()
                if self._stopping:
                    break
            if order is None:
                self._close_view()
            else:
                self._carry_out(order)
        self._close_view()

    def _next_order(self) -> sender.Glance | ScreenStart | None:
        """Wait for something to do; None is that nobody has needed the view for a while."""
        idle_at = boottime_seconds() + IDLE_SECONDS
        while not self._stopping:
            if self._requests:
                return self._requests.popleft()
            due_at = idle_at if self._live is None else self._next_at
            seconds = due_at - boottime_seconds()
            if seconds <= 0:
                if self._live is not None or self._view is not None:
                    return self._live
                seconds = IDLE_SECONDS
            self._changed.wait(seconds)
        return None

    def _carry_out(self, order: sender.Glance | ScreenStart) -> None:
        try:
            taken = self._taken(order)
        except Refusal as refusal:
            outcome = refusal.outcome
            taken = sender.OrderFailed(order, outcome.message, outcome.code, outcome.loc[-1])
        except DesktopError as error:
            self._close_view()
            taken = sender.OrderFailed(order, str(error))
        except Exception as error:  # the thread must outlive every mistake, and never silently
            logger.exception("the screen cannot be shown")
            self._close_view()
            taken = sender.OrderFailed(
                order, f"the machine client made a mistake ({type(error).__name__})"
            )
        if taken is None:
            return
        with self._changed:
            if self._live is order:
                self._live = None
        self._report(taken)

    def _taken(self, order: sender.Glance | ScreenStart) -> sender.ScreenResult | None:
        if self._view is None:
            self._view = self._new_view()
        if isinstance(order, ScreenStart):
            return self._live_picture(order, self._view)
        if isinstance(order, Screenshot):
            return sender.PictureCaptured(order, take_picture(self._view, order))
        return sender.DesktopQueried(order, tuple(self._view.displays()), self._view.pointer())

    def _live_picture(self, order: ScreenStart, view: DesktopView) -> sender.PictureCaptured | None:
        """A picture, unless the screen looks as in the last one of the same order."""
        interval = 1 / min(order.rate, self._rate)
        began_at = boottime_seconds()
        last = self._last  # Whoever stops the live screen forgets it, at any moment.
        before = last[1] if last is not None and last[0] is order else None
        frame = self._new_frame(view, before)
        if frame is None:
            with self._changed:
                self._next_at = began_at + self._patience(began_at, interval)
            return None
        picture = _picture(frame, "jpeg", order, frame.region)
        self._last = (order, frame)
        pause = max(interval, len(picture.content) / self._bytes_per_second)
        with self._changed:
            self._next_at = self._free_at = frame.captured_at + pause
        return sender.PictureCaptured(order, picture)

    def _new_frame(self, view: DesktopView, before: RawFrame | None) -> RawFrame | None:
        """What the screen shows; None where that is as ``before``."""
        if self._resting is None:
            self._resting = Resting(view)
        if self._resting.is_as_before() and before is not None:
            return None
        frame = view.capture()
        self._resting.looked()
        return None if frame.looks_like(before) else frame

    def _patience(self, began_at: float, interval: float) -> float:
        """How long after the beginning of a look that has found nothing new the next one begins."""
        now = boottime_seconds()
        if now > self._eager_until:
            return interval
        # What has not come by now comes as much later, perhaps.  Where a look takes long, half of
        # the time is left to others.
        since_input = now - (self._eager_until - EAGER_SECONDS)
        return min(max(EAGER_INTERVAL, since_input, 2 * (now - began_at)), interval)

    def _new_view(self) -> DesktopView:
        if self._open_view is None:
            raise DesktopError("screen_unavailable", NO_SCREEN)
        return self._open_view()

    def _close_view(self) -> None:
        if self._view is not None:
            self._view.close()
        self._view = self._resting = self._last = None


class Wanted(Part, Fineness, Protocol):
    """A picture as somebody wants it."""

    @property
    def format(self) -> PictureFormat:
        """Its encoding."""

    @property
    def pointer(self) -> bool:
        """Whether the mouse pointer is on it."""


def take_picture(view: DesktopView, wanted: Wanted) -> sender.EncodedPicture:
    """A picture of the screen as it is now.

    Raises DesktopError, and Refusal for what the desktop does not have.
    """
    frame = view.capture(pointer=wanted.pointer)
    if frame.pointer_at is not None:
        raise Refusal(
            Refused(
                code="pointer_drawn",
                message="the pointer cannot be left out: this desktop draws it itself",
                loc=("body", "pointer"),
            )
        )
    displays = [] if wanted.display is None else view.displays()
    return _picture(frame, wanted.format, wanted, part_of(frame.region, wanted, displays))


def _picture(
    frame: RawFrame, form: PictureFormat, options: Fineness, shown: Region
) -> sender.EncodedPicture:
    content, size = encode(frame, form, options, shown)
    return sender.EncodedPicture(form, content, size, shown, frame.captured_at)
