"""The displays of this desktop and their pixels, through mss."""

import re
from contextlib import suppress
from typing import Any

from mss import MSS
from mss.exception import ScreenShotError

from machine_client.desktop.base import DesktopError
from machine_client.link.clock import awake_seconds
from machine_client.screen.encoding import Shot
from schemas.link.messages import Display
from schemas.link.picture_frames import Region, Size


class MissingLibraryError(DesktopError):
    """The system lacks a library that mss loads; the message says its package."""


def displays(display: str | None = None) -> list[Display]:
    """Say where each screen is, at least one, in the pixels that inputs use.

    ``display`` is the X display; None is the environment's.  Opens a connection of its own and
    closes it: some milliseconds.  Raises DesktopError of code "display_unknown".
    """
    try:
        with _open(display) as source:
            # The first is the smallest rectangle around all of them, and alone where the
            # system does not tell its screens apart.
            around, *screens = source.monitors
    except (ScreenShotError, OSError) as error:
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


class Screen:
    """All displays as one picture, with the pointer on it; for one thread at a time.

    It sees the displays as they were when it was opened: open it anew now and then.
    """

    def __init__(self, display: str | None = None) -> None:
        try:
            self._source: Any = _open(display, with_cursor=True)
            self._around = self._source.monitors[0]
        except (ScreenShotError, OSError) as error:
            raise DesktopError(
                "screen_unavailable", f"The screen cannot be seen: {error}"
            ) from error

    def capture(self) -> Shot:
        """The pixels as they are now: a few milliseconds.  Raises DesktopError."""
        captured_at = awake_seconds()
        try:
            taken = self._source.grab(self._around)
        except (ScreenShotError, OSError, AssertionError) as error:
            # mss asserts that there is an answer; a server that has ended gives none.
            why = str(error) or "the X server does not answer"
            raise DesktopError(
                "screen_unavailable", f"The screen cannot be captured: {why}"
            ) from error
        around = self._around
        return Shot(
            Region(around["left"], around["top"], around["width"], around["height"]),
            Size(*taken.size),
            taken.raw,
            captured_at,
        )

    def close(self) -> None:
        """Let go of the screen; safe when its server has ended."""
        with suppress(ScreenShotError):
            self._source.close()


def _missing_package(error: Exception) -> str | None:
    """Debian's package with the library that mss did not find, if that is what went wrong."""
    missing = re.search(r"\b(libxcb(?:-\w+)?)\.so not found", str(error))
    if missing is None:
        return None
    return "libxcb1" if missing[1] == "libxcb" else f"{missing[1]}0"


def _open(display: str | None, **options: Any) -> Any:
    return MSS(display=display, **options) if display is not None else MSS(**options)
