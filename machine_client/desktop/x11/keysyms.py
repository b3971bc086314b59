"""X's numbers for keys: keysyms of the named keys, and of characters.

The numbers are those of X.Org's ``keysymdef.h`` and ``XF86keysym.h``.  A character's keysym is its
Latin-1 code, or an older number of its own where it has one, or 0x01000000 plus its code point
("X Window System Protocol", appendix A).
"""

from collections.abc import Mapping

SHIFT, LOCK = 1 << 0, 1 << 1
"""The two modifiers whose meaning the X protocol itself fixes, as bits of a modifier mask."""

LEVEL_KEYS = frozenset({0xFFE1, 0xFFE2, 0xFE03, 0xFE11, 0xFF7E})
"""Both Shifts, the shifts to the third and fifth level, Mode_switch: held to reach a level."""

_UNICODE = 0x01000000

NAMED_KEYSYMS: Mapping[str, int] = {
    "ctrl": 0xFFE3,
    "ctrl_r": 0xFFE4,
    "alt": 0xFFE9,
    "alt_r": 0xFFEA,
    "shift": 0xFFE1,
    "shift_r": 0xFFE2,
    "super": 0xFFEB,
    "super_r": 0xFFEC,
    "altgr": 0xFE03,
    "enter": 0xFF0D,
    "esc": 0xFF1B,
    "tab": 0xFF09,
    "backspace": 0xFF08,
    "delete": 0xFFFF,
    "insert": 0xFF63,
    "menu": 0xFF67,
    "up": 0xFF52,
    "down": 0xFF54,
    "left": 0xFF51,
    "right": 0xFF53,
    "home": 0xFF50,
    "end": 0xFF57,
    "page_up": 0xFF55,
    "page_down": 0xFF56,
    "caps_lock": 0xFFE5,
    "num_lock": 0xFF7F,
    "scroll_lock": 0xFF14,
    "print_screen": 0xFF61,
    "pause": 0xFF13,
    "break": 0xFF6B,
    "help": 0xFF6A,
    "undo": 0xFF65,
    "redo": 0xFF66,
    "find": 0xFF68,
    "cancel": 0xFF69,
    **{f"f{number}": 0xFFBD + number for number in range(1, 25)},
    **{f"kp_{digit}": 0xFFB0 + digit for digit in range(10)},
    "kp_add": 0xFFAB,
    "kp_subtract": 0xFFAD,
    "kp_multiply": 0xFFAA,
    "kp_divide": 0xFFAF,
    "kp_decimal": 0xFFAE,
    "kp_separator": 0xFFAC,
    "kp_equal": 0xFFBD,
    "kp_enter": 0xFF8D,
    "volume_up": 0x1008FF13,
    "volume_down": 0x1008FF11,
    "volume_mute": 0x1008FF12,
    "media_play_pause": 0x1008FF14,
    "media_next": 0x1008FF17,
    "media_previous": 0x1008FF16,
    "media_stop": 0x1008FF15,
    "browser_back": 0x1008FF26,
    "browser_forward": 0x1008FF27,
    "browser_refresh": 0x1008FF29,
    "browser_stop": 0x1008FF28,
    "browser_search": 0x1008FF1B,
    "browser_favorites": 0x1008FF30,
    "browser_home": 0x1008FF18,
}
"""The keysym of every named key of `schemas.inputs.key_combinations` that is not a character."""


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
        return (_UNICODE + code,) if older is None else (older, _UNICODE + code)

    def pair(self, character: str) -> tuple[int, int]:
        """What a key should make without and with Shift so that the character is one of them.

        A letter shares its key with its other case; anything else is alone on its key.
        """
        lower, upper = character.lower(), character.upper()
        is_pair = len(lower) == len(upper) == 1 and (upper.lower(), lower.upper()) == (lower, upper)
        if not is_pair or character not in (lower, upper):
            lower = upper = character
        return self.of(lower)[0], self.of(upper)[0]


def _is_plain_character(keysym: int) -> bool:
    """Whether a keysym is one of the older character sets: no dead key, no keypad, no Unicode."""
    return 0x100 <= keysym < 0xFD00
