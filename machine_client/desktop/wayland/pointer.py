"""The pointer of a Wayland desktop: a virtual one of our own."""

import time
from collections.abc import Mapping
from typing import Final

from machine_client.desktop.wayland.left_behind import LeftBehind
from machine_client.desktop.wayland.outputs import Outputs
from machine_client.desktop.wayland.wire.connection import Proxy, WaylandConnection
from machine_client.desktop.wayland.wire.protocols import POINTER
from schemas.inputs.bodies import Button, Direction
from schemas.inputs.outcomes import Point
from schemas.programs.failpoints import Failpoint, reached

BUTTONS: Final[Mapping[Button, int]] = {
    "left": 0x110,
    "right": 0x111,
    "middle": 0x112,
    "back": 0x113,  # BTN_SIDE and BTN_EXTRA, which programs take for back and forward
    "forward": 0x114,
}
"""The kernel's numbers, which Wayland uses."""

_UP, _DOWN = 0, 1
_VERTICAL, _HORIZONTAL = 0, 1
_FROM_A_WHEEL: Final = 0
_NOTCHES: Final[Mapping[Direction, tuple[int, int]]] = {
    "up": (_VERTICAL, -1),
    "down": (_VERTICAL, 1),
    "left": (_HORIZONTAL, -1),
    "right": (_HORIZONTAL, 1),
}
_NOTCH_LENGTH: Final = 15.0
"""How far programs that know no notches scroll by one, as with a real wheel."""


class PlaceOfPointer:
    """Where we have put the pointer; for any thread.

    No Wayland client is told where it is.  Until we move it first, it is taken to be in the middle
    of the first screen, where compositors put it at their start.
    """

    def __init__(self) -> None:
        self.last: tuple[int, int] | None = None
        self._compositor = ""

    def is_on(self, compositor: str) -> None:
        """Inputs go there from now on: on another one, we have put it nowhere yet."""
        if compositor != self._compositor:
            self._compositor, self.last = compositor, None

    def told(self, outputs: Outputs) -> Point:
        """Where it is, as far as is known.  Raises DesktopError where there is no screen."""
        if self.last is not None:
            return Point(x=self.last[0], y=self.last[1])
        region = outputs.current()[0].region
        return Point(x=region.x + region.width // 2, y=region.y + region.height // 2)


class VirtualPointer:
    """Moves, buttons and the wheel; nothing waits for the compositor.

    ``sent`` counts the events that will have happened once everything so far is confirmed.
    """

    def __init__(
        self,
        connection: WaylandConnection,
        proxy: Proxy,
        outputs: Outputs,
        place: PlaceOfPointer,
        left_behind: LeftBehind,
    ) -> None:
        self._connection = connection
        self._proxy = proxy
        self._outputs = outputs
        self._place = place
        self._left_behind = left_behind
        self._held: list[Button] = []
        self.sent = 0

    def move(self, x: int, y: int) -> None:
        """Put the pointer somewhere; where it is there already, nobody hears of it."""
        around = self._outputs.around()
        self._send("motion_absolute", x - around.x, y - around.y, around.width, around.height)
        if self._place.last not in (None, (x, y)):
            self.sent += 1
        self._place.last = x, y

    def press(self, button: Button) -> None:
        """Press a button; that we hold it is on record before."""
        self._held.append(button)
        self._left_behind.write(self._held)
        self._send("button", BUTTONS[button], _DOWN)
        self.sent += 1
        reached(Failpoint.AFTER_PRESS, self._connection.round_trip)

    def release(self, button: Button) -> None:
        """Release a button, if we hold it."""
        if button in self._held:
            self._held.remove(button)
            self._send("button", BUTTONS[button], _UP)
            self.sent += 1

    def scroll(self, direction: Direction) -> None:
        """Turn the wheel by one notch."""
        axis, notches = _NOTCHES[direction]
        now = _milliseconds()
        self._connection.send(
            self._proxy, "axis_discrete", now, axis, notches * _NOTCH_LENGTH, notches
        )
        # After the notch: some versions note the source for the axis that was named last.
        self._connection.send(self._proxy, "axis_source", _FROM_A_WHEEL)
        self._connection.send(self._proxy, "frame")
        self.sent += 1

    def release_all(self) -> None:
        """Release every button that we hold, the last one first."""
        for button in reversed(self._held[:]):
            self.release(button)

    def settle(self) -> None:
        """Have the record tell what is held, once that is confirmed."""
        self._left_behind.write(self._held)

    def release_left_behind(self) -> list[Button]:
        """Release what a client that died had pressed, and name it."""
        left = [button for button in BUTTONS if button in self._left_behind.found]
        for button in left:
            self._send("button", BUTTONS[button], _UP)
        return left

    def _send(self, request: str, *values: int) -> None:
        self._connection.send(self._proxy, request, _milliseconds(), *values)
        self._connection.send(self._proxy, "frame")


def create_pointer(connection: WaylandConnection, manager: Proxy, seat: Proxy) -> Proxy:
    """A pointer of our own on a seat."""
    proxy = connection.create(POINTER)
    connection.send(manager, "create_virtual_pointer", seat, proxy)
    return proxy


def _milliseconds() -> int:
    return time.monotonic_ns() // 1_000_000 & 0xFFFFFFFF
