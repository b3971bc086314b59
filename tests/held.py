"""What an X server itself says of its buttons and keys, whoever pressed them.

Nothing here uses the code under test, so that it can contradict it.
"""

from contextlib import closing
from dataclasses import dataclass
from typing import Any

import Xlib.display
from Xlib import X

_BUTTON_MASKS = (X.Button1Mask, X.Button2Mask, X.Button3Mask, X.Button4Mask, X.Button5Mask)
_LOWEST_KEYCODE, _KEYCODES = 8, 248


@dataclass(frozen=True)
class Held:
    """The numbers of the buttons and the keycodes that are down; the server tells of 5 buttons."""

    buttons: frozenset[int] = frozenset()
    keycodes: frozenset[int] = frozenset()


NOTHING = Held()


def x_display(name: str) -> closing[Any]:
    """A connection to a display, without any code under test."""
    return closing(Xlib.display.Display(name))


def held_on(display: str) -> Held:
    """Ask a display what is down now."""
    with x_display(display) as connection:
        mask = connection.screen().root.query_pointer().mask
        keymap = connection.query_keymap()
        return Held(
            frozenset(number for number, each in enumerate(_BUTTON_MASKS, 1) if mask & each),
            frozenset(code for code in range(256) if keymap[code // 8] >> code % 8 & 1),
        )


def keyboard_map(display: str) -> list[tuple[int, ...]]:
    """The core keyboard map, without the empty columns that it keeps once they were needed."""
    with x_display(display) as connection:
        rows = connection.get_keyboard_mapping(_LOWEST_KEYCODE, _KEYCODES)
        return [tuple(keysym for keysym in row if keysym) for row in rows]


def keycode_of(display: str, keysym: int) -> int:
    """The key that makes a symbol on a display."""
    with x_display(display) as connection:
        return int(connection.keysym_to_keycode(keysym))
