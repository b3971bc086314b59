"""Texts of any characters, drawn from a seed."""

import random

_RANGES = (
    *((0x20, 0x7E), (0x01, 0x1F), (0x7F, 0x9F), (0xA0, 0x24F), (0x300, 0x36F), (0x590, 0x6FF)),
    *((0x2000, 0x206F), (0x4E00, 0x9FFF), (0xAC00, 0xD7A3), (0xE000, 0xF8FF), (0xFFF0, 0xFFFF)),
    *((0x1F300, 0x1FAFF), (0x1, 0xD7FF), (0xE000, 0xFFFF), (0x10000, 0x10FFFF)),
)
"""Of which characters there are: every one but halves of surrogate pairs and U+0000."""


def any_text(draw: random.Random, longest: int = 400) -> str:
    """A text of up to so many characters, of a few kinds, or of all."""
    kinds = draw.sample(_RANGES, draw.randint(1, len(_RANGES)))
    length = draw.choice((0, 1, 2, draw.randint(0, longest), longest))
    return "".join(chr(draw.randint(*draw.choice(kinds))) for _ in range(length))
