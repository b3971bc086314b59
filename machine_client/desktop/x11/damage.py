"""Notices that something is drawn on an X display, by its DAMAGE extension.

https://www.x.org/releases/current/doc/damageproto/damageproto.txt
"""

import contextlib
import select
import time
from typing import Any

import Xlib.error
from Xlib.ext import damage

from machine_client.desktop.base import DesktopError, InjectionUnavailable
from machine_client.desktop.x11.connection import errors_translated, open_display


class Damage:
    """A connection of its own, which is told of what is drawn.  Raises DesktopError.

    An X server without the extension says nothing: there it may always have been.
    """

    def __init__(self, display: str | None) -> None:
        try:
            self._connection: Any = open_display(display)
        except InjectionUnavailable as error:
            raise DesktopError("display_unknown", str(error)) from error
        self._damage: Any = None
        with errors_translated():
            if self._connection.has_extension(damage.extname):
                self._connection.damage_query_version()
                root = self._connection.screen().root
                self._damage = root.damage_create(damage.DamageReportNonEmpty)
                self._connection.sync()
        # What was drawn before nobody was told of.
        self._is_drawn = True

    def wait(self, seconds: float) -> bool:
        """Wait until something is drawn, at most so long; whether it may have been."""
        if self._damage is None:
            time.sleep(seconds)
            return True
        with errors_translated():
            self._take_events()
            if not self._is_drawn and select.select([self._connection], [], [], seconds)[0]:
                self._take_events()
            if not self._is_drawn:
                return False
            self._is_drawn = False
            # Confirmed, so that whatever is drawn after the next picture is told of anew.
            self._connection.damage_subtract(self._damage)
            self._connection.sync()
        return True

    def close(self) -> None:
        """Let go of it; safe when its server has ended."""
        with contextlib.suppress(Xlib.error.ConnectionClosedError, OSError):
            self._connection.close()

    def _take_events(self) -> None:
        while self._connection.pending_events():
            self._connection.next_event()
            self._is_drawn = True
