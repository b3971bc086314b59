"""What an X display shows: its screens and pixels, through mss, and where its pointer is.

All on connections of their own: the injector's is for one thread, which may be in the middle of a
long drag.
"""

import contextlib
import re
from typing import Any

import Xlib.error
from mss import MSS
from mss.exception import ScreenShotError
from Xlib.ext import xtest

from machine_client.desktop.base import DesktopError, InjectionUnavailable, RawFrame
from machine_client.desktop.x11.connection import errors_translated, open_display
from machine_client.desktop.x11.damage import Damage
from machine_client.system.clock import boottime_seconds
from schemas.inputs.outcomes import Point
from schemas.link.messages import Display
from schemas.values.pictures import Region, Size

LOOK_ANEW_SECONDS = 2.0
"""How long a change of the displays may stay unseen: half a millisecond each time, measured."""

_UNANSWERED = (ScreenShotError, OSError, AssertionError, ValueError)
"""What mss 10 raises.  It asserts that a server answers, or follows the null pointer that it gets
in place of an answer (``ValueError``), where that has ended in the middle."""


class MissingLibraryError(DesktopError):
    """The system lacks a library that mss loads; the message says its package."""


class X11View:
    """See `machine_client.desktop.base.DesktopView`.

    A program that grabs the server, as some menus do, does not keep the pointer from being told
    once it was told before; pictures and displays wait for its end.
    """

    def __init__(self, display: str | None) -> None:
        self._display = display
        self._pointer: Any = None
        self._screens: dict[bool, _Screen] = {}
        self._damage: Damage | None = None

    def displays(self) -> list[Display]:
        return displays(self._display)

    def pointer(self) -> Point:
        if self._pointer is None:
            self._pointer = _open_pointer(self._display)
        try:
            with errors_translated():
                reply = self._pointer.screen().root.query_pointer()
        except DesktopError:
            self._close_pointer()
            raise
        return Point(x=reply.root_x, y=reply.root_y)

    def capture(self, *, pointer: bool = True) -> RawFrame:
        screen = self._screens.get(pointer)
        if screen is None or screen.is_old:
            self._close_screen(pointer)
            screen = self._screens[pointer] = _Screen(self._display, pointer=pointer)
        try:
            return screen.capture()
        except DesktopError:
            self._close_screen(pointer)
            raise

    def wait_until_drawn(self, seconds: float) -> bool:
        if self._damage is None:
            self._damage = Damage(self._display)
        try:
            return self._damage.wait(seconds)
        except DesktopError:
            self._close_damage()
            raise

    def close(self) -> None:
        for pointer in tuple(self._screens):
            self._close_screen(pointer)
        self._close_pointer()
        self._close_damage()

    def _close_screen(self, pointer: bool) -> None:
        screen = self._screens.pop(pointer, None)
        if screen is not None:
            screen.close()

    def _close_damage(self) -> None:
        damage, self._damage = self._damage, None
        if damage is not None:
            damage.close()

    def _close_pointer(self) -> None:
        pointer, self._pointer = self._pointer, None
        if pointer is not None:
            with contextlib.suppress(Xlib.error.ConnectionClosedError, OSError):
                pointer.close()


def displays(display: str | None) -> list[Display]:
    """Say where each screen is, at least one, in the pixels that inputs use.

    None is the environment's display.  Opens a connection of its own and closes it: some
    milliseconds.  Raises DesktopError of code "display_unknown".
    """
    try:
        with _open_mss(display) as source:
            # The first is the smallest rectangle around all of them, and alone where the
            # system does not tell its screens apart.
            around, *screens = source.monitors
    except _UNANSWERED as error:
        what = "The displays of this machine cannot be told"
        if package := _missing_package(error):
            remedy = f"on Debian or Ubuntu: sudo apt-get install {package}"
            raise MissingLibraryError("display_unknown", f"{what}: {error} ({remedy})") from error
        raise DesktopError("display_unknown", f"{what}: {error}") from error
    return [
        Display(
            x=monitor["left"], y=monitor["top"], width=monitor["width"], height=monitor["height"]
        )
        for monitor in screens or [around]
    ]


class _Screen:
    """All displays as one picture, as they were when it was opened."""

    def __init__(self, display: str | None, *, pointer: bool) -> None:
        self._opened_at = boottime_seconds()
        try:
            self._source: Any = _open_mss(display, with_cursor=pointer)
            self._around = self._source.monitors[0]
        except _UNANSWERED as error:
            raise DesktopError(
                "screen_unavailable", f"The screen cannot be seen: {error}"
            ) from error

    @property
    def is_old(self) -> bool:
        """Whether the displays may have changed since."""
        return boottime_seconds() - self._opened_at > LOOK_ANEW_SECONDS

    def capture(self) -> RawFrame:
        """The pixels as they are now: a few milliseconds.  Raises DesktopError."""
        captured_at = boottime_seconds()
        try:
            taken = self._source.grab(self._around)
        except _UNANSWERED as error:
            why = str(error) or "the X server does not answer"
            raise DesktopError(
                "screen_unavailable", f"The screen cannot be captured: {why}"
            ) from error
        around = self._around
        return RawFrame(
            Region(around["left"], around["top"], around["width"], around["height"]),
            Size(*taken.size),
            taken.raw,
            captured_at,
        )

    def close(self) -> None:
        """Let go of the screen; safe when its server has ended."""
        with contextlib.suppress(ScreenShotError):
            self._source.close()


def _open_pointer(display: str | None) -> Any:
    try:
        connection: Any = open_display(display)
    except InjectionUnavailable as error:
        raise DesktopError("display_unknown", str(error)) from error
    with errors_translated():
        # From here on a program that grabs the server does not stop it.
        if connection.has_extension(xtest.extname):
            connection.xtest_grab_control(True)
            connection.sync()
    return connection


def _missing_package(error: Exception) -> str | None:
    """Debian's package with the library that mss did not find, if that is what went wrong."""
    missing = re.search(r"\b(libxcb(?:-\w+)?)\.so not found", str(error))
    if missing is None:
        return None
    return "libxcb1" if missing[1] == "libxcb" else f"{missing[1]}0"


def _open_mss(display: str | None, **options: Any) -> Any:
    return MSS(display=display, **options) if display is not None else MSS(**options)
