"""The one thread that looks at the screen, and only while somebody asks for it.

Injection and the journal have threads of their own, so that a picture delays neither.
"""

import logging
import threading
from collections import deque
from collections.abc import Callable
from typing import Protocol

from machine_client.desktop.base import DesktopError
from machine_client.link.clock import awake_seconds
from machine_client.screen.encoding import Shot, encode
from machine_client.screen.sender import (
    CarryOut,
    DesktopLookedAt,
    OrderFailed,
    PictureTaken,
    Request,
    StopLive,
    TakeLive,
    Taken,
    TakenPicture,
)
from schemas.inputs.outcomes import Point
from schemas.link.messages import Display, PictureWish, Screenshot, ScreenStart
from schemas.link.picture_frames import PictureFormat

logger = logging.getLogger(__name__)

IDLE_SECONDS = 10.0
"""After which a camera that nobody needs is closed."""
STOP_SECONDS = 5.0
NO_CAMERA = "this machine client was started without a screen"


class Camera(Protocol):
    """A desktop to look at.  For one thread at a time; every method may raise DesktopError."""

    def capture(self) -> Shot:
        """The whole desktop as it is now."""

    def displays(self) -> list[Display]:
        """Where the screens are, at least one."""

    def pointer(self) -> Point:
        """Where the pointer is."""

    def close(self) -> None:
        """Let go of the desktop."""


class Photographer:
    """Carries out orders in a thread: screenshots at once, live pictures when something changes.

    ``report`` takes what became of each order; it is called from this thread.  ``rate`` is live
    pictures a second at most, ``bytes_per_second`` what they may take on average; whatever a
    viewer asks for stays within both.
    """

    def __init__(
        self,
        open_camera: Callable[[], Camera] | None,
        report: Callable[[Taken], None],
        *,
        rate: float,
        bytes_per_second: int,
    ) -> None:
        self._open_camera = open_camera
        self._report = report
        self._rate = rate
        self._bytes_per_second = bytes_per_second
        self._camera: Camera | None = None
        self._changed = threading.Condition()
        self._requests: deque[Request] = deque()
        self._live: ScreenStart | None = None
        self._last: tuple[ScreenStart, Shot] | None = None
        self._next_at = 0.0
        self._stopping = False
        self._thread = threading.Thread(target=self._work, name="photographer", daemon=True)
        self._thread.start()

    def obey(self, order: TakeLive | StopLive | CarryOut) -> None:
        """Take an order; for any thread, and never waits for the screen."""
        with self._changed:
            match order:
                case TakeLive(order=live):
                    self._live = live
                case StopLive():
                    self._live = self._last = None
                case CarryOut(order=request):
                    self._requests.append(request)
            self._changed.notify()

    def try_camera(self) -> None:
        """Look at the screen once, for any thread.  Raises DesktopError where that cannot be."""
        camera = self._new_camera()
        try:
            camera.capture()
        finally:
            camera.close()

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
                self._close_camera()
            else:
                self._carry_out(order)
        self._close_camera()

    def _next_order(self) -> Request | ScreenStart | None:
        """Wait for something to do; None is that nobody has needed the camera for a while."""
        idle_at = awake_seconds() + IDLE_SECONDS
        while not self._stopping:
            if self._requests:
                return self._requests.popleft()
            due_at = idle_at if self._live is None else self._next_at
            seconds = due_at - awake_seconds()
            if seconds <= 0:
                if self._live is not None or self._camera is not None:
                    return self._live
                seconds = IDLE_SECONDS
            self._changed.wait(seconds)
        return None

    def _carry_out(self, order: Request | ScreenStart) -> None:
        try:
            taken = self._taken(order)
        except DesktopError as error:
            self._close_camera()
            taken = OrderFailed(order, str(error))
        except Exception as error:  # the thread must outlive every mistake, and never silently
            logger.exception("the screen cannot be shown")
            self._close_camera()
            taken = OrderFailed(
                order, f"the machine client made a mistake ({type(error).__name__})"
            )
        if taken is None:
            return
        with self._changed:
            if self._live is order:
                self._live = None
        self._report(taken)

    def _taken(self, order: Request | ScreenStart) -> Taken | None:
        if self._camera is None:
            self._camera = self._new_camera()
        if isinstance(order, ScreenStart):
            return self._live_picture(order, self._camera)
        if isinstance(order, Screenshot):
            shot = self._camera.capture()
            return PictureTaken(order, _picture(shot, order.format, order))
        return DesktopLookedAt(order, tuple(self._camera.displays()), self._camera.pointer())

    def _live_picture(self, order: ScreenStart, camera: Camera) -> PictureTaken | None:
        """A picture, unless the screen looks as in the last one of the same order."""
        interval = 1 / min(order.rate, self._rate)
        self._next_at = awake_seconds() + interval
        shot = camera.capture()
        last = self._last  # Whoever stops the live screen forgets it, at any moment.
        if last is not None and last[0] is order and shot.looks_like(last[1]):
            return None
        picture = _picture(shot, "jpeg", order)
        self._last = (order, shot)
        pause = max(interval, len(picture.content) / self._bytes_per_second)
        self._next_at = shot.captured_at + pause
        return PictureTaken(order, picture)

    def _new_camera(self) -> Camera:
        if self._open_camera is None:
            raise DesktopError("screen_unavailable", NO_CAMERA)
        return self._open_camera()

    def _close_camera(self) -> None:
        if self._camera is not None:
            self._camera.close()
        self._camera = self._last = None


def _picture(shot: Shot, form: PictureFormat, wish: PictureWish) -> TakenPicture:
    content, size = encode(shot, form, wish)
    return TakenPicture(form, content, size, shot.region, shot.captured_at)
