"""A session of Windows as a desktop, and what can be wrong with one."""

from machine_client.desktop import base
from machine_client.desktop.looks import size_of_picture, sizes_of_displays
from machine_client.desktop.windows import session
from machine_client.desktop.windows.clipboard import read_clipboard
from machine_client.desktop.windows.input import WindowsInput
from machine_client.desktop.windows.view import WindowsView
from machine_client.system.dpi import be_aware_of_dpi
from schemas.inputs.clipboard_texts import Selection


class WindowsDesktop:
    """See `machine_client.desktop.base.Desktop`: that of the session this program runs in."""

    def __init__(self) -> None:
        be_aware_of_dpi()

    def open_input(self) -> base.DesktopInput:
        return WindowsInput()

    def open_view(self) -> base.DesktopView:
        return WindowsView()

    def why_no_clipboard(self) -> str | None:
        return None

    def read_clipboard(self, selection: Selection) -> str:
        return read_clipboard(selection)

    def elements(self) -> base.DesktopElements:
        return base.NoElements("this version of Farhand finds no elements on Windows yet")

    def checks(self) -> tuple[base.DesktopCheck, ...]:
        silent = "Windows does not answer: log off and on again, or restart it"
        return (
            base.DesktopCheck("display", self._look_at_display, silent),
            base.DesktopCheck("input", self._look_at_input, silent),
            base.DesktopCheck("screen", self._look_at_screen, silent),
        )

    def _look_at_display(self) -> str:
        try:
            return sizes_of_displays(self)
        except base.DesktopError as error:
            raise base.InjectionUnavailable(str(error)) from error

    def _look_at_input(self) -> str:
        # Only looks: `WindowsInput` releases what a client that died had left pressed, and the
        # client that comes next tells the server of it.
        if (reason := session.why_unavailable()) is not None:
            raise base.InjectionUnavailable(reason)
        return "mouse and keyboard can be used; windows with higher rights take nothing"

    def _look_at_screen(self) -> str:
        return size_of_picture(self)
