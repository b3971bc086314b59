"""The number that means a character to a VNC server, and when Shift goes with it.

Servers turn a keysym into a key of their own layout.  Most know the older numbers of the character
sets that keyboards had before Unicode, and many know no others, so these come first.
"""

import functools
import unicodedata
from collections.abc import Iterator, Mapping

_OLDER_SETS = (
    *((0x100, "iso8859-2", 0xA1, 0xFF), (0x200, "iso8859-3", 0xA1, 0xFE)),
    *((0x300, "iso8859-4", 0xA2, 0xFE), (0x400, "shift_jis", 0xA1, 0xDD)),
    *((0x500, "iso8859-6", 0xAC, 0xF2), (0x600, "koi8-r", 0xC0, 0xFF)),
    *((0x700, "iso8859-7", 0xC1, 0xD1), (0x700, "iso8859-7", 0xD4, 0xD9)),
    *((0x700, "iso8859-7", 0xE1, 0xF1), (0x700, "iso8859-7", 0xF4, 0xF9)),
    *((0xC00, "iso8859-8", 0xE0, 0xFA), (0xD00, "tis-620", 0xA1, 0xED)),
    (0xD00, "tis-620", 0xF0, 0xF9),
)
"""Sets whose keysyms are a number and a character's byte: number, name, first and last byte."""

_ROWS = (
    (
        0x6A1,
        "\u0452\u0453\u0451\u0454\u0455\u0456\u0457\u0458\u0459\u045a\u045b\u045c\u0491\u045e\u045f",
    ),
    (
        0x6B1,
        "\u0402\u0403\u0401\u0404\u0405\u0406\u0407\u0408\u0409\u040a\u040b\u040c\u0490\u040e\u040f",
    ),
    *((0x7A1, "\u0386\u0388\u0389\u038a\u03aa"), (0x7A7, "\u038c\u038e\u03ab")),
    *((0x7AB, "\u038f"), (0x7B1, "\u03ac\u03ad\u03ae\u03af\u03ca\u0390")),
    *((0x7B7, "\u03cc\u03cd\u03cb\u03b0\u03ce"), (0x7D2, "\u03a3"), (0x7F2, "\u03c3\u03c2")),
    *((0x13BC, "\u0152\u0153\u0178"), (0x20AC, "€")),
)
"""Keysyms that follow one another, and the characters of the first and those after it."""

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


def is_older(number: int) -> bool:
    """Whether it is the number of a character that had one before Unicode."""
    return number < 0x100 or number in _older_numbers()


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
    for first, row in _ROWS:
        found |= {character: first + place for place, character in enumerate(row)}
    return found


@functools.cache
def _older_numbers() -> frozenset[int]:
    return frozenset(_older_keysyms().values())


def _of_sets() -> Iterator[tuple[str, int]]:
    for base, name, first, last in _OLDER_SETS:
        for byte in range(first, last + 1):
            character = bytes([byte]).decode(name, "ignore")
            if base == 0x400:
                # Kana had half the width in that set, and are written in full now.
                character = unicodedata.normalize("NFKC", character)
            if len(character) == 1 and ord(character) > 0xFF:
                yield character, base + byte
