"""Events for the desktop, and the one place where they are sent: pynput's ``SendInput``.

pynput's own ways to press say nothing of what that returns, reach the first screen alone, and know
no scan codes, so its call and its structures are used.
"""

import ctypes
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from machine_client.desktop.base import DesktopError
from machine_client.desktop.windows import api, session
from machine_client.desktop.windows.keys import WindowsKey
from schemas.inputs.bodies import Button, Direction

NOTCH: Final = 120
"""What a wheel that is turned by one notch says."""

_CODES: Final[Mapping[Button, int]] = {
    "left": 0x01,
    "right": 0x02,
    "middle": 0x04,
    "back": 0x05,
    "forward": 0x06,
}
"""Buttons' virtual-key codes."""
_X_BUTTONS: Final[Mapping[Button, int]] = {"back": 1, "forward": 2}
"""Buttons that share one kind of event, and their numbers in it."""
_VIRTUAL_DESK: Final = 0x4000  # MOUSEEVENTF_VIRTUALDESK, which pynput has no name for
_STEPS: Final = 65536
"""So many steps are across all screens together, and as many down."""


@dataclass(frozen=True, slots=True)
class Motion:
    """The pointer is put somewhere, in pixels of all screens together."""

    x: int
    y: int


@dataclass(frozen=True, slots=True)
class ButtonEvent:
    """A button goes down or up."""

    button: Button
    down: bool


@dataclass(frozen=True, slots=True)
class Turn:
    """The wheel turns by a notch."""

    direction: Direction


@dataclass(frozen=True, slots=True)
class KeyEvent:
    """A key goes down or up."""

    key: WindowsKey
    down: bool


@dataclass(frozen=True, slots=True)
class UnitEvent:
    """A piece of a character, in UTF-16, goes down or up as if it had a key of its own."""

    unit: int
    down: bool


Event = Motion | ButtonEvent | Turn | KeyEvent | UnitEvent


class Sender:
    """Sends events; ``taken`` counts those that the system has put into its stream of inputs."""

    def __init__(self) -> None:
        # Imported late: on another system it cannot be.
        from pynput._util import win32  # noqa: PLC0415

        self._win32: Any = win32
        self.taken = 0

    def send(self, *events: Event) -> None:
        """Send them in this order, with nothing between.

        Raises DesktopLost where the session has no desktop now, and DesktopError where the system
        takes an event from nobody.
        """
        inputs = (self._win32.INPUT * len(events))(*map(self._input, events))
        taken = self._win32.SendInput(len(events), inputs, ctypes.sizeof(self._win32.INPUT))
        self.taken += taken
        if taken != len(events):
            session.check()
            raise not_taken()

    def _input(self, event: Event) -> Any:
        union = self._win32.INPUT_union
        if isinstance(event, KeyEvent | UnitEvent):
            return self._win32.INPUT(
                type=self._win32.INPUT.KEYBOARD, value=union(ki=self._keyboard_input(event))
            )
        return self._win32.INPUT(
            type=self._win32.INPUT.MOUSE, value=union(mi=self._mouse_input(event))
        )

    def _keyboard_input(self, event: KeyEvent | UnitEvent) -> Any:
        kind = self._win32.KEYBDINPUT
        up = 0 if event.down else kind.KEYUP
        if isinstance(event, UnitEvent):
            return kind(wScan=event.unit, dwFlags=kind.UNICODE | up)
        extended = kind.EXTENDEDKEY if event.key.extended else 0
        return kind(wVk=event.key.code, wScan=event.key.scan, dwFlags=extended | up)

    def _mouse_input(self, event: Motion | ButtonEvent | Turn) -> Any:
        kind = self._win32.MOUSEINPUT
        match event:
            case Motion(x, y):
                across, down = steps_to(x, y)
                flags = kind.MOVE | kind.ABSOLUTE | _VIRTUAL_DESK
                return kind(dx=across, dy=down, dwFlags=flags)
            case ButtonEvent(button, down):
                physical, way = _physical(button), "DOWN" if down else "UP"
                if (number := _X_BUTTONS.get(physical)) is not None:
                    return kind(mouseData=number, dwFlags=getattr(kind, f"X{way}"))
                return kind(dwFlags=getattr(kind, f"{physical.upper()}{way}"))
            case Turn(direction):
                flag = kind.WHEEL if direction in ("up", "down") else kind.HWHEEL
                amount = NOTCH if direction in ("up", "right") else -NOTCH
                return kind(mouseData=amount & 0xFFFFFFFF, dwFlags=flag)


def not_taken() -> DesktopError:
    """What an input fails with that was sent, and is not there when it is looked for."""
    return DesktopError(
        "input_not_taken",
        "Windows did not take the input: a program blocks it, or the window takes it from nobody",
    )


def steps_to(x: int, y: int) -> tuple[int, int]:
    """A place on all screens together, as absolute motions name it."""
    left, top = _metric(api.SM_XVIRTUALSCREEN), _metric(api.SM_YVIRTUALSCREEN)
    width, height = _metric(api.SM_CXVIRTUALSCREEN), _metric(api.SM_CYVIRTUALSCREEN)
    return steps(x - left, width), steps(y - top, height)


def steps(place: int, length: int) -> int:
    """The first step that lies on a pixel: each is at the whole part of step * length / 65536."""
    return -(-place * _STEPS // length)


def physical_code(button: Button) -> int:
    """The virtual-key code by which the state of a button is asked for."""
    return _CODES[_physical(button)]


def _physical(button: Button) -> Button:
    """Which button must go down where the user has swapped left and right."""
    if button in ("left", "right") and _metric(api.SM_SWAPBUTTON):
        return "right" if button == "left" else "left"
    return button


def _metric(number: int) -> int:
    return int(api.get_system_metrics(number))
