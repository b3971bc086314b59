"""Which keys type characters, which may be a part of a secret, and which only do something."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from schemas.inputs.key_combinations import Chord, Key, parse_combination

_SHIFTS: Final = frozenset({"shift", "shift_r"})
_TYPING_MODIFIERS: Final = _SHIFTS | {"altgr"}
"""With these a key still types a character; with others it does something."""

_KEYPAD: Final = {
    **{f"kp_{digit}": str(digit) for digit in range(10)},
    "kp_add": "+",
    "kp_subtract": "-",
    "kp_multiply": "*",
    "kp_divide": "/",
    "kp_decimal": ".",
    "kp_separator": ",",
    "kp_equal": "=",
}

_ALT: Final = frozenset({"alt", "alt_r"})

_NAMES: Final = {"+": "plus", " ": "space"}
"""Characters that have a meaning of their own between keys."""


@dataclass(frozen=True, slots=True)
class Typed:
    """Keys that type a text."""

    text: str


@dataclass(frozen=True, slots=True)
class Pressed:
    """Keys that type nothing, as a combination."""

    keys: str


def character_of(key: Key | None, modifiers: Iterable[str]) -> str | None:
    """The character that a key types while these modifiers are held; None where it types none.

    With Alt, digits of the keypad spell a character.
    """
    if key is None:
        return None
    held = frozenset(modifiers)
    keypad = _KEYPAD.get(key.name) if not key.is_character else None
    if keypad is not None and held <= _TYPING_MODIFIERS | _ALT:
        return keypad
    return key.name if key.is_character and held <= _TYPING_MODIFIERS else None


def combination(modifiers: Iterable[str], key: Key) -> str:
    """The combination of a key with modifiers that are held."""
    return "+".join((*modifiers, _NAMES.get(key.name, key.name)))


def types_something(text: str) -> bool:
    """Whether a combination types any character."""
    return any(_typed(chord) is not None for chord in parse_combination(text))


def pastes(text: str) -> bool:
    """Whether a combination pastes something, by the keys that most programs have for it."""
    return any(map(_pastes, parse_combination(text)))


def characters(text: str) -> str:
    """All that a combination types, without what comes between."""
    return "".join(each.text for each in strokes(text) if isinstance(each, Typed))


def strokes(text: str) -> Iterator[Typed | Pressed]:
    """A combination as what it types, and the combinations between that."""
    typed, pressed = "", ""
    for chord, written in zip(parse_combination(text), text.split(" "), strict=True):
        character = _typed(chord)
        if character is None:
            if typed:
                yield Typed(typed)
            typed, pressed = "", f"{pressed} {written}".lstrip()
        else:
            if pressed:
                yield Pressed(pressed)
            typed, pressed = typed + character, ""
    if typed:
        yield Typed(typed)
    if pressed:
        yield Pressed(pressed)


def _pastes(chord: Chord) -> bool:
    if chord.key is None:
        return False
    held = {modifier.name for modifier in chord.modifiers}
    if chord.key.name == "insert":
        return bool(held & _SHIFTS)
    return chord.key.name.lower() == "v" and not held <= _TYPING_MODIFIERS


def _typed(chord: Chord) -> str | None:
    return character_of(chord.key, (modifier.name for modifier in chord.modifiers))
