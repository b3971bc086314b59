"""Where the windows of an X server are, whose they are, and which of them a click goes to."""

import contextlib
import threading
from collections.abc import Iterator
from typing import Any, Final

from Xlib import X
from Xlib.error import BadDrawable, BadWindow

from machine_client.desktop.accessibility.windows import DesktopWindow, holds
from machine_client.desktop.base import DesktopError, InjectionUnavailable
from machine_client.desktop.x11.connection import errors_translated, open_display
from schemas.inputs.outcomes import ELEMENTS_UNAVAILABLE
from schemas.values.pictures import Region

MOST_WINDOWS: Final = 200
"""Of those that can be seen, the topmost."""

_DEEPEST_CLIENT: Final = 3
"""Levels of a window manager's own windows around a program's."""

_DEEPEST: Final = 32
_LOCAL_PID: Final = 2
_TITLE_LENGTH: Final = 1024


class X11Windows:
    """See `machine_client.desktop.accessibility.windows.Windows`; for any thread."""

    def __init__(self, name: str | None) -> None:
        self._name = name
        self._lock = threading.Lock()
        # Any: python-xlib adds the extensions' methods to its objects at run time.
        self._display: Any = None

    def seen(self) -> list[DesktopWindow]:
        with self._looking() as display:
            root = display.screen().root
            children = root.query_tree().children
            found = (_described(display, child) for child in reversed(children[-MOST_WINDOWS:]))
            return [window for window in found if window is not None]

    def at(self, x: int, y: int) -> DesktopWindow | None:
        with self._looking() as display:
            root = display.screen().root
            if not holds(_region(display, root), x, y):
                return None  # The pointer would stop at the edge, over something else.
            top = root.translate_coords(root, x, y).child
            if not top:
                return None
            window, deepest = _described(display, top), top
            for _ in range(_DEEPEST):
                if not (child := deepest.translate_coords(root, x, y).child):
                    break
                deepest = child
            if window is None:
                return None
            # What a window manager has put around a program's window is not the program's.
            pid = _pid(display, deepest)
            return window if pid == window.pid else _of(window, pid)

    def demand_all_told(self) -> None:
        """An X server tells of all that it shows."""

    def untold_menus(self, process: int) -> dict[int, int]:
        return {}

    def close(self) -> None:
        with self._lock:
            self._close()

    @contextlib.contextmanager
    def _looking(self) -> Iterator[Any]:
        """A connection of its own; a new one after a mistake."""
        with self._lock:
            try:
                with errors_translated():
                    if self._display is None:
                        self._display = open_display(self._name)
                    yield self._display
            except InjectionUnavailable as error:
                raise DesktopError(ELEMENTS_UNAVAILABLE, str(error)) from error
            except DesktopError:
                self._close()
                raise

    def _close(self) -> None:
        display, self._display = self._display, None
        if display is not None:
            with contextlib.suppress(Exception):
                display.close()


def _of(window: DesktopWindow, pid: int) -> DesktopWindow:
    return DesktopWindow(window.id, pid, "", window.outer, window.outer, window.is_popup)


def _described(display: Any, window: Any) -> DesktopWindow | None:
    """A child of the root; None where it cannot be seen, or has vanished meanwhile."""
    try:
        attributes = window.get_attributes()
        if attributes.map_state != X.IsViewable or attributes.win_class != X.InputOutput:
            return None
        client = _client_within(display, window)
        return DesktopWindow(
            window.id,
            _pid(display, client or window),
            _title(display, client or window),
            _region(display, client or window),
            _region(display, window),
            is_popup=bool(attributes.override_redirect) and client is None,
        )
    except (BadWindow, BadDrawable):
        return None


def _client_within(display: Any, window: Any) -> Any:
    """The window that a window manager has put into this one; None where there is none."""
    managed = display.get_atom("WM_STATE")
    level = [window]
    for _ in range(_DEEPEST_CLIENT):
        for each in level:
            if each.get_full_property(managed, X.AnyPropertyType) is not None:
                return each
        level = [child for each in level for child in each.query_tree().children][:MOST_WINDOWS]
    return None


def _region(display: Any, window: Any) -> Region:
    geometry = window.get_geometry()
    corner = display.screen().root.translate_coords(window, 0, 0)
    return Region(corner.x, corner.y, geometry.width, geometry.height)


def _title(display: Any, window: Any) -> str:
    named = window.get_full_property(display.get_atom("_NET_WM_NAME"), X.AnyPropertyType)
    named = named or window.get_full_property(display.get_atom("WM_NAME"), X.AnyPropertyType)
    value = b"" if named is None else named.value
    if isinstance(value, str):
        return value[:_TITLE_LENGTH]
    return bytes(value)[: 4 * _TITLE_LENGTH].decode(errors="replace")[:_TITLE_LENGTH]


def _pid(display: Any, window: Any) -> int:
    """The process that made a window, as the server knows it; 0 where it is on another host."""
    if display.has_extension("X-Resource"):
        specs = [{"client": window.id, "mask": _LOCAL_PID}]
        for found in display.res_query_client_ids(specs).ids:
            if found.value:
                return int(found.value[0])
    said = window.get_full_property(display.get_atom("_NET_WM_PID"), X.AnyPropertyType)
    return int(said.value[0]) if said is not None and len(said.value) else 0
