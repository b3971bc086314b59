"""Pointer and keyboard of an X display.

The mouse goes through pynput, whose X11 backend uses XTEST for it.  Keys do not: pynput 1.8 sends
characters by XSendEvent, which terminals and programs on XInput2 ignore, and for the rest looks
keycodes up in a map that it reads once, without regard to the active group.  So all keys, named or
not, go through XTEST by keycode in `Keyboard`.  pynput is handed our connection, so that mouse and
keys are in one order and neither waits for a program that grabs the server.
"""

import contextlib

from machine_client.desktop.base import DesktopError, InjectionUnavailable
from machine_client.desktop.clipboard_owner import ClipboardWriter
from machine_client.desktop.x11.clipboard.owner import SelectionOwner
from machine_client.desktop.x11.connection import X11Connection, errors_translated
from machine_client.desktop.x11.holding import Holding
from machine_client.desktop.x11.keyboard import Keyboard
from machine_client.desktop.x11.mouse import Mouse, Pynput
from machine_client.desktop.x11.view import displays
from schemas.inputs.bodies import BUTTONS
from schemas.inputs.outcomes import Effect, Point
from schemas.link.messages import Display, Released


class X11Input:
    """See `machine_client.desktop.base.DesktopInput`; raises InjectionUnavailable."""

    effect: Effect = "happened"
    buttons = BUTTONS

    def __init__(self, display: str | None) -> None:
        self._name = display
        self._connection = X11Connection(display)
        self._is_open = False
        self._clipboard = ClipboardWriter(lambda: SelectionOwner(display))
        try:
            pynput = Pynput(display)
            with errors_translated():
                self._holding = Holding(self._connection)
                self._mouse = Mouse(self._connection, self._holding, pynput)
                self._keyboard = Keyboard(self._connection, self._holding, pynput.symbols)
                self.released = self._release_left_pressed()
            self._offer_parts()
            # Looked at now: while a program has grabbed the server, nobody could.
            self._displays: list[Display] = []
            self.displays()
            self._is_open = True
        except DesktopError as error:
            self.close()
            raise InjectionUnavailable(str(error)) from error
        except BaseException:
            self.close()
            raise

    def _offer_parts(self) -> None:
        """Have each part do what it does by itself; what python-xlib raises is translated."""
        translated = errors_translated()
        connection, mouse, keyboard = self._connection, self._mouse, self._keyboard
        self.confirm = translated(connection.confirm)
        self.check_button = translated(mouse.check_button)
        self.check_wheel = translated(mouse.check_wheel)
        self.move = translated(mouse.move)
        self.press = translated(mouse.press)
        self.release = translated(mouse.release)
        self.scroll = translated(mouse.scroll)
        self.check_keys = translated(keyboard.check)
        self.type_keys = translated(keyboard.type)
        self.hold_keys = translated(keyboard.hold)
        self.press_modifiers = translated(keyboard.press_modifiers)
        self.release_keys = translated(keyboard.release)
        self.write_clipboard = self._clipboard.write

    @property
    def confirmed(self) -> int:
        return self._connection.confirmed

    def displays(self) -> list[Display]:
        with errors_translated():
            if self._connection.take_displays_change():
                self._displays = []
        if not self._displays:
            self._displays = self.look_at_displays()
        return self._displays

    def look_at_displays(self) -> list[Display]:
        return displays(self._name)

    def pointer(self) -> Point:
        with errors_translated():
            self._holding.settle()
            x, y = self._connection.pointer()
        return Point(x=x, y=y)

    def release_all(self) -> None:
        with errors_translated():
            self._mouse.release_all()
            self._keyboard.release_all()

    def close(self) -> None:
        if self._is_open:
            self._is_open = False
            with contextlib.suppress(DesktopError):
                self.release_all()
        self._clipboard.close()
        self._connection.close()

    def _release_left_pressed(self) -> Released | None:
        buttons = self._mouse.release_left_pressed()
        keys = self._keyboard.release_left_pressed()
        return Released(buttons=buttons, keys=keys) if buttons or keys else None
