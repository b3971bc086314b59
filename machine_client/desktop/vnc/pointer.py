"""The pointer of a VNC server: where it was put, and which of its buttons we hold."""

from collections.abc import Callable, Mapping

from machine_client.desktop.vnc.rfb.client_messages import NO_STEP, pointer_event
from schemas.inputs.bodies import Button, Direction
from schemas.programs.failpoints import Failpoint, reached

BUTTONS: Mapping[Button, int] = {"left": 1 << 0, "middle": 1 << 1, "right": 1 << 2}
_WHEEL: Mapping[Direction, int] = {"up": 1 << 3, "down": 1 << 4, "left": 1 << 5, "right": 1 << 6}


class Place:
    """Where the pointer is, as far as anybody has said: who put it there, or the server.

    Of one desktop, whoever looks at it or acts on it; for any thread.
    """

    def __init__(self) -> None:
        self.is_at: tuple[int, int] | None = None


class Pointer:
    """Moves, presses and turns; every event says all: the place, and the buttons that are down.

    ``send`` says one event, which counts where ``happens``: one that changes nothing is none.
    Without ``knows_places`` the server takes places for steps.
    """

    def __init__(
        self,
        send: Callable[[bytes, bool], None],
        confirm: Callable[[], None],
        place: Place,
        begin_at: tuple[int, int],
        knows_places: Callable[[], bool] = lambda: True,
    ) -> None:
        self._send_event = send
        self._confirm = confirm
        self._place = place
        self._at = begin_at
        self._knows_places = knows_places
        self._down = 0
        self._held: list[int] = []

    @property
    def at(self) -> tuple[int, int]:
        """Where it is now."""
        return self._at

    def is_told(self, at: tuple[int, int]) -> None:
        """The server says that it is somewhere else than we have put it."""
        self._at = self._place.is_at = at

    def move(self, x: int, y: int) -> None:
        """Put it somewhere."""
        moves = (x, y) != self._at
        self._at = self._place.is_at = (x, y)
        self._send(moves)

    def press(self, button: Button) -> None:
        """Press a button that is up."""
        bit = BUTTONS[button]
        self._held.append(bit)
        self._set(self._down | bit)
        reached(Failpoint.AFTER_PRESS, self._confirm)

    def release(self, button: Button) -> None:
        """Release a button, if we hold it."""
        if BUTTONS[button] in self._held:
            self._release(BUTTONS[button])

    def scroll(self, direction: Direction) -> None:
        """Turn the wheel by one notch, which is a press and a release of a button of its own."""
        self._set(self._down | _WHEEL[direction])
        self._set(self._down & ~_WHEEL[direction])

    def release_all(self) -> None:
        """Release every button that we hold, the last one first."""
        for bit in reversed(self._held[:]):
            self._release(bit)

    def release_unseen(self) -> None:
        """Release what an earlier client may hold; where nobody does, nothing happens."""
        self._send(False)

    def _release(self, bit: int) -> None:
        self._set(self._down & ~bit)
        self._held.remove(bit)

    def _set(self, down: int) -> None:
        self._down = down
        self._send(True)

    def _send(self, happens: bool) -> None:
        # What is held is let go of whatever has become of the mouse, and must not push it.
        at = self._at if self._knows_places() else NO_STEP
        self._send_event(pointer_event(self._down, *at), happens)
