"""What the VNC server that QEMU has in it makes of keys, and no other does.

It looks at the lower 16 bits of a key's number alone, so that the full-width semicolon, which has
no other number than Unicode's, presses Escape.  And it hands its guest one event of a key after
another, and what comes quicker waits in a queue: it drops without a word what there is no room for
(the end of a long text, and a release in it), and what the mouse does overtakes it.
"""

import time
from collections.abc import Callable, Iterable

from machine_client.desktop.vnc.keyboard import number_of, refusal
from machine_client.desktop.vnc.keysyms import is_older
from schemas.inputs.key_combinations import Chord

KEY_EVENT_SECONDS = 0.01
"""How long QEMU waits after each event of a key, unless its ``key-delay-ms`` says another time."""

_UNICODE = range(0x01000000, 0x01010000)
_NAMED_KEYS = 0xFE00
"""Where the numbers of keys begin that make no character."""

_DROPPED = frozenset(
    {"break", "help", "undo", "redo", "find", "cancel", *(f"f{number}" for number in range(13, 25))}
)
"""Named keys that QEMU 7.2 finds no key for."""


class KeyQueue:
    """The events of keys that may be in QEMU's queue; ``confirm`` waits for an answer of QEMU's."""

    def __init__(self, confirm: Callable[[], None]) -> None:
        self._confirm = confirm
        self._most = 0

    def note(self) -> None:
        """One more was sent."""
        self._most += 1

    def drain(self) -> None:
        """Return when its guest has had all that QEMU has read.

        Whoever answers after that time has looked at the clock: one event more has left the queue.
        Waiting alone would not tell, where QEMU itself waits for a processor.
        """
        while self._most:
            self._most -= 1
            time.sleep(KEY_EVENT_SECONDS)
            self._confirm()


def check_keys(chords: Iterable[Chord]) -> None:
    """Raise Refusal for a key that would be dropped, or taken for another one."""
    for chord in chords:
        for key in chord.keys:
            if key.name in _DROPPED:
                raise refusal(key, f"QEMU has no key {key.name}")
            if _is_taken_for_another(number_of(key)):
                raise refusal(key, f"QEMU would take {key.name} for another key")


def _is_taken_for_another(number: int) -> bool:
    if number <= 0xFFFF:
        return False
    seen = number & 0xFFFF
    return number not in _UNICODE or seen >= _NAMED_KEYS or is_older(seen)
