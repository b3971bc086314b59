"""How many values a JSON text holds, counted without parsing it.

A body costs by its values, not by its bytes: 12 MB can be one long text, or four million objects
that take a second to parse, in one piece that nothing interrupts.  So they are counted as the body
comes, at a few hundred megabytes a second, and what has too many is never parsed.
"""

from typing import Final

LONG_NUMBER_DIGITS: Final = 256
LONG_NUMBER_VALUES: Final = 64
"""Reading a number takes the square of its length, so each so many digits count as so many values.

4,000 digits, which is about what Python reads at most, take as long as 1,000 small numbers.
"""

_DIGITS_AND_BLANKS: Final = bytes(
    ord("0") if each in b"0123456789" else ord(" ") for each in range(256)
)
_LONG_NUMBER: Final = b"0" * LONG_NUMBER_DIGITS
_SPACES: Final = b" \t\r\n"


class ValueCounter:
    """Counts the values of a JSON text that comes in pieces, cut anywhere.

    Every element of an array, every member of an object and the whole count once.  Of a text that
    is not JSON, at least what stands before its first mistake is counted.
    """

    def __init__(self) -> None:
        self.values = 1
        self._is_in_text = False
        self._carried = b""
        self._last = b""

    def add(self, piece: bytes) -> int:
        """Count a piece; how many values there are so far."""
        if self._carried:
            piece = self._carried + piece
        backslashes = len(piece) - len(piece.rstrip(b"\\"))
        # A backslash belongs to what follows it, which is in the next piece.
        self._carried = piece[len(piece) - 1 :] if backslashes % 2 else b""
        if self._carried:
            piece = piece[:-1]
        if b"\\" in piece:
            piece = piece.replace(b"\\\\", b"").replace(b'\\"', b"")
        parts = piece.split(b'"')
        # Texts and what is between them take turns.  Each text leaves a quote in its place, so
        # that an array of one text is not taken for an empty one.
        outside = b'"'.join(parts[self._is_in_text :: 2])
        self._is_in_text ^= len(parts) % 2 == 0
        self._count(outside + b'"' if self._is_in_text else outside)
        return self.values

    def _count(self, outside: bytes) -> None:
        """Count what stands outside of texts.

        A value comes first in an array or an object, or after a comma.
        """
        outside = outside.translate(None, _SPACES)
        if self._last:
            outside = self._last + outside
        # An opening bracket is looked at together with what follows it.
        self._last = outside[-1:] if outside[-1:] in (b"[", b"{") else b""
        if self._last:
            outside = outside[:-1]
        count = outside.count
        self.values += count(b",") + count(b"[") + count(b"{") - count(b"[]") - count(b"{}")
        if len(outside) >= LONG_NUMBER_DIGITS:
            numbers = outside.translate(_DIGITS_AND_BLANKS)
            self.values += LONG_NUMBER_VALUES * numbers.count(_LONG_NUMBER)


def count_values(text: bytes) -> int:
    """How many values a whole JSON text holds."""
    return ValueCounter().add(text)
