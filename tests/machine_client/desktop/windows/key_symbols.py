"""The names of keys by what pynput calls Windows' codes; the code under test has its own."""

import functools
from collections.abc import Mapping

_SYMBOLS = {
    "ctrl": "LCONTROL",
    "ctrl_r": "RCONTROL",
    "alt": "LMENU",
    "alt_r": "RMENU",
    "altgr": "RMENU",
    "shift": "LSHIFT",
    "shift_r": "RSHIFT",
    "super": "LWIN",
    "super_r": "RWIN",
    "enter": "RETURN",
    "esc": "ESCAPE",
    "tab": "TAB",
    "backspace": "BACK",
    "delete": "DELETE",
    "insert": "INSERT",
    "menu": "APPS",
    "up": "UP",
    "down": "DOWN",
    "left": "LEFT",
    "right": "RIGHT",
    "home": "HOME",
    "end": "END",
    "page_up": "PRIOR",
    "page_down": "NEXT",
    "caps_lock": "CAPITAL",
    "num_lock": "NUMLOCK",
    "scroll_lock": "SCROLL",
    "print_screen": "SNAPSHOT",
    "pause": "PAUSE",
    "break": "CANCEL",
    "help": "HELP",
    "kp_add": "ADD",
    "kp_subtract": "SUBTRACT",
    "kp_multiply": "MULTIPLY",
    "kp_divide": "DIVIDE",
    "kp_decimal": "DECIMAL",
    "kp_separator": "SEPARATOR",
    "volume_up": "VOLUME_UP",
    "volume_down": "VOLUME_DOWN",
    "volume_mute": "VOLUME_MUTE",
    "media_play_pause": "MEDIA_PLAY_PAUSE",
    "media_next": "MEDIA_NEXT_TRACK",
    "media_previous": "MEDIA_PREV_TRACK",
    "media_stop": "MEDIA_STOP",
    "browser_back": "BROWSER_BACK",
    "browser_forward": "BROWSER_FORWARD",
    "browser_refresh": "BROWSER_REFRESH",
    "browser_stop": "BROWSER_STOP",
    "browser_search": "BROWSER_SEARCH",
    "browser_favorites": "BROWSER_FAVORITES",
    "browser_home": "BROWSER_HOME",
    **{f"f{number}": f"F{number}" for number in range(1, 25)},
    **{f"kp_{digit}": f"NUMPAD{digit}" for digit in range(10)},
}

LACKING = frozenset({"undo", "redo", "find", "cancel", "kp_equal"})
"""The names that Windows has no key for."""

_EXTENDED_ALONE = {0x0D: "kp_enter"}
"""What another name is for where its scan code is extended."""
_PACKET, _SPACE = 0xE7, 0x20


@functools.cache
def _codes() -> Mapping[int, frozenset[str]]:
    # Imported late: on Linux it wants a display.
    from pynput._util import win32_vks  # noqa: PLC0415

    found: dict[int, set[str]] = {_SPACE: {" "}}
    for name, symbol in _SYMBOLS.items():
        found.setdefault(int(getattr(win32_vks, symbol)), set()).add(name)
    for letter in "abcdefghijklmnopqrstuvwxyz":
        found[ord(letter.upper())] = {letter, letter.upper()}
    for digit in "0123456789":
        found[ord(digit)] = {digit}
    return {code: frozenset(names) for code, names in found.items()}


def names_of(code: int, scan: int = 0, *, extended: bool = False) -> frozenset[str]:
    """All names of a key; one that only carries a piece of a character is called like that."""
    if code == _PACKET:
        return frozenset({chr(scan)})
    if extended and code in _EXTENDED_ALONE:
        return frozenset({_EXTENDED_ALONE[code]})
    return _codes().get(code, frozenset({str(code)}))
