"""Chords on a virtual keyboard of our own: what is typed does not depend on anybody's layout."""

import contextlib
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from machine_client.desktop.base import DesktopError, Refusal, interrupted
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
from schemas.inputs.outcomes import Refused
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
        self._held: dict[Key, list[int]] = {}
        self._down: Counter[int] = Counter()
        self._locked = 0
        self.sent = 0
        self._upload()

    def check(self, chords: tuple[Chord, ...], *, hold: bool) -> None:
        """Raise Refusal where more keys must be lent at once than there are."""
        keys = dict.fromkeys(key for chord in chords for key in chord.keys)
        rare = [key.name for key in keys if fixed_stroke(key) is None]
        if hold and not self._lent.has_room(rare, self._down):
            raise Refusal(
                Refused(
                    code="character_not_typeable",
                    message=f"The keyboard lacks {rare[-1]}, and no unused key is left for it",
                    loc=("body", "text"),
                    ctx={"key": rare[-1]},
                )
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
            self._type_chord(chord)
            confirm()

    def hold(self, chords: tuple[Chord, ...], confirm: Callable[[], None]) -> None:
        """Press the keys, in order, and keep them pressed; a modifier that we hold stays so."""
        keys = list(dict.fromkeys(key for chord in chords for key in chord.keys))
        fresh = self._not_held(keys)
        try:
            self._lend(chords)
            for key in keys:
                with self._without_locks_for(key):
                    if key in fresh:
                        self._press(key)
                    elif not key.is_modifier:
                        self._press_again(key)
            confirm()
        except BaseException:
            self._let_go(fresh)
            raise

    def release(self, chords: tuple[Chord, ...]) -> None:
        """Release the keys that we hold, the last one first."""
        for key in reversed([key for chord in chords for key in chord.keys]):
            self._let_go(self._held_as(key))

    def release_all(self) -> None:
        """Release every key that we hold."""
        self._let_go(list(self._held))

    def _type_chord(self, chord: Chord) -> None:
        fresh = self._not_held(chord.keys)
        struck = chord.keys[-1]
        with self._without_locks_for(chord.key):
            try:
                for key in fresh:
                    self._press(key)
                if struck not in fresh:
                    self._press_again(struck)
            finally:
                self._let_go(fresh)

    def _not_held(self, keys: Iterable[Key]) -> list[Key]:
        return [key for key in dict.fromkeys(keys) if key not in self._held]

    def _held_as(self, key: Key) -> list[Key]:
        """The key that we hold, which can be on the same one under another name, as a and A."""
        if key in self._held:
            return [key]
        stroke = self._find(key)
        return [
            held
            for held, codes in self._held.items()
            if stroke is not None and codes[-1:] == [stroke.code]
        ]

    def _press(self, key: Key) -> None:
        stroke = self._stroke(key)
        if not stroke.shifted:
            self._lift_shift()
        # Recorded one by one before each press, so that whatever goes wrong is let go.
        codes = self._held.setdefault(key, [])
        shift = (SHIFT_CODE,) if stroke.shifted and not self._depressed() & SHIFT else ()
        for code in (*shift, stroke.code):
            codes.append(code)
            self._down[code] += 1
            if self._down[code] == 1:
                self._key(code, _DOWN)
            elif code not in HELD_BY:
                self._again(code)
        self._lent.note_use(stroke.code)

    def _lift_shift(self) -> None:
        """Release a Shift that is held only for the symbol of a held character."""
        for key, codes in self._held.items():
            if not key.is_modifier and codes[:-1]:
                del codes[:-1]
                self._go_up(SHIFT_CODE)

    def _press_again(self, key: Key) -> None:
        """Type a key that we hold: the desktop sees it go up and down, and it stays held."""
        self._again(self._held[key][-1])

    def _again(self, code: int) -> None:
        self._key(code, _UP)
        self._key(code, _DOWN)

    def _let_go(self, keys: list[Key]) -> None:
        for key in reversed(keys):
            for code in reversed(self._held.pop(key, [])):
                self._go_up(code)

    def _go_up(self, code: int) -> None:
        """Release a key, unless it is down for another one as well."""
        self._down[code] -= 1
        if not self._down[code]:
            del self._down[code]
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

    def _depressed(self) -> int:
        modifiers = 0
        for code in self._down:
            modifiers |= HELD_BY.get(code, 0)
        return modifiers

    def _tell_modifiers(self, locked: int) -> None:
        # The compositor leaves it to us to say what the keys mean that we hold.
        self._connection.send(self._proxy, "modifiers", self._depressed(), 0, locked, 0)

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
        if self._lent.lend(rare, self._down):
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
        if self._down or self._locked:
            self._tell_modifiers(self._locked)


def create_keyboard(connection: WaylandConnection, manager: Proxy, seat: Proxy) -> Proxy:
    """A keyboard of our own on a seat."""
    proxy = connection.create(KEYBOARD)
    connection.send(manager, "create_virtual_keyboard", seat, proxy)
    return proxy
