"""Which kind of desktop this machine has: the one place that knows all of them."""

import os
import sys
from collections.abc import Callable, Mapping

from machine_client.desktop.base import Desktop
from machine_client.desktop.unavailable import UnavailableDesktop
from machine_client.desktop.vnc.address import VncServer
from machine_client.desktop.vnc.desktop import VncDesktop


def choose_desktop(kind: str | None, display: str | None, vnc: VncServer | None = None) -> Desktop:
    """The desktop of a kind of `KINDS`; None is the one of `kind_of_desktop`.

    ``display`` names one where there can be several; None is the environment's own.
    """
    kind = kind or kind_of_desktop(display, vnc)
    if kind is None:
        return UnavailableDesktop(
            "this version of Farhand works on X11, on Wayland, on Windows and through VNC servers, "
            f"and this machine has {sys.platform}: name a VNC server on it with --vnc"
        )
    if kind == "vnc" and vnc is not None:
        return VncDesktop(vnc)
    return KINDS[kind](display)


def kind_of_desktop(display: str | None, vnc: VncServer | None) -> str | None:
    """The kind of the named desktop, or else of this machine's own; None where it has none."""
    if vnc is not None:
        return "vnc"
    # These have systems of windows of their own, though an X server can run beside them.
    if sys.platform == "win32":
        return "windows"
    if sys.platform == "darwin":
        return None
    if display:
        # An X display has a colon in its name; Wayland's is a socket, which has none.
        return "x11" if ":" in display else "wayland"
    # Where both are named, X11 is Xwayland: that reaches its own programs alone.
    return "wayland" if os.environ.get("WAYLAND_DISPLAY") else "x11"


def _x11(display: str | None) -> Desktop:
    # Imported late: python-xlib is not installed where there is no X11.
    from machine_client.desktop.x11.desktop import X11Desktop  # noqa: PLC0415

    return X11Desktop(display)


def _wayland(display: str | None) -> Desktop:
    # Imported late: it needs a system that has sockets with descriptors beside their bytes.
    from machine_client.desktop.wayland.desktop import WaylandDesktop  # noqa: PLC0415

    return WaylandDesktop(display)


def _windows(_display: str | None) -> Desktop:
    if sys.platform != "win32":
        return UnavailableDesktop("This machine does not run Windows")
    # Imported late: what it needs is on Windows alone.
    from machine_client.desktop.windows.desktop import WindowsDesktop  # noqa: PLC0415

    return WindowsDesktop()


def _unnamed_vnc(_display: str | None) -> Desktop:
    return UnavailableDesktop("No VNC server is named: --vnc HOST:PORT does that")


KINDS: Mapping[str, Callable[[str | None], Desktop]] = {
    "x11": _x11,
    "wayland": _wayland,
    "windows": _windows,
    "vnc": _unnamed_vnc,
}
"""Every kind of desktop by the name that settings give it; each is opened by a display's name."""
