"""Which kind of desktop this machine has: the one place that knows all of them."""

import sys
from collections.abc import Callable, Mapping

from machine_client.desktop.base import Desktop
from machine_client.desktop.unavailable import UnavailableDesktop
from machine_client.desktop.vnc.address import VncServer
from machine_client.desktop.vnc.desktop import VncDesktop


def choose_desktop(kind: str | None, display: str | None, vnc: VncServer | None = None) -> Desktop:
    """The desktop of a kind of `KINDS`; None is the kind of `kind_of_desktop`.

    ``display`` names one where there can be several; None is the environment's own.
    """
    kind = kind or kind_of_desktop(vnc)
    if kind is None:
        return UnavailableDesktop(
            "this version of Farhand works on X11 and through VNC servers, and this machine has "
            f"{sys.platform}: name a VNC server on it with --vnc"
        )
    if kind == "vnc" and vnc is not None:
        return VncDesktop(vnc)
    return KINDS[kind](display)


def kind_of_desktop(vnc: VncServer | None) -> str | None:
    """The kind of the VNC server that was named, else what this machine's environment has."""
    if vnc is not None:
        return "vnc"
    # Both have systems of windows of their own, though an X server can run beside them.
    return None if sys.platform in ("win32", "darwin") else "x11"


def _x11(display: str | None) -> Desktop:
    # Imported late: python-xlib is not installed where there is no X11.
    from machine_client.desktop.x11.desktop import X11Desktop  # noqa: PLC0415

    return X11Desktop(display)


def _unnamed_vnc(_display: str | None) -> Desktop:
    return UnavailableDesktop("No VNC server is named: --vnc HOST:PORT does that")


KINDS: Mapping[str, Callable[[str | None], Desktop]] = {"x11": _x11, "vnc": _unnamed_vnc}
"""Every kind of desktop by the name that settings give it; each is opened by a display's name."""
