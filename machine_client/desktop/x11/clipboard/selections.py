"""What both who owns a selection and who reads one know: its atoms, its texts, its events."""

import select
import time
from collections.abc import Mapping
from typing import Any, Final

import Xlib.display
import Xlib.protocol.rq
from Xlib import X
from Xlib.ext import xtest

from machine_client.desktop.x11.connection import open_display
from schemas.inputs.clipboard_texts import Selection

NAMES: Final[Mapping[Selection, str]] = {"clipboard": "CLIPBOARD", "primary": "PRIMARY"}

AT_ONCE_BYTES: Final = 64 * 1024
"""What is longer is given in pieces of this length (ICCCM 2.7.2): every X server takes them."""


class SelectionClient:
    """A connection of its own with a window of its own, for one thread at a time.

    It outwits programs that grab the server, as the one for inputs does.  Raises
    InjectionUnavailable where the display cannot be opened, and what python-xlib raises.
    """

    def __init__(self, name: str | None) -> None:
        # Any: python-xlib adds the extensions' methods to its objects at run time.
        self.display: Any = open_display(name)
        # A window of somebody who has gone is no mistake that anybody could mend.
        self.display.set_error_handler(lambda _error, _request: None)
        if self.display.query_extension(xtest.extname):
            self.display.xtest_grab_control(True)
        self.window: Any = self.display.screen().root.create_window(
            0, 0, 1, 1, 0, X.CopyFromParent, event_mask=X.PropertyChangeMask
        )

    def atom(self, name: str) -> int:
        """The atom of a name: a round trip, once."""
        number: int = self.display.get_atom(name)
        return number

    def wait(self, seconds: float, *also: int) -> None:
        """Wait for an event, or until one of these descriptors can be read."""
        self.display.flush()
        if not self.display.pending_events():
            select.select((self.display.fileno(), *also), (), (), max(0.0, seconds))

    def next_event(self, until: float) -> Xlib.protocol.rq.Event | None:
        """The next event; None where none comes ``until`` then, by the monotonic clock."""
        while not self.display.pending_events():
            if (left := until - time.monotonic()) <= 0:
                return None
            self.wait(left)
        event: Xlib.protocol.rq.Event = self.display.next_event()
        return event
