"""Chords on an X11 keyboard: what is typed does not depend on who else holds or locked a key."""

import contextlib
import threading
from collections.abc import Iterable, Iterator, Mapping, Set

from machine_client.desktop.base import DesktopError, held_by_others, interrupted, key_refused
from machine_client.desktop.held_keys import HeldKeys
from machine_client.desktop.keysyms import NAMED_KEYSYMS
from machine_client.desktop.x11.borrowed import BorrowedKeys
from machine_client.desktop.x11.connection import X11Connection
from machine_client.desktop.x11.holding import Holding
from machine_client.desktop.x11.keymap import Keymap, Stroke
from machine_client.desktop.x11.keysyms import LOCK, CharacterKeysyms
from machine_client.desktop.x11.requests import Kind
from machine_client.desktop.x11.xkb import KeyDescription
from schemas.inputs.key_combinations import Chord, Key


class Keyboard:
    """The keyboard of one connection, and the keys that we hold on it.

    Modifiers that we hold count for what is typed next, and other keys that we hold go up and down
    again.  Modifiers that others hold are released before a command and pressed again after it; X11
    does not tell a person's release of such a key meanwhile, a few milliseconds, and then it stays
    pressed until it is pressed once more.  Any other key that others hold could not be pressed, and
    is a DesktopError of code "already_down".
    """

    def __init__(
        self,
        connection: X11Connection,
        holding: Holding,
        symbols: Mapping[str, tuple[int, str | None]],
    ) -> None:
        self._connection = connection
        self._holding = holding
        self._keysyms = CharacterKeysyms(symbols)
        self._borrowed = BorrowedKeys(holding)
        self._held = HeldKeys(holding, self._holds)
        self._keys: tuple[KeyDescription, ...] = ()
        self._keymaps: dict[int, Keymap] = {}
        self._refresh()

    def check(self, chords: tuple[Chord, ...], *, hold: bool) -> None:
        """Raise Refusal where a key does not exist and none can be lent for it."""
        if self._connection.take_keyboard_change():
            self._read_map(self._connection.keyboard_state().group)
        keys = dict.fromkeys(key for chord in chords for key in chord.keys)
        missing = [key for key in keys if self._find(key) is None]
        for key in missing:
            if key.is_modifier:
                raise key_refused(
                    key, "key_not_typeable", f"The keyboard of this machine has no key {key.name}"
                )
        available = self._borrowed.available(self._keymap.lendable, self._held.down)
        if missing and available < (len(missing) if hold else 1):
            raise key_refused(
                missing[-1],
                "character_not_typeable",
                f"The keyboard layout lacks {missing[-1].name}, and no unused key is left for it",
            )

    def type(self, chords: tuple[Chord, ...], stop: threading.Event) -> None:
        """Press and release the chords one after another; a key that we hold stays held."""
        self._refresh()
        self._refuse_others_keys(key for chord in chords for key in chord.keys)
        with self._without_others_modifiers():
            for index, chord in enumerate(chords):
                if index:
                    self._refresh()
                    self._refuse_others_keys(chord.keys)
                if stop.is_set():
                    raise interrupted()
                with self._without_locks_for(chord.key):
                    self._held.strike(chord, self._press)
                self._holding.settle()

    def hold(self, chords: tuple[Chord, ...]) -> tuple[Key, ...]:
        """Press the keys, in order, and keep them pressed; a modifier that we hold stays so."""
        self._refresh()
        self._refuse_others_keys(key for chord in chords for key in chord.keys)
        with self._without_others_modifiers():
            return self._hold(chords)

    def press_modifiers(self, keys: tuple[Key, ...]) -> tuple[Key, ...]:
        """Press those that we do not hold, and keep them pressed; what others hold stays theirs."""
        self._refresh()
        fresh = tuple(self._held.fresh(keys))
        self._refuse_others(fresh, self._others)
        return self._hold((Chord(fresh, None),))

    def release(self, chords: tuple[Chord, ...]) -> None:
        """Release the keys that we hold, the last one first; those that nobody holds are up."""
        self._refresh()
        keys = [key for chord in chords for key in chord.keys]
        for key in keys:
            stroke = None if key in self._held else self._find(key)
            if stroke is not None and stroke.keycode in self._others:
                raise held_by_others(f"the key {key.name}")
        for key in reversed(keys):
            stroke = self._find(key)
            self._held.release(key, None if stroke is None else stroke.keycode)

    def release_all(self) -> None:
        """Release every key that we hold and give back what was borrowed."""
        self._held.let_go_all()
        self._borrowed.give_back()
        self._holding.settle()
        self._connection.confirm()

    def release_left_pressed(self) -> int:
        """Release what a client that died holds, and give back what it lent; how many keys."""
        left = self._holding.left_pressed(Kind.KEYS)
        for keycode in left:
            self._holding.release_key(keycode)
        self.release_all()
        return len(left)

    def _hold(self, chords: tuple[Chord, ...]) -> tuple[Key, ...]:
        confirm = self._connection.confirm
        return self._held.hold(chords, self._press, self._without_locks_for, confirm)

    def _press(self, key: Key) -> None:
        stroke = self._stroke(key)
        self._held.lift_levels(stroke.held)
        missing = stroke.held & ~self._held.modifiers
        self._held.press(key, (*self._keymap.level_keys(missing), stroke.keycode))
        if stroke.keycode in self._borrowed:
            self._borrowed.note_use(stroke.keycode)

    def _stroke(self, key: Key) -> Stroke:
        """The stroke for a key, which is lent a place on the keyboard if it has none."""
        stroke = self._find(key)
        if stroke is None and not key.is_modifier:
            if key.is_character:
                pair = self._keysyms.pair(key.name)
            else:
                pair = (NAMED_KEYSYMS[key.name],) * 2
            if self._borrowed.lend(pair, self._keymap.lendable, self._held.down):
                self._connection.confirm()
                self._connection.take_keyboard_change()
                self._read_map(self._keymap.group)
                stroke = self._find(key)
        if stroke is None:
            # Only where the keyboard was changed after `check`.
            raise DesktopError("character_not_typeable", f"The keyboard now lacks {key.name}")
        return stroke

    def _holds(self, keycode: int) -> int:
        """Which modifiers a keycode is, by the keymap of now."""
        return self._keymap.holds(keycode)

    def _find(self, key: Key) -> Stroke | None:
        if key.is_character:
            return self._keymap.find(*self._keysyms.of(key.name))
        return self._keymap.find(NAMED_KEYSYMS[key.name])

    def _refresh(self) -> None:
        """Learn what is down, the keyboard's state, and its map and group where these changed."""
        self._state = self._connection.look_at_keyboard()
        self._others = self._holding.held_by_others(Kind.KEYS)
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

    def _refuse_others_keys(self, keys: Iterable[Key]) -> None:
        """Raise DesktopError for a key that others hold, unless it is a modifier."""
        others = {keycode for keycode in self._others if not self._keymap.holds(keycode)}
        self._refuse_others(keys, others)

    def _refuse_others(self, keys: Iterable[Key], others: Set[int]) -> None:
        for key in keys if others else ():
            stroke = self._find(key)
            if stroke is not None and stroke.keycode in others:
                raise held_by_others(f"the key {key.name}")

    @contextlib.contextmanager
    def _without_others_modifiers(self) -> Iterator[None]:
        """Set others' modifiers aside, and those that would be pressed by us as well."""
        others = [keycode for keycode in self._others if self._keymap.holds(keycode)]
        for keycode in others:
            self._holding.set_aside(keycode)
        try:
            yield
        finally:
            for keycode in others:
                self._holding.put_back(keycode)

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
