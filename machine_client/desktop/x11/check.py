"""Looks whether an X display can be worked on, and leaves everything on it as it is.

`X11Desktop` releases what a client that died had left pressed, and the client that comes next
tells the server of it.  Whoever only looks must leave both to that one.
"""

from machine_client.desktop.x11.connection import X11Connection, open_display
from machine_client.desktop.x11.mouse import Pynput


def check_display(name: str | None) -> None:
    """Raise InjectionUnavailable where the display cannot be opened."""
    open_display(name).close()


def check_input(name: str | None) -> None:
    """Raise InjectionUnavailable where nothing could be injected on this display."""
    Pynput(name)
    X11Connection(name).close()
