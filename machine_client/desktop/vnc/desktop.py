"""A VNC server as a desktop, and what can be wrong with one."""

from contextlib import closing
from weakref import ref

from machine_client.desktop import base
from machine_client.desktop.looks import size_of_picture, sizes_of_displays
from machine_client.desktop.vnc.address import VncServer
from machine_client.desktop.vnc.clipboard import Clipboard
from machine_client.desktop.vnc.connection import VncConnection
from machine_client.desktop.vnc.input import NO_PLACES, VncInput
from machine_client.desktop.vnc.keyboard import LackedKeys
from machine_client.desktop.vnc.pointer import Place
from machine_client.desktop.vnc.view import VncView
from schemas.inputs.clipboard_texts import Selection

_SILENT = "the VNC server does not answer: look at the host that it runs on"


class VncDesktop:
    """See `machine_client.desktop.base.Desktop`."""

    def __init__(self, server: VncServer) -> None:
        self._server = server
        self._place = Place()
        self._lacked_keys = LackedKeys(server.characters)
        self._input: ref[VncInput] | None = None

    def open_input(self) -> base.DesktopInput:
        input_ = VncInput(self._server, self._place, self._lacked_keys)
        self._input = ref(input_)
        return input_

    def open_view(self) -> base.DesktopView:
        return VncView(self._server, self._place)

    def why_no_clipboard(self) -> str | None:
        return None

    def read_clipboard(self, selection: Selection) -> str:
        if selection != "clipboard":
            raise base.ClipboardError("clipboard_unavailable", "VNC knows one clipboard alone")
        # A server tells of what is copied when it is: who comes later may never hear of it.
        input_ = None if self._input is None else self._input()
        if input_ is not None and not input_.is_closed:
            return input_.clipboard.read()
        try:
            with closing(VncConnection(self._server, told=False)) as connection:
                return Clipboard(connection).read()
        except base.InjectionUnavailable as error:
            raise base.ClipboardError("clipboard_unavailable", str(error)) from error

    def elements(self) -> base.DesktopElements:
        return base.NoElements(
            "a VNC server tells of pixels alone, not of the elements on its screen"
        )

    def checks(self) -> tuple[base.DesktopCheck, ...]:
        return (
            base.DesktopCheck("display", self._look_at_display, _SILENT),
            base.DesktopCheck("input", self._look_at_input, _SILENT),
            base.DesktopCheck("screen", self._look_at_screen, _SILENT),
        )

    def _look_at_display(self) -> str:
        return f"{sizes_of_displays(self)}, of the VNC server {self._server}"

    def _look_at_input(self) -> str:
        with closing(VncConnection(self._server, told=False)) as connection:
            connection.confirm()
            said = connection.said
            clipboard = "Unicode" if said.has_extended_clipboard else "Latin-1 alone"
        if not said.mouse_knows_places:
            return f"the server reads the keyboard alone: {NO_PLACES}"
        return (
            "the server reads mouse and keyboard; whether it lets this client use them it does not "
            f"say; its clipboard takes {clipboard}"
        )

    def _look_at_screen(self) -> str:
        try:
            return size_of_picture(self)
        except base.DesktopError as error:
            raise base.InjectionUnavailable(str(error)) from error
