"""What we hold on an X server, what others hold, and what a client that died had left pressed."""

from machine_client.desktop.x11.connection import X11Connection
from machine_client.desktop.x11.requests import Kind
from machine_client.desktop.x11.server_record import ServerRecord
from schemas.programs.failpoints import Failpoint, reached


class Holding:
    """The buttons and keys that we hold, and the keycodes that we have lent.

    Whoever presses puts it here first; the server has it on record before the press.  ``buttons``
    and ``keycodes`` begin with what clients that died had written down, which may be up by now:
    see `left_pressed`.
    """

    def __init__(self, connection: X11Connection) -> None:
        self._connection = connection
        self._server = ServerRecord(connection.display)
        # Only now, as it also means that we ignore each other's grab while slots are taken.
        connection.ignore_grabs()
        self._record = self._server.left_behind
        self.buttons = self._record.buttons
        self.keycodes = self._record.keycodes
        self.lent = self._record.lent
        self._put_back: set[int] = set()

    def settle(self) -> None:
        """Have the server's record tell what is held from the next request on; no round trip."""
        self._server.write(self._record)

    def press_key(self, keycode: int) -> None:
        """Press a key; that nobody else holds it is the caller's to know."""
        self.keycodes.append(keycode)
        self.settle()
        if keycode in self._put_back:
            # Its holder may have let go of it since, but the server's XTEST keyboard has not, and
            # would ignore the press.
            self._put_back.remove(keycode)
            self._connection.fake_key(keycode, down=False)
        self._connection.fake_key(keycode, down=True)
        reached(Failpoint.AFTER_PRESS, self._connection.confirm)

    def press_key_again(self, keycode: int) -> None:
        """Press a key that we hold: the desktop sees it go up and down."""
        self.release_key(keycode)
        self.press_key(keycode)

    def release_key(self, keycode: int) -> None:
        """Release a key that we hold."""
        self._connection.fake_key(keycode, down=False)
        self.keycodes.remove(keycode)

    def set_aside(self, keycode: int) -> None:
        """Release a key that somebody else holds, until `put_back`."""
        self._connection.fake_key(keycode, down=False)

    def put_back(self, keycode: int) -> None:
        """Press a key that was set aside, unless we hold it ourselves by now."""
        if keycode not in self.keycodes:
            self._connection.fake_key(keycode, down=True)
            self._put_back.add(keycode)

    def change_key(self, keycode: int, without_shift: int, with_shift: int) -> None:
        """Map a key, after the server has on record what `lent` says of it; 0 is nothing."""
        self.settle()
        self._connection.change_key(keycode, without_shift, with_shift)

    def held_by_others(self, kind: Kind) -> frozenset[int]:
        """What others have down, as the last look at buttons or keyboard found it.

        A key that two hold goes up when we let go of it; a button does not, and so it counts as
        theirs as well as ours.  What is down on no single device is held by nobody: while a program
        such as a window manager looks at an event, those that follow wait.  No round trip where
        nothing is down.
        """
        down = self._connection.down[kind]
        own = self.buttons if kind is Kind.BUTTONS else self.keycodes
        suspects = down.copy() if kind is Kind.BUTTONS else down.difference(own)
        if not suspects:
            return frozenset()
        really: set[int] = set()
        for device, on_device in self._connection.down_by_device(kind):
            really |= on_device.difference(own) if device.is_of_xtest else on_device
        down -= suspects.difference(really, own)
        return frozenset(really & suspects)

    def left_pressed(self, kind: Kind) -> list[int]:
        """What a client that died still holds, last press first; the rest of it is forgotten."""
        listed = self.buttons if kind is Kind.BUTTONS else self.keycodes
        if not listed:
            return []
        down: set[int] = set()
        for device, on_device in self._connection.down_by_device(kind):
            if device.is_of_xtest:
                down |= on_device
        listed[:] = [number for number in dict.fromkeys(listed) if number in down]
        return listed[::-1]
