"""Pointer and keyboard of a session of Windows.

``SendInput`` puts events into the system's one stream of inputs, mouse and keys in one order, and
says how many it took.  It cannot be believed alone: what is pressed is looked for, the pointer is
asked for, and whether the session shows this desktop at all is asked at each confirmation.
"""

import contextlib

from machine_client.desktop.base import DesktopError, InjectionUnavailable
from machine_client.desktop.windows import session
from machine_client.desktop.windows.clipboard import write_clipboard
from machine_client.desktop.windows.holding import Holding, Record
from machine_client.desktop.windows.keyboard import Keyboard
from machine_client.desktop.windows.mouse import Mouse, is_down, pointer
from machine_client.desktop.windows.sending import Sender, physical_code
from machine_client.desktop.windows.view import displays
from machine_client.system.boot import boot_id
from machine_client.system.directories import state_directory
from schemas.inputs.bodies import BUTTONS, Direction
from schemas.inputs.outcomes import Effect, Point


class WindowsInput:
    """See `machine_client.desktop.base.DesktopInput`; raises InjectionUnavailable."""

    effect: Effect = "happened"
    buttons = BUTTONS

    def __init__(self) -> None:
        if (reason := session.why_unavailable()) is not None:
            raise InjectionUnavailable(reason)
        self._sender = Sender()
        record = Record(state_directory(), f"{boot_id()}/{session.session_id()}")
        self._holding = Holding(self._sender, record, is_down, physical_code)
        self._mouse = mouse = Mouse(self._sender, self._holding)
        self._keyboard = keyboard = Keyboard(self._sender, self._holding)
        # Each part does these by itself.
        self.check_button, self.scroll = mouse.check_button, mouse.scroll
        self.move, self.press, self.release = mouse.move, mouse.press, mouse.release
        self.check_keys, self.type_keys = keyboard.check, keyboard.type
        self.hold_keys, self.release_keys = keyboard.hold, keyboard.release
        self.press_modifiers = keyboard.press_modifiers
        self.write_clipboard = write_clipboard
        # Screens come and go, and nobody tells a program without windows.
        self.displays = self.look_at_displays = displays
        self.confirmed = 0
        self._is_open = True
        try:
            self.released = self._holding.release_left_behind()
            displays()
            self.confirm()
        except DesktopError as error:
            self.close()
            raise InjectionUnavailable(str(error)) from error

    def pointer(self) -> Point:
        self.confirm()
        x, y = pointer()
        return Point(x=x, y=y)

    def confirm(self) -> None:
        sent = self._sender.taken
        # What was sent while another desktop was shown has reached nobody.
        session.check()
        self.confirmed = sent

    def check_wheel(self, direction: Direction) -> None:
        """Nobody can hold a wheel."""

    def release_all(self) -> None:
        self._mouse.release_all()
        self._keyboard.release_all()
        self.confirm()

    def close(self) -> None:
        if self._is_open:
            self._is_open = False
            with contextlib.suppress(DesktopError):
                self.release_all()
            self._holding.close()
