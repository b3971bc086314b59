"""An X11 desktop as the injector sees it.

The mouse goes through pynput, whose X11 backend uses XTEST for it and waits for the server after
each event.  Keys do not: pynput 1.8 sends characters by XSendEvent, which terminals and programs
on XInput2 ignore, and for the rest looks keycodes up in a map that it reads once, without regard
to the active group.  So all keys, named or not, go through XTEST by keycode in
`machine_client.x11.keyboard`.  pynput is handed our connection, so that mouse and keys are in one
order and neither waits for a program that grabs the server.
"""

import contextlib
import os
import threading
from collections.abc import Iterator, Mapping
from typing import Any

from machine_client import screen
from machine_client.desktop import DesktopError, InjectionUnavailable
from machine_client.x11.connection import X11Connection, errors_translated
from machine_client.x11.keyboard import Keyboard
from schemas.failpoints import Failpoint, reached
from schemas.inputs import Button, Direction
from schemas.keys import Chord
from schemas.outcomes import Point
from schemas.wire import Display

_NOTCHES: dict[Direction, tuple[int, int]] = {
    "up": (0, 1),
    "down": (0, -1),
    "left": (-1, 0),
    "right": (1, 0),
}
_importing = threading.Lock()


class X11Desktop:
    """See `machine_client.desktop.Desktop`; raises InjectionUnavailable."""

    def __init__(self, display: str | None) -> None:
        self._name = display
        self._connection = X11Connection(display)
        try:
            self._pynput = _Pynput(self._connection, display)
            with self._translated():
                self._keyboard = Keyboard(self._connection, self._pynput.symbols)
        except DesktopError as error:
            self.close()
            raise InjectionUnavailable(str(error)) from error
        except BaseException:
            self.close()
            raise
        self._displays: list[Display] = []

    @property
    def confirmed(self) -> int:
        return self._connection.confirmed

    def displays(self) -> list[Display]:
        with self._translated():
            if self._connection.take_displays_change():
                self._displays = []
        if not self._displays:
            self._displays = self.look_at_displays()
        return self._displays

    def look_at_displays(self) -> list[Display]:
        return screen.displays(self._name)

    def pointer(self) -> Point:
        with self._translated():
            x, y = self._connection.pointer()
        return Point(x=x, y=y)

    def move(self, x: int, y: int) -> None:
        with self._translated(), self._connection.lent(1):
            self._pynput.mouse.position = (x, y)

    def press(self, button: Button) -> None:
        with self._translated(), self._connection.lent(1):
            self._pynput.mouse.press(self._pynput.buttons[button])
        reached(Failpoint.AFTER_PRESS)

    def release(self, button: Button) -> None:
        with self._translated(), self._connection.lent(1):
            self._pynput.mouse.release(self._pynput.buttons[button])

    def scroll(self, direction: Direction) -> None:
        with self._translated(), self._connection.lent(2):
            self._pynput.mouse.scroll(*_NOTCHES[direction])

    def check_keys(self, chords: tuple[Chord, ...], *, hold: bool) -> None:
        with self._translated():
            self._keyboard.check(chords, hold=hold)

    def type_keys(self, chords: tuple[Chord, ...], stop: threading.Event) -> None:
        with self._translated():
            self._keyboard.type(chords, stop)

    def hold_keys(self, chords: tuple[Chord, ...]) -> None:
        with self._translated():
            self._keyboard.hold(chords)

    def release_keys(self, chords: tuple[Chord, ...]) -> None:
        with self._translated():
            self._keyboard.release(chords)

    def release_all_keys(self) -> None:
        with self._translated():
            self._keyboard.release_all()

    def close(self) -> None:
        self._connection.close()

    @contextlib.contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            with errors_translated():
                yield
        except self._pynput.errors as error:
            raise DesktopError(
                "display_error", f"The X server refused an event: {error}"
            ) from error


class _Pynput:
    """What we use of pynput, on our own connection.

    pynput opens the display of the environment while it is being imported, so it is imported here,
    with the environment naming our display for that moment.
    """

    def __init__(self, connection: X11Connection, display: str | None) -> None:
        with _importing, _environment_display(display):
            try:
                # Imported late because importing them needs a display.
                import pynput.mouse  # noqa: PLC0415
                from pynput._util import xorg, xorg_keysyms  # noqa: PLC0415
            except Exception as error:  # it raises whatever its backend raised
                raise InjectionUnavailable(f"pynput cannot be used: {error}") from error

        class SharedConnectionMouse(pynput.mouse.Controller):  # type: ignore[misc]
            def __init__(self) -> None:
                self._display = connection.display

            def __del__(self) -> None:
                """Leave the connection open: it is not the mouse's own."""

        self.mouse: Any = SharedConnectionMouse()
        self.buttons: dict[Button, Any] = {
            "left": pynput.mouse.Button.left,
            "middle": pynput.mouse.Button.middle,
            "right": pynput.mouse.Button.right,
        }
        self.errors: type[Exception] = xorg.X11Error
        self.symbols: Mapping[str, tuple[int, str | None]] = xorg_keysyms.SYMBOLS


@contextlib.contextmanager
def _environment_display(display: str | None) -> Iterator[None]:
    if display is None:
        yield
        return
    before = os.environ.get("DISPLAY")
    os.environ["DISPLAY"] = display
    try:
        yield
    finally:
        if before is None:
            del os.environ["DISPLAY"]
        else:
            os.environ["DISPLAY"] = before
