"""Desktops on which ctrl+alt+t shows a terminal, as it opens one on many.

Its program writes what is typed into it into the file ``typed`` of a directory.  It runs before, on
a window that is not there yet: what waits until the screen is still does not wait for a program
that a busy machine has not come to.
"""

import contextlib
import os
import shlex
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import Xlib.display
from Xlib import XK, X

from tests.desktop import Terminal, running
from tests.machine_client.desktop.wayland.compositor import Sway
from tests.waiting import eventually


@contextlib.contextmanager
def terminal_of_x(display: str, directory: Path) -> Iterator[None]:
    """An xterm, shown by whoever has grabbed the keys, as a window manager has."""
    connection = Xlib.display.Display(display)
    with Terminal.open(display, directory):
        window = connection.get_input_focus().focus
        window.unmap()
        key = connection.keysym_to_keycode(XK.XK_t)
        connection.screen().root.grab_key(
            key, X.ControlMask | X.Mod1Mask, True, X.GrabModeAsync, X.GrabModeAsync
        )
        connection.sync()
        with _shown_when_pressed(connection, window):
            yield
    connection.close()


@contextlib.contextmanager
def _shown_when_pressed(connection: Any, window: Any) -> Iterator[None]:
    is_over = threading.Event()

    def show() -> None:
        while not is_over.wait(0.02):
            if connection.pending_events() and connection.next_event().type == X.KeyPress:
                window.map()
                window.set_input_focus(X.RevertToPointerRoot, X.CurrentTime)
                connection.sync()

    showing = threading.Thread(target=show, daemon=True)
    showing.start()
    try:
        yield
    finally:
        is_over.set()
        showing.join()


@contextlib.contextmanager
def terminal_of_sway(compositor: Sway, directory: Path) -> Iterator[None]:
    """A foot; what sway starts by itself has no rights in the test's directory."""
    typed = directory / "typed"
    script = f"stty raw -echo; exec cat >> {shlex.quote(str(typed))}"
    environment = {
        **os.environ,
        "LC_ALL": "C.UTF-8",
        "WAYLAND_DISPLAY": compositor.name,
        "XDG_RUNTIME_DIR": str(directory),
    }
    compositor.tell("workspace", "terminal")
    with running("foot", "--config=/dev/null", "sh", "-c", script, env=environment):
        eventually(lambda: compositor.has_focus("foot"), "foot has the keyboard")
        eventually(typed.exists, "its program runs")
        compositor.tell("workspace", "1")
        compositor.tell("bindsym", "Ctrl+Alt+t", "workspace", "terminal")
        yield
