"""An X display as a desktop, and what can be wrong with one."""

import os

from machine_client.desktop import base
from machine_client.desktop.accessibility.elements import AtSpiElements
from machine_client.desktop.looks import size_of_picture, sizes_of_displays
from machine_client.desktop.x11.clipboard.reader import read_selection
from machine_client.desktop.x11.connection import X11Connection, open_display
from machine_client.desktop.x11.input import X11Input
from machine_client.desktop.x11.mouse import Pynput
from machine_client.desktop.x11.view import MissingLibraryError, X11View
from machine_client.desktop.x11.windows import X11Windows
from schemas.inputs.clipboard_texts import Selection


class X11Desktop:
    """See `machine_client.desktop.base.Desktop`; without a name, it is the environment's."""

    def __init__(self, name: str | None) -> None:
        self._name = name

    def open_input(self) -> base.DesktopInput:
        return X11Input(self._name)

    def open_view(self) -> base.DesktopView:
        return X11View(self._name)

    def why_no_clipboard(self) -> str | None:
        return None

    def read_clipboard(self, selection: Selection) -> str:
        return read_selection(self._name, selection)

    def elements(self) -> base.DesktopElements:
        return AtSpiElements(X11Windows(self._name))

    def checks(self) -> tuple[base.DesktopCheck, ...]:
        return (
            base.DesktopCheck(
                "display",
                self._look_at_display,
                "the X server does not answer; a program may have grabbed it: close open menus, "
                "unlock the screen, or restart the graphical session",
            ),
            base.DesktopCheck(
                "input",
                self._look_at_input,
                "the X server takes no input now; a program may have grabbed it: close open menus, "
                "or unlock the screen",
            ),
            base.DesktopCheck(
                "screen",
                self._look_at_screen,
                "it gave no picture in time; a program may have grabbed the X server",
            ),
        )

    def _look_at_display(self) -> str:
        try:
            open_display(self._name).close()
            return sizes_of_displays(self)
        except MissingLibraryError:
            raise
        except (base.InjectionUnavailable, base.DesktopError) as error:
            raise base.InjectionUnavailable(f"{error}; {_display_remedy()}") from error

    def _look_at_input(self) -> str:
        # `X11Input` releases what a client that died had left pressed, and the client that comes
        # next tells the server of it.  Whoever only looks must leave both to that one.
        Pynput(self._name)
        X11Connection(self._name).close()
        return "mouse and keyboard can be used"

    def _look_at_screen(self) -> str:
        return size_of_picture(self)


def _display_remedy() -> str:
    if os.environ.get("WAYLAND_DISPLAY"):
        return "this is a Wayland session: leave out --display and --desktop to work on Wayland"
    return (
        "run this inside the graphical session, as its user, or name its display with --display "
        "(and its cookie file in XAUTHORITY)"
    )
