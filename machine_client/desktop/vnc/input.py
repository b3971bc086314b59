"""Pointer and keyboard of a VNC server.

An event is confirmed once the server has read it: it answers then what was asked after it.  What
the desktop behind it makes of the event is not said in this protocol, nor what others hold.
"""

import contextlib
import threading

from machine_client.desktop.base import ClipboardError, DesktopError, DesktopLost
from machine_client.desktop.vnc import qemu
from machine_client.desktop.vnc.address import VncServer
from machine_client.desktop.vnc.clipboard import Clipboard
from machine_client.desktop.vnc.connection import VncConnection
from machine_client.desktop.vnc.keyboard import POSSIBLY_HELD, Keyboard, LackedKeys, check_names
from machine_client.desktop.vnc.pointer import BUTTONS, Place, Pointer
from machine_client.desktop.vnc.rfb.client_messages import key_event
from machine_client.desktop.vnc.screens import displays_of, middle_of
from schemas.inputs.bodies import Button, Direction
from schemas.inputs.clipboard_texts import Selection
from schemas.inputs.key_combinations import Chord, Key
from schemas.inputs.outcomes import Effect, Point
from schemas.link.messages import Display, Released

NO_PLACES = (
    "the mouse of the machine behind this VNC server takes steps, and no places: give it a tablet "
    "(QEMU: -device usb-tablet), which its system must have begun to use"
)


class VncInput:
    """See `machine_client.desktop.base.DesktopInput`; raises InjectionUnavailable."""

    effect: Effect = "delivered"
    # The protocol has a bit for an eighth button, which no server known here takes.
    buttons: tuple[Button, ...] = tuple(BUTTONS)
    # Whether anything was pressed is not told.
    released: Released | None = None

    def __init__(self, server: VncServer, place: Place, lacked_keys: LackedKeys) -> None:
        self._connection = VncConnection(server, told=True)
        self._lacked_keys = lacked_keys
        self._sent = 0
        self.confirmed = 0
        self._moved = False
        self._told = 0
        self.clipboard = Clipboard(self._connection)
        said = self._connection.said
        self._told = said.pointer_told
        begin_at = said.pointer or place.is_at or middle_of(said)
        place.is_at = begin_at
        self._pointer = Pointer(
            self._send, self.confirm, place, begin_at, lambda: said.mouse_knows_places
        )
        self._key_queue = qemu.KeyQueue(self._connection.confirm) if said.is_qemu else None
        self._keyboard = Keyboard(self._send_key, self.confirm)
        # Each part does these by itself.
        self.release, self.release_keys = self._pointer.release, self._keyboard.release
        self._is_open = True
        try:
            self._release_unseen()
        except BaseException:
            self.close()
            raise

    def displays(self) -> list[Display]:
        with self._connection.changed:
            return displays_of(self._connection.said)

    def look_at_displays(self) -> list[Display]:
        self._connection.confirm()
        return self.displays()

    def pointer(self) -> Point:
        self.confirm()
        x, y = self._pointer.at
        return Point(x=x, y=y)

    def confirm(self) -> None:
        sent = self._sent
        self._connection.confirm()
        if self._key_queue is not None:
            self._key_queue.drain()
        self.confirmed = sent
        said = self._connection.said
        with self._connection.changed:
            told, pointer = said.pointer_told, said.pointer
        # What it said of the pointer before it had read our moves is older than these.
        if told != self._told and pointer is not None and not self._moved:
            self._pointer.is_told(pointer)
        self._told, self._moved = told, False

    def check_button(self, button: Button) -> None:
        """Whether somebody else holds it is not told."""

    def check_wheel(self, direction: Direction) -> None:
        """As above."""

    def move(self, x: int, y: int) -> None:
        self._check_places()
        self._moved = True
        self._pointer.move(x, y)

    def press(self, button: Button) -> None:
        self._check_places()
        self._pointer.press(button)

    def scroll(self, direction: Direction) -> None:
        self._check_places()
        self._pointer.scroll(direction)

    def check_keys(self, chords: tuple[Chord, ...], *, hold: bool) -> None:
        # Every key has a number; whether the server has a key for it is not told.
        self._connection.check()
        check_names(chords)
        if self._key_queue is not None:
            qemu.check_keys(chords)
        self._lacked_keys.check(chords)

    def type_keys(self, chords: tuple[Chord, ...], stop: threading.Event) -> None:
        self._connection.check()
        self._lacked_keys.note(chords)
        self._keyboard.type(chords, stop)

    def hold_keys(self, chords: tuple[Chord, ...]) -> tuple[Key, ...]:
        self._lacked_keys.note(chords)
        return self._keyboard.hold(chords)

    def press_modifiers(self, keys: tuple[Key, ...]) -> tuple[Key, ...]:
        return self._keyboard.hold((Chord(keys, None),))

    def write_clipboard(self, selection: Selection, text: str) -> None:
        if selection != "clipboard":
            raise ClipboardError("clipboard_unavailable", "VNC knows one clipboard alone")
        self.clipboard.write(text)

    def release_all(self) -> None:
        self._pointer.release_all()
        self._keyboard.release_all()
        self.confirm()

    def close(self) -> None:
        if self._is_open:
            self._is_open = False
            with contextlib.suppress(DesktopError):
                self.release_all()
        self._connection.close()

    @property
    def is_closed(self) -> bool:
        """Whether it is of no use any more; for any thread."""
        try:
            self._connection.check()
        except DesktopLost:
            return True
        return False

    def _check_places(self) -> None:
        if not self._connection.said.mouse_knows_places:
            raise DesktopError("pointer_unavailable", NO_PLACES[0].upper() + NO_PLACES[1:])

    def _send_key(self, event: bytes) -> None:
        self._send(event, True)
        if self._key_queue is not None:
            self._key_queue.note()

    def _send(self, event: bytes, happens: bool) -> None:
        self._connection.send(event)
        self._sent += happens

    def _release_unseen(self) -> None:
        """Release what a client that died may hold: most servers do it themselves, not all."""
        releases = (key_event(keysym, down=False) for keysym in POSSIBLY_HELD)
        self._connection.send(b"".join(releases))
        self._pointer.release_unseen()
        self.confirm()
