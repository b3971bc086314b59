"""Where sway has windows, and which of them a click goes to, as far as that can be known."""

import os
from typing import Any, Final

from machine_client.desktop.accessibility.windows import DesktopWindow
from machine_client.desktop.base import InjectionUnavailable
from machine_client.desktop.wayland.sway import ipc
from machine_client.desktop.wayland.sway.clients import runs, unknown_clients
from machine_client.desktop.wayland.sway.tree import SwayWindow, on_top, windows_of
from machine_client.desktop.wayland.wire.connection import socket_path

_DRAW_NOTHING_ABOVE: Final = frozenset(
    {
        *("swaybg", "swayidle", "kanshi", "gammastep", "wlsunset", "wl-paste", "wl-copy"),
        "xdg-desktop-por",
    }
)
"""Programs without a window that lay nothing over others; the kernel cuts their names."""

_XWAYLAND: Final = "Xwayland"

_NEVER_OVER_WINDOWS: Final = frozenset({"dock", "invisible"})
"""Modes of sway's own bars."""


class SwayWindows:
    """See `machine_client.desktop.accessibility.windows.Windows`; for any thread.

    Each question has a connection of its own: sway is asked seldom, and may be another one by then.
    """

    def __init__(self, name: str | None) -> None:
        self._name = name

    def seen(self) -> list[DesktopWindow]:
        return [each.window for each in self._windows() if each.is_visible]

    def at(self, x: int, y: int) -> DesktopWindow | None:
        return on_top(self._tree(), x, y)

    def demand_all_told(self) -> None:
        windows, path = self._windows(), self._path()
        try:
            own = {each.window.pid for each in windows if each.window.pid} | {os.getpid()}
            names = unknown_clients(path, own)
            has_others = runs(_XWAYLAND, user_of=ipc.process_of(path))
        except OSError as error:
            raise ipc.refused(f"it cannot be told who draws on sway ({error})") from error
        if above := sorted({*names} - _DRAW_NOTHING_ABOVE):
            raise ipc.refused(
                f"{', '.join(above[:3])} may lay something over windows, and sway does not tell"
            )
        if has_others:
            raise ipc.refused("programs of Xwayland may have menus open, and sway does not tell")
        for bar in ipc.ask(path, ipc.BARS):
            if ipc.ask(path, ipc.BARS, str(bar)).get("mode") not in _NEVER_OVER_WINDOWS:
                raise ipc.refused("sway's bar comes over windows")

    def untold_menus(self, process: int) -> dict[int, int]:
        windows = self._windows()
        # A menu over another program's window has the keyboard.
        processes = {process} | {each.window.pid for each in windows if each.is_focused}
        return {one: sum(each.window.pid == one for each in windows) for one in sorted(processes)}

    def close(self) -> None:
        """Nothing is kept."""

    def _windows(self) -> list[SwayWindow]:
        return windows_of(self._tree())

    def _tree(self) -> Any:
        return ipc.ask(self._path(), ipc.TREE)

    def _path(self) -> str:
        try:
            return socket_path(self._name)
        except InjectionUnavailable as error:
            raise ipc.refused(str(error)) from error
