"""The keys of Windows by their names: virtual-key code, scan code, and whether that is extended.

The codes are those of Microsoft's "Virtual-Key Codes" and of scan code set 1.  A program may look
at either, so each event has both.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class WindowsKey:
    """One key; ``extended`` is that its scan code has E0 before it."""

    code: int
    scan: int
    extended: bool = False


def _key(code: int, scan: int) -> WindowsKey:
    return WindowsKey(code, scan & 0xFF, scan > 0xFF)


SHIFT: Final = _key(0xA0, 0x2A)
ALTGR: Final = _key(0xA5, 0xE038)

_FUNCTION_SCANS = (
    *range(0x3B, 0x45),
    *(0x57, 0x58),
    *range(0x64, 0x6F),
    0x76,
)
_KEYPAD_SCANS = (0x52, 0x4F, 0x50, 0x51, 0x4B, 0x4C, 0x4D, 0x47, 0x48, 0x49)

NAMED_KEYS: Mapping[str, WindowsKey] = {
    "ctrl": _key(0xA2, 0x1D),
    "ctrl_r": _key(0xA3, 0xE01D),
    "alt": _key(0xA4, 0x38),
    "alt_r": ALTGR,
    "shift": SHIFT,
    "shift_r": _key(0xA1, 0x36),
    "super": _key(0x5B, 0xE05B),
    "super_r": _key(0x5C, 0xE05C),
    "altgr": ALTGR,
    "enter": _key(0x0D, 0x1C),
    "esc": _key(0x1B, 0x01),
    "tab": _key(0x09, 0x0F),
    "backspace": _key(0x08, 0x0E),
    "delete": _key(0x2E, 0xE053),
    "insert": _key(0x2D, 0xE052),
    "menu": _key(0x5D, 0xE05D),
    "up": _key(0x26, 0xE048),
    "down": _key(0x28, 0xE050),
    "left": _key(0x25, 0xE04B),
    "right": _key(0x27, 0xE04D),
    "home": _key(0x24, 0xE047),
    "end": _key(0x23, 0xE04F),
    "page_up": _key(0x21, 0xE049),
    "page_down": _key(0x22, 0xE051),
    "caps_lock": _key(0x14, 0x3A),
    "num_lock": _key(0x90, 0xE045),
    "scroll_lock": _key(0x91, 0x46),
    "print_screen": _key(0x2C, 0xE037),
    "pause": _key(0x13, 0x45),
    "break": _key(0x03, 0xE046),
    "help": _key(0x2F, 0x63),
    **{f"f{number}": _key(0x6F + number, _FUNCTION_SCANS[number - 1]) for number in range(1, 25)},
    **{f"kp_{digit}": _key(0x60 + digit, scan) for digit, scan in enumerate(_KEYPAD_SCANS)},
    "kp_add": _key(0x6B, 0x4E),
    "kp_subtract": _key(0x6D, 0x4A),
    "kp_multiply": _key(0x6A, 0x37),
    "kp_divide": _key(0x6F, 0xE035),
    "kp_decimal": _key(0x6E, 0x53),
    "kp_separator": _key(0x6C, 0x7E),
    "kp_enter": _key(0x0D, 0xE01C),
    "volume_up": _key(0xAF, 0xE030),
    "volume_down": _key(0xAE, 0xE02E),
    "volume_mute": _key(0xAD, 0xE020),
    "media_play_pause": _key(0xB3, 0xE022),
    "media_next": _key(0xB0, 0xE019),
    "media_previous": _key(0xB1, 0xE010),
    "media_stop": _key(0xB2, 0xE024),
    "browser_back": _key(0xA6, 0xE06A),
    "browser_forward": _key(0xA7, 0xE069),
    "browser_refresh": _key(0xA8, 0xE067),
    "browser_stop": _key(0xA9, 0xE068),
    "browser_search": _key(0xAA, 0xE065),
    "browser_favorites": _key(0xAB, 0xE066),
    "browser_home": _key(0xAC, 0xE032),
}
"""Every named key that Windows has; of `schemas.inputs.key_combinations` it lacks five."""

MODIFIERS: Final = tuple(
    NAMED_KEYS[name]
    for name in ("ctrl", "ctrl_r", "alt", "alt_r", "shift", "shift_r", "super", "super_r")
)
"""What changes the meaning of other keys while it is down."""
