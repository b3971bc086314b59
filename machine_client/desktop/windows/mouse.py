"""The pointer, its buttons and its wheel, on all screens together."""

import ctypes
from ctypes import wintypes
from typing import Final

from machine_client.desktop.base import DesktopError, held_by_others
from machine_client.desktop.windows import api, session
from machine_client.desktop.windows.holding import Holding, Sends
from machine_client.desktop.windows.sending import Motion, Turn, not_taken
from schemas.inputs.bodies import Button, Direction

_DOWN: Final = 0x8000
_NONE_IF_BESIDE: Final = 0  # MONITOR_DEFAULTTONULL


class Mouse:
    """See `machine_client.desktop.base.DesktopInput`, whose part this is."""

    def __init__(self, sender: Sends, holding: Holding) -> None:
        self._sender = sender
        self._holding = holding

    def check_button(self, button: Button) -> None:
        """Raise DesktopError where somebody else holds it."""
        if self._holding.button_of_others(button):
            raise held_by_others(f"the {button} button of the mouse")

    def move(self, x: int, y: int) -> None:
        """Put the pointer somewhere, and see that it went."""
        before = pointer()
        if before == (x, y):
            return
        self._sender.send(Motion(x, y))
        if pointer() == (x, y):
            return
        # A person moves it as well, or Windows rounds otherwise than its documentation.
        api.set_cursor_pos(x, y)
        after = pointer()
        # Between screens there are places where no pointer can be: a drag may lead through them.
        if after != (x, y) and (after == before or _is_on_a_screen(x, y)):
            session.check()
            raise not_taken()

    def press(self, button: Button) -> None:
        """Press a button that is up."""
        session.check_window_at(*pointer())
        self._holding.press_button(button)

    def release(self, button: Button) -> None:
        """Release a button if we hold it."""
        self._holding.release_button(button)

    def scroll(self, direction: Direction) -> None:
        """Turn the wheel by one notch."""
        session.check_window_at(*pointer())
        self._sender.send(Turn(direction))

    def release_all(self) -> None:
        """Release what we hold."""
        for button in self._holding.buttons[::-1]:
            self._holding.release_button(button)


def _is_on_a_screen(x: int, y: int) -> bool:
    return bool(api.monitor_from_point(wintypes.POINT(x, y), _NONE_IF_BESIDE))


def is_down(code: int) -> bool:
    """Whether a key or button is down, whoever holds it."""
    return bool(api.get_async_key_state(code) & _DOWN)


def pointer() -> tuple[int, int]:
    """Where the pointer is.  Raises DesktopError."""
    place = wintypes.POINT()
    if not api.get_cursor_pos(ctypes.byref(place)):
        session.check()
        raise DesktopError("display_unknown", f"Windows does not say where: {api.last_error()}")
    return place.x, place.y
