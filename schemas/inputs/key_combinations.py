"""The key combination language: ``ctrl+a``, ``down down enter``, ``shift+é``, ``ctrl++``.

``+`` joins the keys of one chord and a single space separates chords, which are pressed one after
another.  A chord has any number of modifiers and at most one other key, and may be modifiers
alone.  A key is a name of `KEY_TABLE`, where case does not matter and ``-`` and ``_`` are alike,
or a single character, which stands for itself with its case: ``A`` is the character A, and
``ctrl+A`` holds ctrl and types A.  ``+`` itself is ``plus``, a chord that is only ``+``, or a
second ``+`` at a chord's end; the space bar is ``space``.

The whole text is checked before anything is pressed.
"""

import difflib
import itertools
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

MAX_COMBINATION_LENGTH = 4096
MAX_NAME_LENGTH = 40
"""No key has a longer name."""


@dataclass(frozen=True, slots=True)
class NamedKey:
    """A key that has a name.

    ``name`` is the canonical name, ``group`` a heading of the documentation.  Where ``character``
    is set, the name is another way to write that character.
    """

    name: str
    aliases: tuple[str, ...] = ()
    group: str = ""
    character: str | None = None
    is_modifier: bool = False


def _modifier(name: str, *aliases: str) -> tuple[NamedKey, NamedKey]:
    """A modifier's left key, which its bare name means, and its right key.

    Each spelling has the sides as ``ctrl_l``, ``ctrl_left``, ``left_ctrl``, and likewise right.
    """

    def sides(letter: str, side: str) -> tuple[str, ...]:
        spellings = (name, *aliases)
        return tuple(
            form
            for spelling in spellings
            for form in (f"{spelling}_{letter}", f"{spelling}_{side}", f"{side}_{spelling}")
        )

    right, *right_aliases = sides("r", "right")
    return (
        NamedKey(name, (*aliases, *sides("l", "left")), "Modifiers", is_modifier=True),
        NamedKey(right, tuple(right_aliases), "Modifiers", is_modifier=True),
    )


def _group(group: str, *rows: str) -> tuple[NamedKey, ...]:
    """Keys without a character; each row is the canonical name and its aliases."""
    names = (row.split() for row in rows)
    return tuple(NamedKey(name, tuple(aliases), group) for name, *aliases in names)


def _characters(*rows: str) -> tuple[NamedKey, ...]:
    """Names of characters; each row is the character, its canonical name and its aliases."""
    names = (row.split() for row in rows)
    return tuple(
        NamedKey(name, tuple(aliases), "Characters", character)
        for character, name, *aliases in names
    )


KEY_TABLE: tuple[NamedKey, ...] = (
    *_modifier("ctrl", "control"),
    *_modifier("alt", "option"),
    *_modifier("shift"),
    *_modifier("super", "win", "windows", "cmd", "command", "meta"),
    NamedKey("altgr", ("alt_gr", "iso_level3_shift"), "Modifiers", is_modifier=True),
    *_group(
        "Editing",
        "enter return",
        "esc escape",
        "tab",
        "backspace back_space",
        "delete del",
        "insert ins",
        "menu apps application context_menu",
    ),
    NamedKey("space", ("spacebar", "space_bar"), "Characters", " "),
    *_group(
        "Navigation",
        "up arrow_up up_arrow arrowup uparrow",
        "down arrow_down down_arrow arrowdown downarrow",
        "left arrow_left left_arrow arrowleft leftarrow",
        "right arrow_right right_arrow arrowright rightarrow",
        "home",
        "end",
        "page_up pageup pgup prior",
        "page_down pagedown pgdn pgdown next",
    ),
    *_group(
        "Locks and system",
        "caps_lock capslock",
        "num_lock numlock",
        "scroll_lock scrolllock",
        "print_screen printscreen print prtsc prtscr sysrq sys_req",
        "pause",
        "break",
        "help",
        "undo",
        "redo",
        "find",
        "cancel",
    ),
    *_group("Function keys", *(f"f{number}" for number in range(1, 25))),
    *_group(
        "Keypad",
        *(f"kp_{digit} keypad_{digit} numpad_{digit}" for digit in range(10)),
        "kp_add kp_plus keypad_add numpad_add",
        "kp_subtract kp_minus keypad_subtract numpad_subtract",
        "kp_multiply keypad_multiply numpad_multiply",
        "kp_divide keypad_divide numpad_divide",
        "kp_decimal keypad_decimal numpad_decimal",
        "kp_separator keypad_separator numpad_separator",
        "kp_equal keypad_equal numpad_equal",
        "kp_enter keypad_enter numpad_enter",
    ),
    *_group(
        "Media and browser",
        "volume_up media_volume_up audio_raise_volume xf86audioraisevolume",
        "volume_down media_volume_down audio_lower_volume xf86audiolowervolume",
        "volume_mute mute media_volume_mute audio_mute xf86audiomute",
        "media_play_pause play_pause media_play audio_play xf86audioplay",
        "media_next next_track audio_next xf86audionext",
        "media_previous previous_track media_prev audio_prev xf86audioprev",
        "media_stop audio_stop xf86audiostop",
        "browser_back xf86back",
        "browser_forward xf86forward",
        "browser_refresh xf86refresh xf86reload",
        "browser_stop xf86stop",
        "browser_search xf86search",
        "browser_favorites xf86favorites",
        "browser_home xf86homepage",
    ),
    *_characters(
        "+ plus",
        "- minus hyphen dash",
        "= equal equals",
        ", comma",
        ". period dot full_stop",
        "/ slash",
        "\\ backslash",
        "; semicolon",
        ": colon",
        "' apostrophe quote single_quote quoteright",
        '" quotedbl double_quote',
        "` grave backtick backquote quoteleft",
        "~ asciitilde tilde",
        "! exclam exclamation",
        "? question question_mark",
        "@ at",
        "# numbersign number_sign hash",
        "$ dollar",
        "% percent",
        "^ asciicircum circumflex caret",
        "& ampersand",
        "* asterisk star",
        "( parenleft left_parenthesis",
        ") parenright right_parenthesis",
        "[ bracketleft left_bracket",
        "] bracketright right_bracket",
        "{ braceleft left_brace",
        "} braceright right_brace",
        "< less less_than",
        "> greater greater_than",
        "_ underscore",
        "| bar pipe",
        "€ eurosign euro",
        "£ sterling pound",
        "§ section",
        "° degree",
    ),
)
"""Every name of the language, in the order in which documentation should show it.

Names follow what people know from xdotool, from X's keysym names and from browsers' key codes.
They are lower case with ``_`` here; the language takes any case, and ``-`` for ``_``.
"""


@dataclass(frozen=True, slots=True)
class Key:
    """One key: a named one, or whichever key makes a character.

    ``name`` is the canonical name of `KEY_TABLE`, or the character itself where ``is_character``.
    """

    name: str
    is_character: bool = False
    is_modifier: bool = False


@dataclass(frozen=True, slots=True)
class Chord:
    """Keys pressed together: the modifiers in the order written, then the other key, if any."""

    modifiers: tuple[Key, ...]
    key: Key | None

    @property
    def keys(self) -> tuple[Key, ...]:
        """All keys in the order in which they go down."""
        return self.modifiers if self.key is None else (*self.modifiers, self.key)


class KeyCombinationError(ValueError):
    """A text is not a key combination; ``str()`` is a sentence for a person.

    ``position`` is the 1-based place where it goes wrong.  The sentence repeats nothing of the
    text, which may be a password that was meant for ``keyboard/type``.
    """

    def __init__(self, message: str, position: int) -> None:
        super().__init__(message)
        self.position = position


def parse_combination(text: str) -> tuple[Chord, ...]:
    """Read a key combination.

    Raises KeyCombinationError at the first part that cannot be understood.
    """
    if not text:
        raise KeyCombinationError("The key combination is empty: name at least one key", 1)
    return tuple(_parse_chord(chord, position) for chord, position in _pieces(text, " "))


def _parse_chord(text: str, position: int) -> Chord:
    if not text:
        raise KeyCombinationError(
            f"There is no key at character {position}: separate chords by exactly one space,"
            " and write space for the space bar",
            position,
        )
    modifiers: list[Key] = []
    other: Key | None = None
    for part, place in _parts(text, position):
        key = _parse_key(part, place)
        if key in modifiers:
            raise KeyCombinationError(
                f"The modifier {key.name} at character {place} is already in its chord:"
                " name it once",
                place,
            )
        if key.is_modifier:
            modifiers.append(key)
        elif other is None:
            other = key
        else:
            raise KeyCombinationError(
                f"The key at character {place} is the second one in its chord that is not a"
                " modifier: a chord has at most one, and a space begins the next chord",
                place,
            )
    return Chord(tuple(modifiers), other)


def find_modifier(name: str) -> Key | None:
    """The modifier that is called so; None where there is none."""
    named = _BY_NAME.get(_normalized(name))
    return Key(named.name, is_modifier=True) if named is not None and named.is_modifier else None


def _parts(chord: str, position: int) -> Iterator[tuple[str, int]]:
    """Split a chord at its ``+``, a last one that means the character plus kept as a part."""
    if chord == "+":
        yield chord, position
    elif chord.endswith("++"):
        yield from _pieces(chord[:-2], "+", position)
        yield "+", position + len(chord) - 1
    else:
        yield from _pieces(chord, "+", position)


def _pieces(text: str, separator: str, position: int = 1) -> Iterator[tuple[str, int]]:
    """Yield what stands between the separators, each with its place in the whole text."""
    for piece in text.split(separator):
        yield piece, position
        position += len(piece) + 1


def _parse_key(part: str, position: int) -> Key:
    if not part:
        raise KeyCombinationError(
            f"A key is missing at character {position}, before or after a +:"
            " write plus for the + key",
            position,
        )
    if len(part) == 1:
        return _character_key(part, position)
    named = _BY_NAME.get(_normalized(part))
    if named is None:
        raise KeyCombinationError(_unknown_name(part, position), position)
    if named.character is not None:
        return Key(named.character, is_character=True)
    return Key(named.name, is_modifier=named.is_modifier)


def _character_key(character: str, position: int) -> Key:
    if unicodedata.category(character) in ("Cc", "Cs"):
        raise KeyCombinationError(
            f"Character {position} is a control code or half a character, not a key:"
            " use a name, such as enter, tab or esc",
            position,
        )
    return Key(character, is_character=True)


def _unknown_name(part: str, position: int) -> str:
    place = f"characters {position} to {position + len(part) - 1}"
    if _is_one_composed_character(part):
        return (
            f"There are several Unicode code points at {place}: a key is one code point, so use"
            " the composed form, or press its parts one by one"
        )
    close = difflib.get_close_matches(_normalized(part[:MAX_NAME_LENGTH]), _BY_NAME, n=1)
    hint = (
        f"did you mean {close[0]}?" if close else "join keys with +, and separate chords by a space"
    )
    return f"There is no key with the name at {place}: {hint}"


def _is_one_composed_character(part: str) -> bool:
    """Whether people see several code points as one: accents, joined emoji, flags, skin tones."""
    return all(
        unicodedata.category(character) in ("Mn", "Mc", "Me", "Cf", "Sk")
        or previous == "\u200d"
        or "\U0001f1e6" <= character <= "\U0001f1ff"
        for previous, character in itertools.pairwise(part)
    )


def _normalized(name: str) -> str:
    return name.lower().replace("-", "_")


def _index() -> dict[str, NamedKey]:
    index: dict[str, NamedKey] = {}
    for key in KEY_TABLE:
        for name in (key.name, *key.aliases):
            if index.setdefault(name, key) is not key:
                raise ValueError(f"two keys are called {name}")
    return index


_BY_NAME = _index()


def checked_combination(text: str) -> str:
    """The text, if it is understood; else a ``key_combination`` error, for pydantic."""
    try:
        parse_combination(text)
    except KeyCombinationError as error:
        raise PydanticCustomError(
            "key_combination",
            "{reason}",
            {"reason": str(error), "position": error.position},
        ) from None
    return text


KeyCombination = Annotated[
    str,
    Field(min_length=1, max_length=MAX_COMBINATION_LENGTH),
    AfterValidator(checked_combination),
]
"""A text that `parse_combination` understands; otherwise a ``key_combination`` error."""
