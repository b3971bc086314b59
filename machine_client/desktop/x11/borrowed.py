"""Unused keys of the keyboard, lent to characters that its layout lacks.

A program learns of a changed key by an event, in order with the key's own press, but then asks the
server for the map as it is at that moment.  A slow program would therefore see a wrong symbol if
the key were taken back, or lent to another character, right after its press.  So a key stays lent,
which also makes the same character fast the next time; the one unused for longest is lent anew
only when no key is free, and neither that nor giving back happens until `_SETTLING_SECONDS` have
passed since its last press.  A program that takes even longer to read a press can still see the
wrong symbol; X11 offers no way to know.
"""

import time
from collections.abc import Collection, Mapping

from machine_client.desktop.x11.holding import Holding
from machine_client.desktop.x11.xkb import KeyDescription

_SETTLING_SECONDS = 0.15


class BorrowedKeys:
    """The keycodes that are lent, what each makes without and with Shift, and its last use.

    It begins with what a client that died has lent, as the server's record tells.
    """

    def __init__(self, holding: Holding) -> None:
        self._holding = holding
        self._lent = holding.lent
        self._last_used: dict[int, float] = {}
        for keycode in self._lent:
            self.note_use(keycode)

    def __contains__(self, keycode: int) -> bool:
        return keycode in self._lent

    def available(self, unused: Collection[int], busy: Collection[int]) -> int:
        """How many keys could be lent at once, those that are down aside."""
        return len([keycode for keycode in {*unused, *self._lent} if keycode not in busy])

    def lend(self, pair: tuple[int, int], unused: Collection[int], busy: Collection[int]) -> bool:
        """Make some key produce a pair of keysyms; whether there was one."""
        keycode = next(iter(unused), None)
        if keycode is None:
            candidates = [keycode for keycode in self._lent if keycode not in busy]
            if not candidates:
                return False
            keycode = min(candidates, key=self._last_used.__getitem__)
            self._settle(keycode)
        self._lent[keycode] = pair
        self._holding.change_key(keycode, *pair)
        self.note_use(keycode)
        return True

    def note_use(self, keycode: int) -> None:
        """Remember that a lent key was pressed just now."""
        self._last_used[keycode] = time.monotonic()

    def forget_overwritten(self, keys: Mapping[int, KeyDescription]) -> None:
        """Give up the keys that somebody else has mapped since, such as by another layout."""
        for keycode, (without_shift, _) in list(self._lent.items()):
            key = keys.get(keycode)
            if key is None or not key.groups or key.groups[0].symbols[:1] != (without_shift,):
                del self._lent[keycode], self._last_used[keycode]

    def give_back(self) -> None:
        """Make every lent key produce nothing again."""
        for keycode in list(self._lent):
            self._settle(keycode)
            self._holding.change_key(keycode, 0, 0)
            del self._lent[keycode], self._last_used[keycode]

    def _settle(self, keycode: int) -> None:
        time.sleep(max(0.0, self._last_used[keycode] + _SETTLING_SECONDS - time.monotonic()))
