"""What the photographer needs of a desktop: its pixels, its displays and its pointer."""

from machine_client.desktop.watch import Pointer
from machine_client.link.clock import awake_seconds
from machine_client.screen import grabber as screen
from machine_client.screen.capturer import Camera
from machine_client.screen.encoding import Shot
from machine_client.screen.grabber import Screen
from schemas.inputs.outcomes import Point
from schemas.link.messages import Display

LOOK_ANEW_SECONDS = 2.0
"""How long a change of the displays may stay unseen: half a millisecond each time, measured."""


class X11Camera:
    """A camera on an X display; see `machine_client.screen.capturer.Camera`."""

    def __init__(self, display: str | None) -> None:
        self._display = display
        self._pointer: Pointer | None = None
        self._screen = Screen(display)
        self._opened_at = awake_seconds()

    def capture(self) -> Shot:
        if awake_seconds() - self._opened_at > LOOK_ANEW_SECONDS:
            self._screen.close()
            self._screen = Screen(self._display)
            self._opened_at = awake_seconds()
        return self._screen.capture()

    def displays(self) -> list[Display]:
        return screen.displays(self._display)

    def pointer(self) -> Point:
        if self._pointer is None:
            self._pointer = open_pointer(self._display)
        return self._pointer.place()

    def close(self) -> None:
        self._screen.close()
        if self._pointer is not None:
            self._pointer.close()


def open_camera(display: str | None) -> Camera:
    """The camera of this system's kind of desktop.  Raises DesktopError."""
    return X11Camera(display)


def open_pointer(display: str | None) -> Pointer:
    """The pointer of this system's kind of desktop.  Raises DesktopError."""
    # Imported late: python-xlib is not installed where there is no X11.
    from machine_client.desktop.x11.pointer import X11Pointer  # noqa: PLC0415

    return X11Pointer(display)
