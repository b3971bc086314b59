"""Which kind of desktop this machine has: the one place that knows all of them."""

import sys
from collections.abc import Callable, Mapping

from machine_client.desktop.base import Desktop
from machine_client.desktop.unavailable import UnavailableDesktop


def choose_desktop(kind: str | None, display: str | None) -> Desktop:
    """The desktop of a kind of `KINDS`; None is the kind that this machine's environment has.

    ``display`` names one where there can be several; None is the environment's own.
    """
    kind = kind or _kind_of_this_machine()
    if kind is None:
        return UnavailableDesktop(
            f"this version of Farhand works on X11, and this machine has {sys.platform}"
        )
    return KINDS[kind](display)


def _kind_of_this_machine() -> str | None:
    # Both have systems of windows of their own, though an X server can run beside them.
    return None if sys.platform in ("win32", "darwin") else "x11"


def _x11(display: str | None) -> Desktop:
    # Imported late: python-xlib is not installed where there is no X11.
    from machine_client.desktop.x11.desktop import X11Desktop  # noqa: PLC0415

    return X11Desktop(display)


KINDS: Mapping[str, Callable[[str | None], Desktop]] = {"x11": _x11}
"""Every kind of desktop by the name that settings give it; each is opened by a display's name."""
