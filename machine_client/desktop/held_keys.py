"""The keys that we hold on a keyboard whose keys have codes, and what each of them is down on."""

from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import Protocol

from schemas.inputs.key_combinations import Chord, Key


class KeyPresser(Protocol):
    """A keyboard by the codes of its keys."""

    def press_key(self, code: int) -> None:
        """Press a key that is up."""

    def press_key_again(self, code: int) -> None:
        """Have a key that is down go up and down."""

    def release_key(self, code: int) -> None:
        """Release a key that is down."""


class HeldKeys:
    """Which keys we hold; one code can be down for several of them, and is pressed once then.

    ``holds`` says which modifiers a code is, as bits; 0 is none.
    """

    def __init__(self, presser: KeyPresser, holds: Callable[[int], int]) -> None:
        self._presser = presser
        self._holds = holds
        self._held: dict[Key, list[int]] = {}
        self.down: Counter[int] = Counter()
        """For how many keys each code is down."""

    def __contains__(self, key: Key) -> bool:
        return key in self._held

    def fresh(self, keys: Iterable[Key]) -> list[Key]:
        """Those of the keys that we do not hold yet, each once."""
        return [key for key in dict.fromkeys(keys) if key not in self._held]

    @property
    def modifiers(self) -> int:
        """The modifiers that are down."""
        bits = 0
        for code in self.down:
            bits |= self._holds(code)
        return bits

    def strike(self, chord: Chord, press: Callable[[Key], None]) -> None:
        """Press and release a chord; of what we hold already, its last key alone goes up and down.

        ``press`` presses one key.
        """
        fresh = self.fresh(chord.keys)
        struck = chord.keys[-1]
        try:
            for key in fresh:
                press(key)
            if struck not in fresh:
                self.press_again(struck)
        finally:
            self.let_go(fresh)

    def hold(
        self,
        chords: tuple[Chord, ...],
        press: Callable[[Key], None],
        without_locks_for: Callable[[Key], AbstractContextManager[None]],
        confirm: Callable[[], None],
    ) -> tuple[Key, ...]:
        """Press the keys, in order, and keep them pressed; a modifier that we hold stays so.

        ``press`` presses one key, while the locks that would change it are off.  What was pressed
        is let go of where one fails, or where ``confirm`` says that it did not arrive.  Returns the
        keys that we did not hold before.
        """
        keys = list(dict.fromkeys(key for chord in chords for key in chord.keys))
        fresh = self.fresh(keys)
        try:
            for key in keys:
                with without_locks_for(key):
                    if key in fresh:
                        press(key)
                    elif not key.is_modifier:
                        self.press_again(key)
            confirm()
        except BaseException:
            self.let_go(fresh)
            raise
        return tuple(fresh)

    def press(self, key: Key, codes: Iterable[int]) -> None:
        """Press a key: its own code, the last one, and those by which its symbol is reached."""
        # Recorded one by one before each press, so that whatever goes wrong is let go.
        recorded = self._held.setdefault(key, [])
        for code in codes:
            recorded.append(code)
            self.down[code] += 1
            if self.down[code] == 1:
                self._presser.press_key(code)
            elif not self._holds(code):
                self._presser.press_key_again(code)

    def press_again(self, key: Key) -> None:
        """Type a key that we hold: the desktop sees it go up and down, and it stays held."""
        self._presser.press_key_again(self._held[key][-1])

    def lift_levels(self, wanted: int) -> None:
        """Release what is held only to reach the levels of held characters, but for ``wanted``.

        They stay down without it; the next key would become another one.
        """
        for key, codes in self._held.items():
            for code in () if key.is_modifier else codes[:-1]:
                if self._holds(code) & ~wanted:
                    codes.remove(code)
                    self._go_up(code)

    def release(self, key: Key, code: int | None) -> None:
        """Release a key if we hold it, be it on its ``code`` under another name, as a and A."""
        others = [held for held, codes in self._held.items() if codes and codes[-1] == code]
        self.let_go([key] if key in self._held else others)

    def let_go(self, keys: list[Key]) -> None:
        """Release these as far as we hold them, the last one first."""
        for key in reversed(keys):
            for code in reversed(self._held.pop(key, [])):
                self._go_up(code)

    def let_go_all(self) -> None:
        """Release every key that we hold."""
        self.let_go(list(self._held))

    def _go_up(self, code: int) -> None:
        """Release a code, unless it is down for another key as well."""
        self.down[code] -= 1
        if not self.down[code]:
            del self.down[code]
            self._presser.release_key(code)
