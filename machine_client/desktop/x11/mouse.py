"""The mouse of an X11 desktop: pynput, on our own connection."""

import contextlib
import os
import threading
from collections.abc import Iterator, Mapping
from typing import Any

from machine_client.desktop.base import InjectionUnavailable, held_by_others
from machine_client.desktop.x11.connection import X11Connection
from machine_client.desktop.x11.holding import Holding
from machine_client.desktop.x11.requests import Kind
from schemas.inputs.bodies import Button, Direction
from schemas.programs.failpoints import Failpoint, reached

_BUTTONS: Mapping[Button, int] = {"left": 1, "middle": 2, "right": 3, "back": 8, "forward": 9}
_WHEEL: Mapping[Direction, int] = {"up": 4, "down": 5, "left": 6, "right": 7}
_NOTCHES: Mapping[Direction, tuple[int, int]] = {
    "up": (0, 1),
    "down": (0, -1),
    "left": (-1, 0),
    "right": (1, 0),
}
_importing = threading.Lock()


class Mouse:
    """The pointer, its buttons and its wheel; nothing waits for the server but the checks."""

    def __init__(self, connection: X11Connection, holding: Holding, pynput: "Pynput") -> None:
        self._connection = connection
        self._holding = holding
        self._pynput = pynput
        self._mouse = pynput.mouse_on(connection)

    def check_button(self, button: Button) -> None:
        """Raise DesktopError where somebody else holds a button: one round trip."""
        self._check(_BUTTONS[button], f"the {button} button of the mouse")

    def check_wheel(self, direction: Direction) -> None:
        """Raise DesktopError where somebody else holds the wheel's button: one round trip."""
        self._check(_WHEEL[direction], f"the mouse's wheel, turned {direction}")

    def move(self, x: int, y: int) -> None:
        """Put the pointer somewhere."""
        self._mouse.position = (x, y)
        self._connection.count_event()

    def press(self, button: Button) -> None:
        """Press a button that nobody holds."""
        number = _BUTTONS[button]
        self._holding.buttons.append(number)
        self._holding.settle()
        self._mouse.press(self._pynput.button(number))
        self._connection.note_button(number, down=True)
        reached(Failpoint.AFTER_PRESS, self._connection.confirm)

    def release(self, button: Button) -> None:
        """Release a button, if we hold it."""
        if _BUTTONS[button] in self._holding.buttons:
            self._release(_BUTTONS[button])

    def scroll(self, direction: Direction) -> None:
        """Turn the wheel by one notch, which is a press and a release of a button of its own."""
        number = _WHEEL[direction]
        self._holding.buttons.append(number)
        self._holding.settle()
        self._mouse.scroll(*_NOTCHES[direction])
        for down in (True, False):
            self._connection.note_button(number, down=down)
        self._holding.buttons.remove(number)

    def release_all(self) -> None:
        """Release every button that we hold, the last one first."""
        for number in reversed(self._holding.buttons[:]):
            self._release(number)

    def release_left_pressed(self) -> list[Button]:
        """Release what a client that died holds, and name what has a name."""
        left = self._holding.left_pressed(Kind.BUTTONS)
        self.release_all()
        return [button for button, number in _BUTTONS.items() if number in left]

    def _release(self, number: int) -> None:
        self._mouse.release(self._pynput.button(number))
        self._connection.note_button(number, down=False)
        self._holding.buttons.remove(number)

    def _check(self, number: int, name: str) -> None:
        self._connection.look_at_buttons()
        if number in self._holding.held_by_others(Kind.BUTTONS):
            raise held_by_others(name)


class Pynput:
    """What we use of pynput: its mouse, and its table of symbols.

    It opens the display of the environment, while it is being imported and for each mouse, so both
    are done here, with the environment naming our display for that moment.
    """

    def __init__(self, display: str | None) -> None:
        with _importing, _environment_display(display):
            try:
                # Imported late because importing them needs a display.
                import pynput.mouse  # noqa: PLC0415
                from pynput._util import xorg_keysyms  # noqa: PLC0415

                self._mouse = pynput.mouse.Controller()
            except Exception as error:  # it raises whatever its backend raised
                raise InjectionUnavailable(f"pynput cannot be used: {error}") from error
        self._button = pynput.mouse.Button
        self.symbols: Mapping[str, tuple[int, str | None]] = xorg_keysyms.SYMBOLS

    def button(self, number: int) -> Any:
        """A button as pynput names it."""
        return self._button(number)

    def mouse_on(self, connection: X11Connection) -> Any:
        """The mouse, which sends on a connection and leaves the waiting to it.

        pynput has no public way for that.  On a connection of its own an event would not be in
        order with what is written down before it, and would wait for whoever grabs the server.
        """
        mouse, shared = self._mouse, _SharedDisplay(connection.display)
        own, mouse._display = mouse._display, shared  # noqa: SLF001  there is no public way
        own.close()
        return mouse


class _SharedDisplay:
    """A display whose requests are only sent: pynput would wait for the server after each event."""

    def __init__(self, display: Any) -> None:
        self._display = display

    def __getattr__(self, name: str) -> Any:
        return getattr(self._display, name)

    def sync(self) -> None:
        """Wait for nothing."""

    def set_error_handler(self, handler: Any) -> None:
        """Leave the errors to the connection."""

    def close(self) -> None:
        """Leave the connection open: it is not the mouse's own."""


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
