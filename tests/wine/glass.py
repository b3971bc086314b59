"""A pane of glass above all windows of an X display: ``python -m tests.wine.glass :7``.

Wine puts the X server's pointer wherever a program of Windows puts its own, and the server tells
Wine's windows of it, as if a hand had moved the mouse.  What comes late of that moves the pointer
back.  Real Windows has no second pointer, so here nobody hears of the server's: whatever happens to
it happens to the glass, which cannot be seen.
"""

import sys
from typing import Any

import Xlib.display
from Xlib import X


def main(display: str) -> None:
    """Lay it, and keep it above whatever opens, until the display ends."""
    connection: Any = Xlib.display.Display(display)
    root = connection.screen().root
    size = root.get_geometry()
    root.change_attributes(event_mask=X.SubstructureNotifyMask)
    everything = (0, 0, size.width, size.height, 0, 0)
    pane = root.create_window(*everything, window_class=X.InputOnly, override_redirect=True)
    pane.map()
    connection.sync()
    print("ready", flush=True)
    while True:
        event = connection.next_event()
        if event.type in (X.MapNotify, X.ConfigureNotify) and event.window != pane:
            pane.configure(stack_mode=X.Above)
            connection.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
