"""The keyboard that Farhand has on Wayland: an ordinary one, with places for any other character.

A Wayland client brings a keymap of its own, so what is typed depends on nobody's layout.  This one
is a US keyboard whose keys have the kernel's usual numbers, which programs know that look at keys
and not at symbols.  The numbers that no such keyboard has are lent to characters that are not on
it, and the compositor is told of the new keymap in order with the keys themselves.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from machine_client.desktop.keysyms import NAMED_KEYSYMS, UNICODE
from schemas.inputs.key_combinations import Key

SHIFT, LOCK, CTRL, ALT, NUM, SUPER, LEVEL3 = (1 << bit for bit in (0, 1, 2, 3, 4, 6, 7))
"""The modifiers, as bits of a mask: Mod1 is Alt, Mod2 Num Lock, Mod4 Super and Mod5 AltGr."""

SHIFT_CODE: Final = 42
_FROM_KERNEL: Final = 8
"""What a number in a keymap is above the kernel's."""
_HIGHEST: Final = 247

_ROWS: Final[Mapping[int, str]] = {
    2: "1!2@3#4$5%6^7&8*9(0)-_=+",
    16: "qQwWeErRtTyYuUiIoOpP[{]}",
    30: "aAsSdDfFgGhHjJkKlL;:'\"`~",
    43: "\\|zZxXcCvVbBnNmM,<.>/?",
    57: "  ",
}
"""The characters of the keys from a number on, each without and with Shift."""

_NAMED: Final[Mapping[str, int]] = {
    "esc": 1,
    "backspace": 14,
    "tab": 15,
    "enter": 28,
    "ctrl": 29,
    "shift": SHIFT_CODE,
    "shift_r": 54,
    "kp_multiply": 55,
    "alt": 56,
    "caps_lock": 58,
    **{f"f{number}": 58 + number for number in range(1, 11)},
    "num_lock": 69,
    "scroll_lock": 70,
    "kp_7": 71,
    "kp_8": 72,
    "kp_9": 73,
    "kp_subtract": 74,
    "kp_4": 75,
    "kp_5": 76,
    "kp_6": 77,
    "kp_add": 78,
    "kp_1": 79,
    "kp_2": 80,
    "kp_3": 81,
    "kp_0": 82,
    "kp_decimal": 83,
    "altgr": 84,
    "f11": 87,
    "f12": 88,
    "kp_enter": 96,
    "ctrl_r": 97,
    "kp_divide": 98,
    "print_screen": 99,
    "alt_r": 100,
    "home": 102,
    "up": 103,
    "page_up": 104,
    "left": 105,
    "right": 106,
    "end": 107,
    "down": 108,
    "page_down": 109,
    "insert": 110,
    "delete": 111,
    "volume_mute": 113,
    "volume_down": 114,
    "volume_up": 115,
    "kp_equal": 117,
    "pause": 119,
    "kp_separator": 121,
    "super": 125,
    "super_r": 126,
    "menu": 127,
    "browser_stop": 128,
    "undo": 131,
    "find": 136,
    "help": 138,
    "browser_favorites": 156,
    "browser_back": 158,
    "browser_forward": 159,
    "media_next": 163,
    "media_play_pause": 164,
    "media_previous": 165,
    "media_stop": 166,
    "browser_home": 172,
    "browser_refresh": 173,
    "redo": 182,
    **{f"f{number}": 170 + number for number in range(13, 25)},
    # A keyboard has it on another key, with Ctrl; 195 is nobody's.
    "break": 195,
    "browser_search": 217,
    "cancel": 223,
}
"""The number of each key that has a name and no character."""

_MODIFIERS: Final[Mapping[str, int]] = {
    "shift": SHIFT,
    "shift_r": SHIFT,
    "ctrl": CTRL,
    "ctrl_r": CTRL,
    "alt": ALT,
    "alt_r": ALT,
    "super": SUPER,
    "super_r": SUPER,
    "altgr": LEVEL3,
}
_LOCKS: Final[Mapping[str, int]] = {"caps_lock": LOCK, "num_lock": NUM}
_REAL_NAMES: Final[Mapping[int, str]] = {
    SHIFT: "Shift",
    LOCK: "Lock",
    CTRL: "Control",
    ALT: "Mod1",
    NUM: "Mod2",
    SUPER: "Mod4",
    LEVEL3: "Mod5",
}
_BACK_TAB: Final = 0xFE20

_NEVER_LENT: Final = frozenset({116, 142, 143, 205, 240})
"""Power, sleep, wake-up, suspend, and "unknown", at whose numbers some programs look."""


@dataclass(frozen=True, slots=True)
class Stroke:
    """A key by the kernel's number, and whether Shift must be held for its symbol."""

    code: int
    shifted: bool = False


HELD_BY: Final[Mapping[int, int]] = {_NAMED[name]: bit for name, bit in _MODIFIERS.items()}
"""The modifier that is in force while a key is held."""

LOCKED_BY: Final[Mapping[int, int]] = {_NAMED[name]: bit for name, bit in _LOCKS.items()}
"""The modifier that a key locks and unlocks."""


def _fixed_characters() -> dict[str, Stroke]:
    strokes: dict[str, Stroke] = {}
    for first, row in _ROWS.items():
        for place, character in enumerate(row):
            strokes.setdefault(character, Stroke(first + place // 2, bool(place % 2)))
    return strokes


_CHARACTERS: Final = _fixed_characters()
_TAKEN: Final = {stroke.code for stroke in _CHARACTERS.values()} | {*_NAMED.values()}

LENDABLE: Final = tuple(
    code for code in range(_HIGHEST, 0, -1) if code not in _TAKEN and code not in _NEVER_LENT
)
"""The numbers that are lent, those furthest from real keys first."""


def fixed_stroke(key: Key) -> Stroke | None:
    """How a key is pressed that is on every keyboard; None where it must be lent a place."""
    return _CHARACTERS.get(key.name) if key.is_character else Stroke(_NAMED[key.name])


def keysym(character: str) -> int:
    """The number of a character's symbol."""
    code = ord(character)
    return code if code < 0x100 else UNICODE + code


def keymap_text(lent: Mapping[int, tuple[str, str]]) -> bytes:
    """The keymap with what is ``lent``: characters without and with Shift, by the key's number."""
    keys = "".join(_character_key(code, pair) for code, pair in lent.items())
    return f"{_before_lent()}{keys}{_AFTER_LENT}".encode() + b"\0"


@cache
def _before_lent() -> str:
    codes = "".join(f"<{_name(code)}>={code + _FROM_KERNEL};" for code in range(1, _HIGHEST + 1))
    return f"{_KEYCODES % codes}{_TYPES}{_COMPATIBILITY}{_SYMBOLS}{''.join(_fixed_keys())}"


def _fixed_keys() -> Iterable[str]:
    for first, row in _ROWS.items():
        for place in range(0, len(row), 2):
            yield _character_key(first + place // 2, (row[place], row[place + 1]))
    for name, code in _NAMED.items():
        symbol = NAMED_KEYSYMS[name]
        shifted = _BACK_TAB if name == "tab" else symbol
        yield _key(code, (symbol, shifted), is_letter=False)
    for name, bit in {**_MODIFIERS, **_LOCKS}.items():
        yield f"modifier_map {_REAL_NAMES[bit]} {{<{_name(_NAMED[name])}>}};\n"


def _key(code: int, symbols: tuple[int, int], *, is_letter: bool) -> str:
    first, shifted = symbols
    if first == shifted:
        return f'key <{_name(code)}> {{type="ONE_LEVEL",symbols[Group1]=[{first:#x}]}};\n'
    kind = "ALPHABETIC" if is_letter else "TWO_LEVEL"
    both = f"[{first:#x},{shifted:#x}]"
    return f'key <{_name(code)}> {{type="{kind}",symbols[Group1]={both}}};\n'


def _character_key(code: int, pair: tuple[str, str]) -> str:
    first, shifted = pair
    return _key(code, (keysym(first), keysym(shifted)), is_letter=first.upper() == shifted)


def _name(code: int) -> str:
    # Four characters at most: Xwayland's programs have no room for more.
    return f"K{code + _FROM_KERNEL}"


_KEYCODES: Final = 'xkb_keymap {\nxkb_keycodes "farhand" {minimum=8;maximum=255;%s};\n'

_TYPES: Final = """xkb_types "farhand" {
virtual_modifiers NumLock,Alt,LevelThree,Super;
type "ONE_LEVEL" {modifiers=none;level_name[Level1]="Any";};
type "TWO_LEVEL" {modifiers=Shift;map[Shift]=Level2;
level_name[Level1]="Base";level_name[Level2]="Shift";};
type "ALPHABETIC" {modifiers=Shift+Lock;map[Shift]=Level2;map[Lock]=Level2;
level_name[Level1]="Base";level_name[Level2]="Caps";};
type "KEYPAD" {modifiers=Shift+NumLock;map[Shift]=Level2;map[NumLock]=Level2;
level_name[Level1]="Base";level_name[Level2]="Number";};
};
"""

_COMPATIBILITY: Final = """xkb_compatibility "farhand" {
virtual_modifiers NumLock,Alt,LevelThree,Super;
interpret.useModMapMods=AnyLevel;
interpret.repeat=False;
interpret Alt_L+AnyOf(all) {virtualModifier=Alt;action=SetMods(modifiers=modMapMods,clearLocks);};
interpret Alt_R+AnyOf(all) {virtualModifier=Alt;action=SetMods(modifiers=modMapMods,clearLocks);};
interpret Super_L+AnyOf(all)
{virtualModifier=Super;action=SetMods(modifiers=modMapMods,clearLocks);};
interpret Super_R+AnyOf(all)
{virtualModifier=Super;action=SetMods(modifiers=modMapMods,clearLocks);};
interpret ISO_Level3_Shift+AnyOf(all)
{virtualModifier=LevelThree;action=SetMods(modifiers=modMapMods,clearLocks);};
interpret Num_Lock+AnyOf(all) {virtualModifier=NumLock;action=LockMods(modifiers=modMapMods);};
interpret Caps_Lock+AnyOf(all) {action=LockMods(modifiers=Lock);};
interpret Any+AnyOf(all) {action=SetMods(modifiers=modMapMods,clearLocks);};
};
"""

_SYMBOLS: Final = 'xkb_symbols "farhand" {\nname[Group1]="Farhand";\n'
_AFTER_LENT: Final = "};\n};\n"
