"""The number that means a character to a VNC server, and when Shift goes with it.

Servers turn a keysym into a key of their own layout.  Most know the older numbers of the character
sets that keyboards had before Unicode, and many know no others, so these come first.
"""

import functools
from collections.abc import Iterator, Mapping

_OLDER_SETS = (
    *((0x100, "iso8859-2", 0xA1, 0xFF), (0x200, "iso8859-3", 0xA1, 0xFE)),
    *((0x300, "iso8859-4", 0xA2, 0xFE), (0x400, "shift_jis", 0xA1, 0xDF)),
    *((0x500, "iso8859-6", 0xAC, 0xF2), (0x600, "koi8-r", 0xC0, 0xFF)),
    *((0xC00, "iso8859-8", 0xE0, 0xFA), (0xD00, "tis-620", 0xA1, 0xF9)),
    # Greek letters without accents, which have places of their own.
    *((0x700, "iso8859-7", 0xC1, 0xD9), (0x700, "iso8859-7", 0xE1, 0xF9)),
)
"""Sets whose keysyms are a number and a character's byte: number, name, first and last byte."""

_ALONE: Mapping[str, int] = {
    "Ё": 0x6B3,
    "ё": 0x6A3,
    "€": 0x20AC,
    "Œ": 0x13BC,
    "œ": 0x13BD,
    "Ÿ": 0x13BE,
    "Ά": 0x7A1,
    "Έ": 0x7A2,
    "Ή": 0x7A3,
    "Ί": 0x7A4,
    "Ό": 0x7A7,
    "Ύ": 0x7A8,
    "Ώ": 0x7AB,
    "ά": 0x7B1,
    "έ": 0x7B2,
    "ή": 0x7B3,
    "ί": 0x7B4,
    "ό": 0x7B7,
    "ύ": 0x7B8,
    "ώ": 0x7BB,
    "Є": 0x6B4,
    "\u0406": 0x6B6,
    "Ї": 0x6B7,
    "Ґ": 0x6BD,
    "Ў": 0x6BE,
    "№": 0x6B0,
    "є": 0x6A4,
    "\u0456": 0x6A6,
    "ї": 0x6A7,
    "ґ": 0x6AD,
    "ў": 0x6AE,
}

_UNICODE = 0x01000000

_SHIFTED = dict(zip("1234567890-=[]\\;',./`", '!@#$%^&*()_+{}|:"<>?~', strict=True))
"""What Shift makes of a key on the layout that most servers go by."""
_NEEDS_SHIFT = frozenset(_SHIFTED.values())


def keysym_of(character: str) -> int:
    """A character's number."""
    code = ord(character)
    if 0x20 <= code < 0x7F or 0xA0 <= code < 0x100:
        return code
    return _older_keysyms().get(character, _UNICODE + code)


def needs_shift(character: str) -> bool:
    """Whether a person would hold Shift for it: a capital, or what is above another sign.

    A server that goes by symbols alone puts up with it, one that goes by keys needs it.
    """
    lower = character.lower()
    return character in _NEEDS_SHIFT or (lower != character and len(lower) == 1)


def with_shift(character: str) -> str:
    """What a key becomes while Shift is held."""
    upper = character.upper()
    return _SHIFTED.get(character, upper if len(upper) == 1 else character)


@functools.cache
def _older_keysyms() -> Mapping[str, int]:
    found: dict[str, int] = {}
    for character, keysym in _of_sets():
        # What several sets have is known by the number of the first.
        found.setdefault(character, keysym)
    return {**found, **_ALONE}


def _of_sets() -> Iterator[tuple[str, int]]:
    for base, name, first, last in _OLDER_SETS:
        for byte in range(first, last + 1):
            character = bytes([byte]).decode(name, "ignore")
            if len(character) == 1 and ord(character) > 0xFF:
                yield character, base + byte
