"""Which key, with which modifiers held, makes a symbol on the keyboard as it is mapped now."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from machine_client.desktop.x11.keysyms import LEVEL_KEYS, LOCK, SHIFT
from machine_client.desktop.x11.xkb import KeyDescription, KeyGroup

_LAST_TYPING_KEY = 94
"""X's highest keycode of the keys that every keyboard has.

Layouts also put symbols such as parentheses on keys that hardly any keyboard has; programs that
look at the keycode, remote desktops above all, know only the common ones.
"""

_LOWEST_LENDABLE = 9
"""Keycode 8 is the kernel's "no key"; programs that translate keycodes drop it."""


@dataclass(frozen=True, slots=True)
class Stroke:
    """A keycode and what must be in force for it to make its symbol.

    ``held`` are modifiers to hold, ``locked`` those to lock (Num Lock, for digits of the keypad),
    ``watched`` those that could change the symbol.
    """

    keycode: int
    held: int = 0
    locked: int = 0
    watched: int = 0


class Keymap:
    """The keyboard's map under one group; built anew whenever either changes."""

    def __init__(self, keys: Iterable[KeyDescription], group: int) -> None:
        self.keys = {key.keycode: key for key in keys}
        self.group = group

    def find(self, *keysyms: int) -> Stroke | None:
        """The easiest stroke for the first of these keysyms that the keyboard has."""
        return next((self._strokes[keysym] for keysym in keysyms if keysym in self._strokes), None)

    def holds(self, keycode: int) -> int:
        """The modifiers in force while a key is held."""
        group = self._groups.get(keycode)
        return 0 if group is None else group.holds

    def symbol(self, keycode: int) -> int:
        """What a key makes without any modifier; 0 is nothing."""
        group = self._groups.get(keycode)
        return group.symbols[0] if group is not None and group.symbols else 0

    def level_keys(self, modifiers: int) -> tuple[int, ...]:
        """The keys to hold for these modifiers, which a stroke of this map named."""
        return tuple(keycode for bit, keycode in self._level_keys.items() if modifiers & bit)

    @cached_property
    def lendable(self) -> tuple[int, ...]:
        """Keycodes without a symbol in any group, those furthest from real keys first."""
        return tuple(
            keycode
            for keycode in sorted(self.keys, reverse=True)
            if keycode >= _LOWEST_LENDABLE
            and not any(symbol for group in self.keys[keycode].groups for symbol in group.symbols)
            and not any(group.holds for group in self.keys[keycode].groups)
        )

    @cached_property
    def _groups(self) -> dict[int, KeyGroup]:
        found = ((keycode, key.group(self.group)) for keycode, key in self.keys.items())
        return {keycode: group for keycode, group in found if group is not None}

    @cached_property
    def _level_keys(self) -> dict[int, int]:
        """For each single modifier that reaches a level, the first key that holds it alone."""
        keys: dict[int, int] = {}
        for keycode, group in self._groups.items():
            one_bit = group.holds and not group.holds & (group.holds - 1)
            if one_bit and self.symbol(keycode) in LEVEL_KEYS:
                keys.setdefault(group.holds, keycode)
        return keys

    @cached_property
    def _num_lock(self) -> int:
        """The modifier that Num Lock locks, told by what the keypad's own digits look at."""
        for group in self._groups.values():
            if len(group.symbols) > 1 and 0xFFB0 <= group.symbols[1] <= 0xFFB9:
                return group.type.mask & ~(SHIFT | LOCK | sum(self._level_keys))
        return 0

    @cached_property
    def _strokes(self) -> dict[int, Stroke]:
        ranked: dict[int, tuple[tuple[int, ...], Stroke]] = {}
        for keycode, group in self._groups.items():
            for level, stroke in self._levels(keycode, group):
                rank = (
                    keycode > _LAST_TYPING_KEY,
                    level,
                    stroke.held.bit_count(),
                    stroke.locked.bit_count(),
                    keycode,
                )
                keysym = group.symbols[level]
                if keysym not in ranked or rank < ranked[keysym][0]:
                    ranked[keysym] = (rank, stroke)
        return {keysym: stroke for keysym, (_, stroke) in ranked.items()}

    def _levels(self, keycode: int, group: KeyGroup) -> Iterator[tuple[int, Stroke]]:
        """Every level of a key that we can reach, with its symbol."""
        mask = group.type.mask
        if group.symbols and group.symbols[0]:
            yield 0, Stroke(keycode, watched=mask)
        for entry in group.type.entries:
            level, modifiers = entry.level, entry.modifiers
            if not 0 < level < len(group.symbols) or not group.symbols[level]:
                continue
            held = modifiers & ~self._num_lock
            if held & ~sum(self._level_keys):
                continue
            yield level, Stroke(keycode, held, modifiers & self._num_lock, mask)
