"""Where the pointer of an X display is, on a connection of its own.

The injector's connection is for one thread, which may be in the middle of a long drag.  A program
that grabs the server, as some menus do, does not stop this one once it is open.
"""

import contextlib

import Xlib.error
from Xlib.ext import xtest

from machine_client.desktop.base import DesktopError, InjectionUnavailable
from machine_client.desktop.x11.connection import errors_translated, open_display
from schemas.inputs.outcomes import Point


class X11Pointer:
    """Looks at the pointer and never moves it; for one thread at a time."""

    def __init__(self, display: str | None) -> None:
        try:
            self._display = open_display(display)
        except InjectionUnavailable as error:
            raise DesktopError("display_unknown", str(error)) from error
        with errors_translated():
            if self._display.has_extension(xtest.extname):
                self._display.xtest_grab_control(True)
                self._display.sync()

    def place(self) -> Point:
        """Where the pointer is now.  Raises DesktopError."""
        with errors_translated():
            reply = self._display.screen().root.query_pointer()
        return Point(x=reply.root_x, y=reply.root_y)

    def close(self) -> None:
        """End the connection; safe when it has already ended."""
        with contextlib.suppress(Xlib.error.ConnectionClosedError, OSError):
            self._display.close()
