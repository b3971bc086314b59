"""A program on a Wayland desktop that covers its screens and tells what reaches it.

``python -m tests.machine_client.desktop.wayland.witness_program SOCKET`` answers each line of its
input with one line of JSON.  It stands on pywayland and libxkbcommon, as real programs do on the C
libraries of these names, and uses nothing of the code under test.
"""

import itertools
import json
import mmap
import os
import select
import sys
import time
from dataclasses import dataclass, field
from typing import Any

from pywayland.client.display import Display
from pywayland.protocol.wayland import WlCompositor, WlOutput, WlSeat, WlShm
from pywayland.protocol.xdg_output_unstable_v1 import ZxdgOutputManagerV1
from pywayland.protocol.xdg_shell import XdgWmBase

from tests.machine_client.desktop.key_names import KEY_NAMES
from tests.machine_client.desktop.wayland.idle_devices import (
    VirtualKeyboardManager,
    VirtualPointerManager,
)
from tests.machine_client.desktop.wayland.xkb import KeyboardState, character_of, keysym_from_name

BUTTONS = {0x110: "left", 0x111: "right", 0x112: "middle", 0x113: "back", 0x114: "forward"}
WHEEL = {(0, -1): "up", (0, 1): "down", (1, -1): "left", (1, 1): "right"}
NAMES = {
    keysym_from_name(symbol.replace("XF86_", "XF86")): name for name, symbol in KEY_NAMES.items()
}

_WANTED: dict[str, tuple[Any, int]] = {
    "wl_compositor": (WlCompositor, 4),
    "wl_shm": (WlShm, 1),
    "wl_seat": (WlSeat, 5),
    "xdg_wm_base": (XdgWmBase, 1),
    "zxdg_output_manager_v1": (ZxdgOutputManagerV1, 2),
    "zwlr_virtual_pointer_manager_v1": (VirtualPointerManager, 1),
    "zwp_virtual_keyboard_manager_v1": (VirtualKeyboardManager, 1),
}


@dataclass
class Screen:
    """One output, and the surface that covers it."""

    output: Any
    place: tuple[int, int] = (0, 0)
    size: tuple[int, int] = (0, 0)
    surface: Any = None
    shown: list[Any] = field(default_factory=list)
    is_shown: bool = False


class WitnessProgram:
    """Notes what happens; `answer` says it."""

    def __init__(self, socket: str) -> None:
        self._display = Display(socket)
        self._display.connect()
        self._globals: dict[str, Any] = {}
        self._screens: list[Screen] = []
        self._kept: list[Any] = []
        registry = self._display.get_registry()
        registry.dispatcher["global"] = self._offered
        self._kept.append(registry)
        self._display.roundtrip()
        self._events: list[dict[str, Any]] = []
        self._typed: list[str] = []
        self._place: tuple[int, int] | None = None
        self._on: Screen | None = None
        self._buttons: dict[int, str] = {}
        self._keys: dict[int, str] = {}
        self._keyboard: KeyboardState | None = None
        self._has_keyboard = False
        self._devices: dict[str, Any] = {}
        seat = self._globals["wl_seat"]
        self._kept += [
            self._globals["zwlr_virtual_pointer_manager_v1"].create_virtual_pointer(seat),
            self._globals["zwp_virtual_keyboard_manager_v1"].create_virtual_keyboard(seat),
        ]
        for screen in self._screens:
            self._cover(screen)
        while not all(screen.is_shown for screen in self._screens) or len(self._devices) < 2:
            self._display.dispatch(block=True)
        self._display.roundtrip()

    def _offered(self, registry: Any, number: int, name: str, version: int) -> None:
        if name in _WANTED:
            interface, wanted = _WANTED[name]
            bound = self._globals[name] = registry.bind(number, interface, min(version, wanted))
            if name == "wl_seat":
                bound.dispatcher["capabilities"] = self._can
            if name == "xdg_wm_base":
                bound.dispatcher["ping"] = lambda base, serial: base.pong(serial)
        elif name == "wl_output":
            self._screens.append(Screen(registry.bind(number, WlOutput, 2)))

    def _cover(self, screen: Screen) -> None:
        extended = self._globals["zxdg_output_manager_v1"].get_xdg_output(screen.output)
        extended.dispatcher["logical_position"] = lambda _, x, y: setattr(screen, "place", (x, y))
        extended.dispatcher["logical_size"] = lambda _, w, h: setattr(screen, "size", (w, h))
        self._display.roundtrip()
        screen.surface = self._globals["wl_compositor"].create_surface()
        role = self._globals["xdg_wm_base"].get_xdg_surface(screen.surface)
        window = role.get_toplevel()
        window.set_app_id("farhand-witness")
        window.set_fullscreen(screen.output)

        def configured(surface: Any, serial: int) -> None:
            surface.ack_configure(serial)
            self._show(screen, None)
            screen.is_shown = True

        role.dispatcher["configure"] = configured
        screen.surface.commit()
        self._kept += [extended, role, window]

    def _at(self, x: int, y: int) -> Screen:
        """The screen at a place; they are announced in any order."""
        for screen in self._screens:
            (left, top), (width, height) = screen.place, screen.size
            if left <= x < left + width and top <= y < top + height:
                return screen
        raise ValueError(f"no screen is at {x}, {y}")

    def _show(self, screen: Screen, painted: tuple[list[int], list[int]] | None) -> None:
        """Draw the whole screen black, but for a painted rectangle."""
        width, height = screen.size
        file = os.memfd_create("witness")
        os.ftruncate(file, width * height * 4)
        memory = mmap.mmap(file, width * height * 4)
        if painted is not None:
            (left, top, across, down), (red, green, blue) = painted
            row = bytes((blue, green, red, 255)) * across
            for line in range(top - screen.place[1], top - screen.place[1] + down):
                start = (line * width + left - screen.place[0]) * 4
                memory[start : start + len(row)] = row
        pool = self._globals["wl_shm"].create_pool(file, width * height * 4)
        buffer = pool.create_buffer(0, width, height, width * 4, WlShm.format.xrgb8888.value)
        pool.destroy()
        memory.close()
        os.close(file)
        screen.surface.attach(buffer, 0, 0)
        screen.surface.damage(0, 0, width, height)
        screen.surface.commit()
        screen.shown = [buffer]

    def _can(self, seat: Any, capabilities: Any) -> None:
        if capabilities & WlSeat.capability.pointer.value and "pointer" not in self._devices:
            pointer = self._devices["pointer"] = seat.get_pointer()
            pointer.dispatcher["enter"] = self._enter
            pointer.dispatcher["motion"] = lambda _, at, x, y: self._move(x, y, at / 1000)
            pointer.dispatcher["button"] = self._button
            pointer.dispatcher["axis_discrete"] = self._wheel
        if capabilities & WlSeat.capability.keyboard.value and "keyboard" not in self._devices:
            keyboard = self._devices["keyboard"] = seat.get_keyboard()
            keyboard.dispatcher["keymap"] = self._keymap
            keyboard.dispatcher["enter"] = self._focus
            keyboard.dispatcher["leave"] = self._unfocus
            keyboard.dispatcher["key"] = self._key
            keyboard.dispatcher["modifiers"] = self._modifiers

    def _enter(self, _pointer: Any, _serial: int, surface: Any, x: float, y: float) -> None:
        self._on = next(screen for screen in self._screens if screen.surface == surface)
        if self._place is None:
            self._place = self._placed(x, y)
        self._move(x, y, time.monotonic())

    def _placed(self, x: float, y: float) -> tuple[int, int]:
        assert self._on is not None
        place = self._on.place[0] + float(x), self._on.place[1] + float(y)
        assert all(abs(each - round(each)) < 1 / 128 for each in place), place
        return round(place[0]), round(place[1])

    def _move(self, x: float, y: float, at: float) -> None:
        place = self._placed(x, y)
        if place != self._place:
            self._place = place
            self._note("move", [], at)

    def _button(self, _pointer: Any, _serial: int, at: int, button: int, state: Any) -> None:
        name = BUTTONS.get(button, str(button))
        if int(state):
            self._buttons[button] = name
        else:
            self._buttons.pop(button, None)
        self._note("down" if int(state) else "up", [name], at / 1000)

    def _wheel(self, _pointer: Any, axis: Any, notches: int) -> None:
        direction = WHEEL[int(axis), 1 if notches > 0 else -1]
        for _ in range(abs(notches)):
            self._note("wheel", [direction], time.monotonic())

    def _keymap(self, _keyboard: Any, form: Any, descriptor: int, size: int) -> None:
        if int(form):
            before, self._keyboard = self._keyboard, KeyboardState(descriptor, size)
            if before is not None:
                before.close()
        os.close(descriptor)

    def _focus(self, _keyboard: Any, _serial: int, _surface: Any, keys: Any) -> None:
        self._has_keyboard = True
        codes = [int.from_bytes(bytes(each), sys.byteorder) for each in _fours(keys)]
        self._keys = {code: min(self._names(code), default=str(code)) for code in codes}

    def _unfocus(self, _keyboard: Any, _serial: int, _surface: Any) -> None:
        self._has_keyboard = False
        self._keys = {}

    def _key(self, _keyboard: Any, _serial: int, at: int, code: int, state: Any) -> None:
        names = self._names(code)
        if int(state):
            self._keys[code] = min(names, default=str(code))
            if self._keyboard is not None:
                self._typed.append(self._keyboard.text(code))
        else:
            self._keys.pop(code, None)
        self._note("down" if int(state) else "up", names, at / 1000)

    def _modifiers(self, _keyboard: Any, _serial: int, *state: int) -> None:
        if self._keyboard is not None:
            self._keyboard.set_modifiers(*state)

    def _names(self, code: int) -> list[str]:
        symbols = [] if self._keyboard is None else self._keyboard.symbols(code)
        found = [NAMES.get(symbol) or character_of(symbol) for symbol in symbols]
        return [name for name in found if name]

    def _note(self, action: str, names: list[str], at: float) -> None:
        x, y = self._place or (0, 0)
        self._events.append({"action": action, "names": names, "x": x, "y": y, "at": at})

    def answer(self, command: str, values: list[Any]) -> Any:
        """What somebody wants to know, or to be done."""
        if command != "seen":
            self._display.roundtrip()
        if command == "take":
            events, self._events = self._events, []
            return events
        if command == "typed":
            typed, self._typed = self._typed, []
            return "".join(typed)
        if command == "paint":
            rectangle, colour = values
            screen = self._at(*rectangle[:2])
            self._show(screen, (rectangle, colour) if colour else None)
            self._display.roundtrip()
        return {
            "seen": self._events,
            "held": sorted({*self._buttons.values(), *self._keys.values()}),
            "pointer": self._place,
            "has_keyboard": self._has_keyboard,
        }.get(command)

    def run(self) -> None:
        """Answer until there are no more questions."""
        print(json.dumps("ready"), flush=True)
        while True:
            self._display.flush()
            readable, _, _ = select.select([self._display.get_fd(), 0], [], [])
            if self._display.get_fd() in readable:
                self._display.dispatch(block=True)
            if 0 in readable:
                line = sys.stdin.buffer.readline()
                if not line:
                    return
                command, *values = json.loads(line)
                print(json.dumps(self.answer(command, values)), flush=True)


def _fours(keys: Any) -> Any:
    numbers = iter(bytes(keys) if not isinstance(keys, bytes) else keys)
    return iter(lambda: tuple(itertools.islice(numbers, 4)), ())


if __name__ == "__main__":
    WitnessProgram(sys.argv[1]).run()
