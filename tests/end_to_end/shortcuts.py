"""Desktops on which ctrl+alt+t opens a terminal, as it does on many.

Its program writes what is typed into it into the file ``typed`` of a directory.
"""

import contextlib
import os
import shlex
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import Xlib.display
from Xlib import XK, X

from tests.desktop import Terminal, running
from tests.machine_client.desktop.wayland.compositor import Sway


@contextlib.contextmanager
def terminal_of_x(display: str, directory: Path) -> Iterator[None]:
    """An xterm, opened by whoever has grabbed the keys, as a window manager has."""
    connection = Xlib.display.Display(display)
    key = connection.keysym_to_keycode(XK.XK_t)
    connection.screen().root.grab_key(
        key, X.ControlMask | X.Mod1Mask, True, X.GrabModeAsync, X.GrabModeAsync
    )
    connection.sync()

    def is_pressed() -> bool:
        return bool(connection.pending_events()) and connection.next_event().type == X.KeyPress

    with _opened_when(is_pressed, lambda: Terminal.open(display, directory)):
        yield
    connection.close()


@contextlib.contextmanager
def terminal_of_sway(compositor: Sway, directory: Path) -> Iterator[None]:
    """A foot; what sway starts by itself has no rights in the test's directory."""
    pressed = compositor.directory / "pressed"
    compositor.tell("bindsym", "Ctrl+Alt+t", "exec", f"touch {shlex.quote(str(pressed))}")
    script = f"stty raw -echo; exec cat >> {shlex.quote(str(directory / 'typed'))}"
    environment = {
        **os.environ,
        "LC_ALL": "C.UTF-8",
        "WAYLAND_DISPLAY": compositor.name,
        "XDG_RUNTIME_DIR": str(directory),
    }

    def terminal() -> AbstractContextManager[Any]:
        return running("foot", "--config=/dev/null", "sh", "-c", script, env=environment)

    with _opened_when(pressed.exists, terminal):
        yield


@contextlib.contextmanager
def _opened_when(
    is_pressed: Callable[[], bool], terminal: Callable[[], AbstractContextManager[Any]]
) -> Iterator[None]:
    is_over = threading.Event()

    def launch() -> None:
        while not is_over.wait(0.02):
            if is_pressed():
                with terminal():
                    is_over.wait()

    launcher = threading.Thread(target=launch, daemon=True)
    launcher.start()
    try:
        yield
    finally:
        is_over.set()
        launcher.join()
