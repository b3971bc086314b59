"""Keys as models name them, as Farhand presses them."""

import re
from collections.abc import Iterable

_MODIFIER = re.compile(
    r"((left|right)[_-])?(ctrl|control|alt|option|shift|super|win|windows|cmd|command|meta"
    r"|altgr|alt_gr)([_-](l|r|left|right))?"
)
_NAMES = {" ": "space", "+": "plus", "controlormeta": "ctrl"}
"""Those that Farhand calls otherwise; docs/reference/keys.md has all that it knows."""


def chord(keys: Iterable[str]) -> str:
    """Keys that are pressed together, such as ``["CTRL", "A"]``.

    Of several that are no modifiers each is pressed after the one before, with the same modifiers.
    """
    held: list[str] = []
    pressed: list[str] = []
    for key in keys:
        name = _NAMES.get(key.lower(), key)
        (held if _MODIFIER.fullmatch(name.lower()) else pressed).append(name)
    # Vendors write Ctrl+A for what nobody means with Shift.
    small = [name.lower() if held and len(name) == 1 else name for name in pressed]
    chords = ["+".join([*held, name]) for name in small] or ["+".join(held)]
    return " ".join(chords)


def combination(text: str) -> str:
    """A combination as text, such as ``Control+A``, or several, one after another."""
    chords = text.split() or [text]
    return " ".join(chord(_keys_of(each)) for each in chords)


def modifiers(keys: str | Iterable[str] | None) -> tuple[str, ...]:
    """What is held during a click, as a list or as ``ctrl+shift``."""
    if not keys:
        return ()
    return tuple(_keys_of(keys) if isinstance(keys, str) else keys)


def _keys_of(text: str) -> list[str]:
    # A plus at the end is the key itself, as in ctrl++.
    return re.split(r"\+(?!$)", text)
