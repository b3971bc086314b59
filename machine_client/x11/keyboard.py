"""Chords on an X11 keyboard: what is typed does not depend on who else holds or locked a key."""

import contextlib
import threading
from collections import Counter
from collections.abc import Iterator, Mapping

from machine_client.desktop import DesktopError, Refusal, interrupted
from machine_client.x11.borrowed import BorrowedKeys
from machine_client.x11.connection import X11Connection
from machine_client.x11.keymap import Keymap, Stroke
from machine_client.x11.keysyms import LOCK, NAMED_KEYSYMS, CharacterKeysyms
from machine_client.x11.xkb import KeyboardState, KeyDescription
from schemas.failpoints import Failpoint, reached
from schemas.keys import Chord, Key
from schemas.outcomes import Refused


class Keyboard:
    """The keyboard of one connection, and the keys that we hold on it.

    Modifiers that we hold count for what is typed next.  Modifiers that others hold are released
    before a command and pressed again after it; X11 does not tell a person's release of such a key
    meanwhile, a few milliseconds, and then it stays pressed until it is pressed once more.
    """

    def __init__(
        self, connection: X11Connection, symbols: Mapping[str, tuple[int, str | None]]
    ) -> None:
        self._connection = connection
        self._keysyms = CharacterKeysyms(symbols)
        self._borrowed = BorrowedKeys(connection)
        self._held: dict[Key, list[int]] = {}
        self._down: Counter[int] = Counter()
        self._keys: tuple[KeyDescription, ...] = ()
        self._keymaps: dict[int, Keymap] = {}
        self._refresh()

    def check(self, chords: tuple[Chord, ...], *, hold: bool) -> None:
        """Raise Refusal where a key does not exist and none can be lent for it."""
        self._refresh()
        keys = dict.fromkeys(key for chord in chords for key in chord.keys)
        missing = [key for key in keys if self._find(key) is None]
        for key in missing:
            if key.is_modifier:
                raise _refusal(
                    key, "key_not_typeable", f"The keyboard of this machine has no key {key.name}"
                )
        available = self._borrowed.available(self._keymap.lendable, self._down)
        if missing and available < (len(missing) if hold else 1):
            raise _refusal(
                missing[-1],
                "character_not_typeable",
                f"The keyboard layout lacks {missing[-1].name}, and no unused key is left for it",
            )

    def type(self, chords: tuple[Chord, ...], stop: threading.Event) -> None:
        """Press and release the chords one after another; a key that we hold stays held."""
        self._refresh()
        with self._without_foreign_modifiers():
            for index, chord in enumerate(chords):
                if index:
                    self._connection.confirm()
                    self._refresh()
                if stop.is_set():
                    raise interrupted()
                self._type_chord(chord)

    def hold(self, chords: tuple[Chord, ...]) -> None:
        """Press the keys that we do not hold yet, in order, and keep them pressed."""
        self._refresh()
        fresh = self._not_held(key for chord in chords for key in chord.keys)
        with self._without_foreign_modifiers():
            try:
                for key in fresh:
                    with self._without_locks_for(key):
                        self._press(key)
                self._connection.confirm()
            except BaseException:
                self._let_go(fresh)
                raise

    def release(self, chords: tuple[Chord, ...]) -> None:
        """Release keys, the last one first; those that we do not hold, as they are mapped now."""
        self._refresh()
        for key in reversed([key for chord in chords for key in chord.keys]):
            if key in self._held:
                self._let_go([key])
            elif (stroke := self._find(key)) is not None:
                self._connection.fake_key(stroke.keycode, down=False)

    def release_all(self) -> None:
        """Release every key that we hold and give back what was borrowed."""
        self._let_go(list(self._held))
        self._borrowed.give_back()
        self._connection.confirm()

    def _type_chord(self, chord: Chord) -> None:
        fresh = self._not_held(chord.keys)
        if chord.key is not None and chord.key in self._held:
            self._strike_again(chord.key)
        with self._without_locks_for(chord.key):
            try:
                for key in fresh:
                    self._press(key)
            finally:
                self._let_go(fresh)

    def _not_held(self, keys: Iterator[Key] | tuple[Key, ...]) -> list[Key]:
        return [key for key in dict.fromkeys(keys) if key not in self._held]

    def _strike_again(self, key: Key) -> None:
        """Type a key that we hold: the desktop sees it go up and down, and it stays held."""
        keycode = self._held[key][-1]
        self._connection.fake_key(keycode, down=False)
        self._connection.fake_key(keycode, down=True)
        reached(Failpoint.AFTER_PRESS, self._connection.confirm)

    def _press(self, key: Key) -> None:
        stroke = self._stroke(key)
        # Recorded one by one before each press, so that whatever goes wrong is let go.
        keycodes = self._held.setdefault(key, [])
        missing = stroke.held & ~self._own_modifiers()
        for keycode in (*self._keymap.level_keys(missing), stroke.keycode):
            keycodes.append(keycode)
            self._down[keycode] += 1
            if self._down[keycode] == 1:
                self._connection.fake_key(keycode, down=True)
                reached(Failpoint.AFTER_PRESS, self._connection.confirm)
        if stroke.keycode in self._borrowed:
            self._borrowed.note_use(stroke.keycode)

    def _let_go(self, keys: list[Key]) -> None:
        for key in reversed(keys):
            for keycode in reversed(self._held.pop(key, [])):
                self._down[keycode] -= 1
                if not self._down[keycode]:
                    del self._down[keycode]
                    self._connection.fake_key(keycode, down=False)

    def _stroke(self, key: Key) -> Stroke:
        """The stroke for a key, which is lent a place on the keyboard if it has none."""
        stroke = self._find(key)
        if stroke is None and not key.is_modifier:
            if key.is_character:
                pair = self._keysyms.pair(key.name)
            else:
                pair = (NAMED_KEYSYMS[key.name],) * 2
            if self._borrowed.lend(pair, self._keymap.lendable, self._down):
                self._connection.confirm()
                self._connection.take_keyboard_change()
                self._read_map(self._keymap.group)
                stroke = self._find(key)
        if stroke is None:
            # Only where the keyboard was changed after `check`.
            raise DesktopError("character_not_typeable", f"The keyboard now lacks {key.name}")
        return stroke

    def _find(self, key: Key) -> Stroke | None:
        if key.is_character:
            return self._keymap.find(*self._keysyms.of(key.name))
        return self._keymap.find(NAMED_KEYSYMS[key.name])

    def _refresh(self) -> None:
        """Learn the state of the keyboard, and its map and group where they have changed."""
        self._state: KeyboardState = self._connection.keyboard_state()
        if self._connection.take_keyboard_change():
            self._read_map(self._state.group)
        self._keymap = self._keymap_of(self._state.group)

    def _read_map(self, group: int) -> None:
        self._keys = self._connection.keyboard_map()
        self._keymaps = {}
        self._keymap = self._keymap_of(group)
        self._borrowed.forget_overwritten(self._keymap.keys)

    def _keymap_of(self, group: int) -> Keymap:
        if group not in self._keymaps:
            self._keymaps[group] = Keymap(self._keys, group)
        return self._keymaps[group]

    def _own_modifiers(self) -> int:
        modifiers = 0
        for keycode in self._down:
            modifiers |= self._keymap.holds(keycode)
        return modifiers

    @contextlib.contextmanager
    def _without_foreign_modifiers(self) -> Iterator[None]:
        foreign: list[int] = []
        unknown = self._state.base & ~self._own_modifiers()
        if unknown:
            foreign = [
                keycode
                for keycode in self._connection.pressed_keycodes()
                if keycode not in self._down and self._keymap.holds(keycode) & unknown
            ]
        for keycode in foreign:
            self._connection.fake_key(keycode, down=False)
        try:
            yield
        finally:
            for keycode in foreign:
                if keycode not in self._down:
                    self._connection.fake_key(keycode, down=True)

    @contextlib.contextmanager
    def _without_locks_for(self, key: Key | None) -> Iterator[None]:
        """Set aside the locks that would change a key's symbol, and latches, which it would use up.

        Programs also turn letters into capitals under Caps Lock where the key itself does not.
        """
        stroke = None if key is None else self._stroke(key)
        affect = wanted = 0
        if key is not None and stroke is not None:
            watched = stroke.watched | (LOCK if key.is_character else 0)
            affect = (self._state.locked ^ stroke.locked) & watched
            wanted = stroke.locked
        latched = self._state.latched
        if not affect and not latched:
            yield
            return
        change = self._connection.set_locks_and_latches
        change(affect_locks=affect, locks=wanted, affect_latches=latched, latches=0)
        try:
            yield
        finally:
            change(
                affect_locks=affect,
                locks=self._state.locked,
                affect_latches=latched,
                latches=latched,
            )


def _refusal(key: Key, code: str, message: str) -> Refusal:
    return Refusal(Refused(code=code, message=message, loc=("body", "text"), ctx={"key": key.name}))
