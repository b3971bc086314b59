"""Takes a text apart into its lines, however it is cut when it comes."""

from collections.abc import Iterator
from typing import NamedTuple


class Line(NamedTuple):
    """A line and its number, from 1; ``text`` is None where it is too long to be kept."""

    number: int
    text: bytes | None

    @property
    def size(self) -> int:
        """How many bytes are kept of it."""
        return len(self.text or b"")


class LineSplitter:
    """Lines end with a newline, but for the last one.  Blank ones count, and do not come.

    Of a line with more than ``longest`` bytes nothing is kept.  ``size`` is how much is kept of the
    line that has not ended yet.
    """

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._number = 1
        self._pieces: list[bytes] = []
        self._is_too_long = False
        self.size = 0

    def add(self, piece: bytes) -> Iterator[Line]:
        """Take in a piece; the lines that end in it."""
        *ended, begun = piece.split(b"\n")
        for text in ended:
            self._go_on(text)
            yield from self.end()
            self._number += 1
        self._go_on(begun)

    def end(self) -> Iterator[Line]:
        """The text ends here; its last line, where it has not come yet."""
        text = b"".join(self._pieces)
        if self._is_too_long:
            yield Line(self._number, None)
        elif text.strip():
            yield Line(self._number, text)
        self._pieces, self._is_too_long, self.size = [], False, 0

    def _go_on(self, text: bytes) -> None:
        self.size += len(text)
        if self._is_too_long or self.size > self._longest:
            self._pieces, self._is_too_long, self.size = [], True, 0
        elif text:
            self._pieces.append(text)
