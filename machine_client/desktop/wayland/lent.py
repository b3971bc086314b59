"""Keys of our keymap that are lent to characters which are on no ordinary keyboard."""

from collections.abc import Collection, Iterable, Mapping

from machine_client.desktop.keysyms import letter_pair
from machine_client.desktop.wayland.keymap import LENDABLE, Stroke


class LentKeys:
    """Which character is where; those used longest ago give way, and never one that is down.

    ``pairs`` is what each key makes without and with Shift.
    """

    def __init__(self, lendable: tuple[int, ...] = LENDABLE) -> None:
        self._free = list(reversed(lendable))
        self._all = len(lendable)
        # In the order of their last use.
        self._pairs: dict[int, tuple[str, str]] = {}
        self._strokes: dict[str, Stroke] = {}

    @property
    def pairs(self) -> Mapping[int, tuple[str, str]]:
        return self._pairs

    def find(self, character: str) -> Stroke | None:
        """How a character is pressed that has a key now."""
        return self._strokes.get(character)

    def has_room(self, characters: Iterable[str], down: Collection[int]) -> bool:
        """Whether all of these could have a key at once, beside those that are down."""
        wanted = {letter_pair(character) for character in characters}
        busy = [code for code, pair in self._pairs.items() if code in down and pair not in wanted]
        return len(wanted) + len(busy) <= self._all

    def lend(self, characters: Iterable[str], down: Collection[int]) -> bool:
        """Give keys to as many characters as can have one, the first ones; whether any was new."""
        is_new = False
        wanted: set[tuple[str, str]] = set()
        for character in characters:
            pair = letter_pair(character)
            if pair in wanted:
                continue
            stroke = self._strokes.get(character)
            if stroke is not None:
                self.note_use(stroke.code)
            elif self._take(pair, wanted, down):
                is_new = True
            else:
                break
            wanted.add(pair)
        return is_new

    def note_use(self, code: int) -> None:
        """A key is pressed now: it gives way last."""
        if code in self._pairs:
            self._pairs[code] = self._pairs.pop(code)

    def _take(
        self, pair: tuple[str, str], wanted: Collection[tuple[str, str]], down: Collection[int]
    ) -> bool:
        code = self._free.pop() if self._free else self._given_up(wanted, down)
        if code is None:
            return False
        self._pairs[code] = pair
        lower, upper = pair
        self._strokes[upper] = Stroke(code, shifted=True)
        self._strokes[lower] = Stroke(code)
        return True

    def _given_up(self, wanted: Collection[tuple[str, str]], down: Collection[int]) -> int | None:
        """The key that was used longest ago, of those that nobody needs now."""
        for code, pair in self._pairs.items():
            if code not in down and pair not in wanted:
                del self._pairs[code]
                for character in set(pair):
                    del self._strokes[character]
                return code
        return None
