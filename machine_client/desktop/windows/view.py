"""What the session shows: its screens and their pixels, through mss, with the pointer drawn in."""

import contextlib
import time
from collections.abc import Iterator
from typing import Any

from mss import MSS
from mss.exception import ScreenShotError

from machine_client.desktop.base import DesktopError, RawFrame
from machine_client.desktop.windows import session
from machine_client.desktop.windows.cursor import draw_pointer
from machine_client.desktop.windows.mouse import pointer
from machine_client.system.clock import boottime_seconds
from schemas.inputs.outcomes import Point
from schemas.link.messages import Display
from schemas.values.pictures import Region, Size


class WindowsView:
    """See `machine_client.desktop.base.DesktopView`; it keeps nothing open."""

    def displays(self) -> list[Display]:
        return displays()

    def pointer(self) -> Point:
        _check("display_unknown")
        x, y = pointer()
        return Point(x=x, y=y)

    def capture(self, *, pointer: bool = True) -> RawFrame:
        _check("screen_unavailable")
        captured_at = boottime_seconds()
        with _errors_translated("screen_unavailable", "The screen cannot be captured"):
            with MSS() as source:
                around = source.monitors[0]
                taken = source.grab(around)
            region = Region(around["left"], around["top"], around["width"], around["height"])
            pixels = bytearray(taken.raw)
            if pointer:
                draw_pointer(pixels, region)
        return RawFrame(region, Size(*taken.size), pixels, captured_at)

    def wait_until_drawn(self, seconds: float) -> bool:
        time.sleep(seconds)
        return True

    def close(self) -> None:
        """There is nothing to close."""


def displays() -> list[Display]:
    """Say where each screen is, in pixels of all together.  Raises DesktopError."""
    _check("display_unknown")
    with _errors_translated("display_unknown", "The screens cannot be told"):
        with MSS() as source:
            around, *screens = source.monitors
        return [_display(each) for each in screens or [around]]


def _display(monitor: Any) -> Display:
    # Inputs use the same pixels, as this process is aware of each screen's DPI: no scale.
    return Display(
        x=monitor["left"], y=monitor["top"], width=monitor["width"], height=monitor["height"]
    )


def _check(code: str) -> None:
    if (reason := session.why_unavailable()) is not None:
        raise DesktopError(code, reason[:1].upper() + reason[1:])


@contextlib.contextmanager
def _errors_translated(code: str, what: str) -> Iterator[None]:
    try:
        yield
    except (ScreenShotError, OSError) as error:
        _check(code)
        raise DesktopError(code, f"{what}: {error}") from error
