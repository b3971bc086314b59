"""Keysyms: the numbers for keys that X began with, and that others use as well.

The numbers are those of X.Org's ``keysymdef.h`` and ``XF86keysym.h``.
"""

from collections.abc import Mapping
from typing import Final

UNICODE: Final = 0x01000000
"""What a code point above Latin-1 is counted from."""

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


def letter_pair(character: str) -> tuple[str, str]:
    """What a key should make without and with Shift so that the character is one of them.

    A letter shares its key with its other case; anything else is alone on its key.
    """
    lower, upper = character.lower(), character.upper()
    is_pair = len(lower) == len(upper) == 1 and (upper.lower(), lower.upper()) == (lower, upper)
    if not is_pair or character not in (lower, upper):
        return character, character
    return lower, upper
