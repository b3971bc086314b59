"""X's numbers for characters, and for the modifiers by which they are reached.

A character's keysym is its Latin-1 code, or an older number of its own where it has one, or
0x01000000 plus its code point ("X Window System Protocol", appendix A).
"""

from collections.abc import Mapping

from machine_client.desktop.keysyms import UNICODE, letter_pair

SHIFT, LOCK = 1 << 0, 1 << 1
"""The two modifiers whose meaning the X protocol itself fixes, as bits of a modifier mask."""

LEVEL_KEYS = frozenset({0xFFE1, 0xFFE2, 0xFE03, 0xFE11, 0xFF7E})
"""Both Shifts, the shifts to the third and fifth level, Mode_switch: held to reach a level."""


class CharacterKeysyms:
    """The keysyms that mean a character, the one that layouts use most first.

    ``symbols`` is pynput's table, by name, of keysyms and the characters they stand for.
    """

    def __init__(self, symbols: Mapping[str, tuple[int, str | None]]) -> None:
        self._older: dict[str, int] = {
            character: keysym
            for keysym, character in symbols.values()
            if character is not None and _is_plain_character(keysym)
        }

    def of(self, character: str) -> tuple[int, ...]:
        """All keysyms of a character, at least one."""
        code = ord(character)
        if code < 0x100:
            return (code,)
        older = self._older.get(character)
        return (UNICODE + code,) if older is None else (older, UNICODE + code)

    def pair(self, character: str) -> tuple[int, int]:
        """What a key should make without and with Shift so that the character is one of them.

        A letter shares its key with its other case; anything else is alone on its key.
        """
        lower, upper = letter_pair(character)
        return self.of(lower)[0], self.of(upper)[0]


def _is_plain_character(keysym: int) -> bool:
    """Whether a keysym is one of the older character sets: no dead key, no keypad, no Unicode."""
    return 0x100 <= keysym < 0xFD00
