"""Chords on a virtual keyboard of our own: what is typed does not depend on anybody's layout."""

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterator

from machine_client.desktop.base import DesktopError, interrupted, key_refused
from machine_client.desktop.held_keys import HeldKeys
from machine_client.desktop.wayland.keymap import (
    HELD_BY,
    LOCKED_BY,
    SHIFT,
    SHIFT_CODE,
    Stroke,
    fixed_stroke,
    keymap_text,
)
from machine_client.desktop.wayland.lent import LentKeys
from machine_client.desktop.wayland.wire.connection import Proxy, WaylandConnection
from machine_client.desktop.wayland.wire.protocols import KEYBOARD
from schemas.inputs.key_combinations import Chord, Key
from schemas.programs.failpoints import Failpoint, reached

_XKB_TEXT = 1
_UP, _DOWN = 0, 1


class VirtualKeyboard:
    """The keyboard of one connection, and the keys that we hold on it.

    Modifiers that we hold count for what is typed next, and other keys that we hold go up and down
    again.  Compositors keep the keys of each keyboard apart: what others hold or have locked on
    theirs changes nothing here.  ``sent`` counts the events that will have happened once everything
    so far is confirmed.
    """

    def __init__(self, connection: WaylandConnection, proxy: Proxy) -> None:
        self._connection = connection
        self._proxy = proxy
        self._lent = LentKeys()
        self._held = HeldKeys(self, lambda code: HELD_BY.get(code, 0))
        self._locked = 0
        self.sent = 0
        self._upload()

    def check(self, chords: tuple[Chord, ...], *, hold: bool) -> None:
        """Raise Refusal where more keys must be lent at once than there are."""
        keys = dict.fromkeys(key for chord in chords for key in chord.keys)
        rare = [key for key in keys if fixed_stroke(key) is None]
        if hold and not self._lent.has_room((key.name for key in rare), self._held.down):
            raise key_refused(
                rare[-1],
                "character_not_typeable",
                f"The keyboard lacks {rare[-1].name}, and no unused key is left for it",
            )

    def type(
        self, chords: tuple[Chord, ...], stop: threading.Event, confirm: Callable[[], None]
    ) -> None:
        """Press and release the chords one after another; a key that we hold stays held.

        Each is confirmed before the next one.
        """
        confirm()
        for index, chord in enumerate(chords):
            if stop.is_set():
                raise interrupted()
            if self._lacks(chord):
                self._lend(chords[index:])
            with self._without_locks_for(chord.key):
                self._held.strike(chord, self._press)
            confirm()

    def hold(self, chords: tuple[Chord, ...], confirm: Callable[[], None]) -> tuple[Key, ...]:
        """Press the keys, in order, and keep them pressed; a modifier that we hold stays so."""
        self._lend(chords)
        return self._held.hold(chords, self._press, self._without_locks_for, confirm)

    def release(self, chords: tuple[Chord, ...]) -> None:
        """Release the keys that we hold, the last one first."""
        for key in reversed([key for chord in chords for key in chord.keys]):
            stroke = self._find(key)
            self._held.release(key, None if stroke is None else stroke.code)

    def release_all(self) -> None:
        """Release every key that we hold."""
        self._held.let_go_all()

    def _press(self, key: Key) -> None:
        stroke = self._stroke(key)
        wanted = SHIFT if stroke.shifted else 0
        self._held.lift_levels(wanted)
        shift = (SHIFT_CODE,) if wanted & ~self._held.modifiers else ()
        self._held.press(key, (*shift, stroke.code))
        self._lent.note_use(stroke.code)

    def press_key(self, code: int) -> None:
        """See `machine_client.desktop.held_keys.KeyPresser`."""
        self._key(code, _DOWN)

    def press_key_again(self, code: int) -> None:
        """As above."""
        self._key(code, _UP)
        self._key(code, _DOWN)

    def release_key(self, code: int) -> None:
        """As above."""
        self._key(code, _UP)

    def _key(self, code: int, state: int) -> None:
        now = time.monotonic_ns() // 1_000_000 & 0xFFFFFFFF
        self._connection.send(self._proxy, "key", now, code, state)
        self.sent += 1
        if code in LOCKED_BY and state == _DOWN:
            self._locked ^= LOCKED_BY[code]
        if code in HELD_BY or code in LOCKED_BY:
            self._tell_modifiers(self._locked)
        if state == _DOWN:
            reached(Failpoint.AFTER_PRESS, self._connection.round_trip)

    def _tell_modifiers(self, locked: int) -> None:
        # The compositor leaves it to us to say what the keys mean that we hold.
        self._connection.send(self._proxy, "modifiers", self._held.modifiers, 0, locked, 0)

    @contextlib.contextmanager
    def _without_locks_for(self, key: Key | None) -> Iterator[None]:
        """Set aside the locks that we have locked: a character is typed as it is."""
        if key is None or not key.is_character or not self._locked:
            yield
            return
        locked, self._locked = self._locked, 0
        self._tell_modifiers(0)
        try:
            yield
        finally:
            self._locked = locked
            self._tell_modifiers(locked)

    def _find(self, key: Key) -> Stroke | None:
        return fixed_stroke(key) or self._lent.find(key.name)

    def _lacks(self, chord: Chord) -> bool:
        return any(self._find(key) is None for key in chord.keys)

    def _stroke(self, key: Key) -> Stroke:
        stroke = self._find(key)
        if stroke is None:
            # Only while we hold nearly as many keys as can be lent.
            raise DesktopError("character_not_typeable", f"No unused key is left for {key.name}")
        return stroke

    def _lend(self, chords: tuple[Chord, ...]) -> None:
        """Lend places to as many characters as there is room for, the first of them above all."""
        rare = [key.name for chord in chords for key in chord.keys if fixed_stroke(key) is None]
        if self._lent.lend(rare, self._held.down):
            self._upload()

    def _upload(self) -> None:
        """Tell the compositor the keymap as it is now."""
        text = keymap_text(self._lent.pairs)
        file = os.memfd_create("keymap", os.MFD_CLOEXEC)
        try:
            os.write(file, text)
            self._connection.send(self._proxy, "keymap", _XKB_TEXT, file, len(text))
        finally:
            os.close(file)
        # A keymap begins with no modifiers in force.
        if self._held.down or self._locked:
            self._tell_modifiers(self._locked)


def create_keyboard(connection: WaylandConnection, manager: Proxy, seat: Proxy) -> Proxy:
    """A keyboard of our own on a seat."""
    proxy = connection.create(KEYBOARD)
    connection.send(manager, "create_virtual_keyboard", seat, proxy)
    return proxy
