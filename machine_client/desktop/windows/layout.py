"""Which key of the keyboard layout makes a character, as the window in front has it."""

from dataclasses import dataclass
from typing import Final

from machine_client.desktop.windows import api
from machine_client.desktop.windows.keys import ALTGR, SHIFT, WindowsKey

_TO_SCAN_EX: Final = 4  # MAPVK_VK_TO_VSC_EX
_CAPS_LOCK: Final = 0x14
_SHIFTED, _CTRL_AND_ALT = 1, 6


@dataclass(frozen=True, slots=True)
class Stroke:
    """A key, and those that must be down for it to make the character."""

    key: WindowsKey
    held: tuple[WindowsKey, ...] = ()


def stroke_of(character: str) -> Stroke | None:
    """The stroke for a character; None where the layout has none."""
    if ord(character) > 0xFFFF:
        return None
    layout = api.get_keyboard_layout(_thread_in_front())
    found = api.vk_key_scan(character, layout)
    code, state = found & 0xFF, found >> 8 & 0xFF
    if found == -1 or state & ~_SHIFTED not in (0, _CTRL_AND_ALT):
        return None
    scan = api.map_virtual_key(code, _TO_SCAN_EX, layout)
    held = (*((SHIFT,) if state & _SHIFTED else ()), *((ALTGR,) if state & _CTRL_AND_ALT else ()))
    return Stroke(WindowsKey(code, scan & 0xFF, scan > 0xFF), held)


def locks_capitals() -> bool:
    """Whether Caps Lock is on, which turns letters into others."""
    return bool(api.get_key_state(_CAPS_LOCK) & 1)


def _thread_in_front() -> int:
    window = api.get_foreground_window()
    return int(api.get_window_thread_process_id(window, None)) if window else 0
