"""Pointer and keyboard of a Wayland desktop: a virtual one of each, on one connection.

Everything is requests on one socket, so mouse and keys are in one order, and a round trip
(``wl_display.sync``) says that the compositor has handled them all.
"""

import contextlib
import os
import threading
from typing import Final

from machine_client.desktop.base import DesktopError, InjectionUnavailable
from machine_client.desktop.clipboard_owner import ClipboardWriter
from machine_client.desktop.wayland.clipboard.owner import WaylandClipboardOwner
from machine_client.desktop.wayland.keyboard import VirtualKeyboard, create_keyboard
from machine_client.desktop.wayland.left_behind import LeftBehind
from machine_client.desktop.wayland.outputs import Outputs
from machine_client.desktop.wayland.pointer import (
    PlaceOfPointer,
    VirtualPointer,
    create_pointer,
)
from machine_client.desktop.wayland.view import look_at_displays
from machine_client.desktop.wayland.wire.connection import WaylandConnection
from machine_client.desktop.wayland.wire.protocols import KEYBOARD_MANAGER, POINTER_MANAGER, SEAT
from machine_client.desktop.wayland.wire.registry import Registry
from schemas.inputs.bodies import BUTTONS, Button, Direction
from schemas.inputs.key_combinations import Chord, Key
from schemas.inputs.outcomes import Effect, Point
from schemas.link.messages import Display, Released

NEEDED: Final = (SEAT, POINTER_MANAGER, KEYBOARD_MANAGER)


class WaylandInput:
    """See `machine_client.desktop.base.DesktopInput`; raises InjectionUnavailable."""

    effect: Effect = "accepted"
    buttons = BUTTONS

    def __init__(self, name: str | None, place: PlaceOfPointer) -> None:
        self._name = name
        self._place = place
        self._connection = WaylandConnection(name)
        self._left_behind: LeftBehind | None = None
        self._clipboard = ClipboardWriter(lambda: WaylandClipboardOwner(name))
        self._is_open = False
        self.confirmed = 0
        try:
            self._outputs = Outputs(self._connection)
            self._take_hold()
            self._is_open = True
        except DesktopError as error:
            self.close()
            raise InjectionUnavailable(str(error)) from error
        except BaseException:
            self.close()
            raise

    def _take_hold(self) -> None:
        registry = self._outputs.registry
        check_input(registry)
        seat = registry.bind(SEAT)
        pointer = create_pointer(self._connection, registry.bind(POINTER_MANAGER), seat)
        keyboard = create_keyboard(self._connection, registry.bind(KEYBOARD_MANAGER), seat)
        self._left_behind = LeftBehind(self._connection.path)
        self._place.is_on(self._left_behind.compositor)
        self._pointer = VirtualPointer(
            self._connection, pointer, self._outputs, self._place, self._left_behind
        )
        self._keyboard = VirtualKeyboard(self._connection, keyboard)
        # Each part does these by itself.
        self.move, self.scroll = self._pointer.move, self._pointer.scroll
        self.press, self.release = self._pointer.press, self._pointer.release
        self.check_keys, self.release_keys = self._keyboard.check, self._keyboard.release
        self.write_clipboard = self._clipboard.write
        left = self._pointer.release_left_behind()
        self._outputs.current()
        self._connection.round_trip()
        self._pointer.settle()
        self.released = Released(buttons=left, keys=0) if left else None

    def displays(self) -> list[Display]:
        self._connection.hear()
        self._outputs.registry.check()
        return self._outputs.displays()

    def look_at_displays(self) -> list[Display]:
        return look_at_displays(self._name)

    def pointer(self) -> Point:
        self.confirm()
        self._pointer.settle()
        return self._place.told(self._outputs)

    def confirm(self) -> None:
        sent = self._pointer.sent + self._keyboard.sent
        self._connection.round_trip()
        # What was sent after it is withdrawn, nobody takes.
        self._outputs.registry.check()
        self.confirmed = sent

    def check_button(self, button: Button) -> None:
        """No Wayland client can know what others hold."""

    def check_wheel(self, direction: Direction) -> None:
        """The same."""

    def type_keys(self, chords: tuple[Chord, ...], stop: threading.Event) -> None:
        self._keyboard.type(chords, stop, self.confirm)

    def hold_keys(self, chords: tuple[Chord, ...]) -> tuple[Key, ...]:
        return self._keyboard.hold(chords, self.confirm)

    def press_modifiers(self, keys: tuple[Key, ...]) -> tuple[Key, ...]:
        return self.hold_keys((Chord(keys, None),))

    def release_all(self) -> None:
        self._pointer.release_all()
        self._keyboard.release_all()
        self.confirm()
        self._pointer.settle()

    def close(self) -> None:
        is_released = False
        if self._is_open:
            self._is_open = False
            with contextlib.suppress(DesktopError):
                self.release_all()
                is_released = True
        self._clipboard.close()
        if self._left_behind is not None:
            self._left_behind.close(is_released=is_released)
        self._connection.close()

    def leave_if_lost(self) -> None:
        """Where the compositor gave no answer, or sent us away: leave what is held to the next one.

        It may have ended as well, and then nobody finds it.  For any thread.
        """
        if self._connection.is_lost and self._left_behind is not None:
            self._left_behind.close(is_released=False)


def check_input(registry: Registry) -> None:
    """Raise InjectionUnavailable where a compositor lacks what inputs need, which it names."""
    lacking = registry.lacking(NEEDED)
    if not lacking:
        return
    desktop = os.environ.get("XDG_CURRENT_DESKTOP", "").strip()
    whose = f"This Wayland compositor ({desktop})" if desktop else "This Wayland compositor"
    reason = (
        f"{whose} offers no {' and no '.join(lacking)}, by which sway, Hyprland, labwc, river and"
        " Wayfire let programs press keys and buttons"
    )
    if os.environ.get("DISPLAY"):
        reason += "; X11 programs under Xwayland alone can be reached with --desktop x11"
    raise InjectionUnavailable(reason)
