"""An X display and its far side: the RECORD extension, windows of python-xlib's, and xterm."""

import contextlib
import gc
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import Xlib.display
from Xlib import XK, X

from machine_client.desktop.base import Desktop
from machine_client.desktop.x11.desktop import X11Desktop
from schemas.values.pictures import Region
from tests.desktop import DeviceEvent, Terminal, UnsteadyDisplay, Witness, set_layout
from tests.machine_client.desktop.contract.rig import Colour, Rig, Seen, TextField
from tests.machine_client.desktop.key_names import KEY_NAMES
from tests.machine_client.desktop.x11.somebody import Person, held_by_xdotool, pressed
from tests.machine_client.pressing import killed_after

XK.load_keysym_group("xf86")
XK.load_keysym_group("xkb")

BUTTONS = {1: "left", 2: "middle", 3: "right", 8: "back", 9: "forward"}
WHEEL = {4: "up", 5: "down", 6: "left", 7: "right"}

NAMES = {XK.string_to_keysym(symbol): name for name, symbol in KEY_NAMES.items()}
"""The names of keysyms, by what X itself calls them; the code under test has its own numbers."""


class X11Witness:
    """See `tests.machine_client.desktop.contract.rig.Witness`."""

    def __init__(self, display: str, witness: Witness, directory: Path) -> None:
        self.name = display
        self._witness = witness
        self._directory = directory
        self._display: Any = Xlib.display.Display(display)

    def take(self) -> list[Seen]:
        return self._told(self._witness.take())

    def seen(self) -> list[Seen]:
        return self._told(self._witness.seen())

    def held(self) -> frozenset[str]:
        keycodes, buttons = pressed(self.name)
        keys = {min(self._names_of(keycode), default=str(keycode)) for keycode in keycodes}
        return frozenset(keys | {BUTTONS.get(number, str(number)) for number in buttons})

    def pointer(self) -> tuple[int, int]:
        reply = self._display.screen().root.query_pointer()
        return reply.root_x, reply.root_y

    @contextlib.contextmanager
    def painted(self, region: Region, colour: Colour) -> Iterator[None]:
        red, green, blue = colour
        window = self._display.screen().root.create_window(
            *(region.x, region.y, region.width, region.height, 0, X.CopyFromParent),
            background_pixel=red << 16 | green << 8 | blue,
            override_redirect=True,
        )
        # A window without a cursor of its own has the one of the root, which Xvfb has none of.
        font = self._display.open_font("cursor")
        cursor = font.create_glyph_cursor(font, 2, 3, (0, 0, 0), (65535, 65535, 65535))
        window.change_attributes(cursor=cursor)
        window.map()
        self._display.sync()
        try:
            yield
        finally:
            window.destroy()
            font.close()
            self._display.sync()

    @contextlib.contextmanager
    def text_field(self) -> Iterator[TextField]:
        with Terminal.open(self.name, self._directory) as terminal:
            yield _Lines(terminal)
        (self._directory / "typed").unlink()

    def close(self) -> None:
        self._display.close()

    def _told(self, events: list[DeviceEvent]) -> list[Seen]:
        # A wheel's notch is the press and release of a button of its own: told at its end.
        return [
            self._seen(event)
            for event in events
            if not (event.kind == "ButtonPress" and event.detail in WHEEL)
        ]

    def _seen(self, event: DeviceEvent) -> Seen:
        place = (event.x, event.y, event.time / 1000)
        if event.kind == "MotionNotify":
            return Seen("move", frozenset(), *place)
        if event.detail in WHEEL and event.kind == "ButtonRelease":
            return Seen("wheel", frozenset({WHEEL[event.detail]}), *place)
        names = frozenset({BUTTONS.get(event.detail, "")})
        if event.kind.startswith("Key"):
            names = self._names_of(event.detail)
        return Seen("down" if event.kind.endswith("Press") else "up", names, *place)

    def _names_of(self, keycode: int) -> frozenset[str]:
        (row,) = self._display.get_keyboard_mapping(keycode, 1)
        return frozenset(name for keysym in row if keysym and (name := _name_of(keysym)))


def _name_of(keysym: int) -> str:
    if keysym in NAMES:
        return NAMES[keysym]
    if keysym == 0x20AC:  # EuroSign, which python-xlib has no name for
        return "€"
    return chr(keysym & 0xFFFFFF) if keysym < 0x100 or keysym >= 0x1000000 else ""


class _Lines:
    """A terminal in whose text a new line is what it is anywhere else."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal

    def typed_before(self, end: str) -> str:
        return self._terminal.typed_before(end).replace("\r", "\n")


@contextlib.contextmanager
def x11_rig(display: str, witness: Witness, directory: Path) -> Iterator[Rig]:
    """A display with the layout "us", where a program or a person can hold something."""
    set_layout(display, "us")
    seen, person = X11Witness(display, witness, directory), Person(display)
    try:
        yield Rig(
            X11Desktop(display),
            seen,
            {"another program": _by_xdotool(display), "a person": _by(person)},
            lambda *bodies: killed_after(display, *bodies),
        )
    finally:
        person.close()
        seen.close()


def _by_xdotool(display: str) -> Callable[[str], AbstractContextManager[None]]:
    def hold(what: str) -> AbstractContextManager[None]:
        if (number := _button(what)) is None:
            return held_by_xdotool(display, "key", what)
        return held_by_xdotool(display, "mouse", str(number))

    return hold


def _by(person: Person) -> Callable[[str], AbstractContextManager[None] | None]:
    def hold(what: str) -> AbstractContextManager[None] | None:
        if what.startswith("wheel"):
            return None  # Xvfb's own mouse has no wheel.
        if (number := _button(what)) is None:
            return person.holding("key", {"x": 53, "ctrl": 37}[what])
        return person.holding("button", number)

    return hold


def _button(what: str) -> int | None:
    names = {name: number for number, name in BUTTONS.items()}
    names |= {f"wheel {name}": number for number, name in WHEEL.items()}
    return names.get(what)


@contextlib.contextmanager
def refused_connections() -> Iterator[None]:
    """python-xlib leaves the sockets of a connection that was refused to the collector."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        yield
        gc.collect()


class MortalX11:
    """An X server that a test ends, and starts again on the same display."""

    def __init__(self, display: UnsteadyDisplay) -> None:
        self.desktop: Desktop = X11Desktop(display.name)
        self.start, self.kill = display.start, display.kill
