"""Reads a JSON object that is too long for memory: its members, and the steps in it, one by one.

CONTRIBUTING.md says why no library does it.
"""

import json
import re
from collections.abc import Generator, Iterator
from typing import BinaryIO, Final

STEPS: Final = "trajectory_data"

_CHUNK_BYTES = 256 * 1024
_SPACE = re.compile(rb"[ \t\r\n]*")
_SCALAR_END = re.compile(rb"[,\]}\s]")
_STRUCTURE = re.compile(rb'["{}\[\]]')
_STRING_END = re.compile(rb'["\\]')


class LineError(Exception):
    """The text is not a JSON object, or has a value that is too long; says which."""


def scanned(file: BinaryIO, longest: int) -> Generator[tuple[str | None, bytes], None, None]:
    """Every member of the object by its name; the elements of the steps' array as None.

    A value is its JSON text as it stands there, which is not checked any further; no value may
    have more bytes than ``longest``.  A member whose array of steps is empty does not come.
    Raises LineError.
    """
    text = _Text(file, longest)
    text.take(b"{")
    names = set()
    if not text.takes(b"}"):
        while True:
            name = _name(text.value("a name"))
            if name in names:
                raise LineError(f"{name} is there twice")
            names.add(name)
            text.take(b":")
            if name == STEPS and text.takes(b"["):
                yield from ((None, step) for step in _elements(text))
            else:
                yield name, text.value(name)
            if not text.takes(b","):
                break
        text.take(b"}")
    if text.next():
        raise LineError("there is more than one JSON object")


def _elements(text: "_Text") -> Iterator[bytes]:
    if text.takes(b"]"):
        return
    number = 1
    yield text.value("step 1")
    while text.takes(b","):
        number += 1
        yield text.value(f"step {number}")
    text.take(b"]")


def _name(value: bytes) -> str:
    try:
        name = json.loads(value)
    except ValueError:
        name = None
    if not isinstance(name, str):
        raise LineError("not JSON: a member has no name")
    return name


class _Text:
    """The text from the place that has been read, as much of it as is needed."""

    def __init__(self, file: BinaryIO, longest: int) -> None:
        self._file = file
        self._longest = longest
        self._buffer = b""
        self._place = 0

    def next(self) -> bytes:
        """The next byte that is no space, which stays there; nothing at the end."""
        while True:
            found = _SPACE.match(self._buffer, self._place)
            self._place = found.end() if found else self._place
            if self._place < len(self._buffer) or not self._more():
                return self._buffer[self._place : self._place + 1]

    def takes(self, byte: bytes) -> bool:
        """Whether the next byte is this; then it is taken."""
        if self.next() != byte:
            return False
        self._place += 1
        return True

    def take(self, byte: bytes) -> None:
        """Take this byte, which must be there."""
        if not self.takes(byte):
            there = self.next().decode(errors="replace")
            raise LineError(f"not JSON: {byte.decode()} is missing before {there or 'the end'}")

    def value(self, what: str) -> bytes:
        """Take a value; ``what`` is said to people where it is too long."""
        first = self.next()
        if first == b'"':
            end = self._string_end(1, what)
        elif first and first in b"{[":
            end = self._container_end(what)
        else:
            end = self._found(_SCALAR_END, 0, what, or_end=True)
        if not end:
            raise LineError(f"not JSON: {what} has no value")
        value = self._buffer[self._place : self._place + end]
        self._place += end
        return value

    def _container_end(self, what: str) -> int:
        depth, at = 0, 0
        while True:
            at = self._found(_STRUCTURE, at, what)
            byte = self._buffer[self._place + at]
            at += 1
            if byte == ord('"'):
                at = self._string_end(at, what)
            else:
                depth += 1 if byte in b"{[" else -1
                if not depth:
                    return at

    def _string_end(self, at: int, what: str) -> int:
        """Where a string ends, behind its quote, that has begun before."""
        while True:
            at = self._found(_STRING_END, at, what)
            if self._buffer[self._place + at] == ord('"'):
                return at + 1
            at += 2

    def _found(
        self, pattern: re.Pattern[bytes], at: int, what: str, *, or_end: bool = False
    ) -> int:
        """Where the pattern is found, counted from the value's beginning."""
        while True:
            found = pattern.search(self._buffer, self._place + at)
            if found:
                return found.start() - self._place
            at = max(at, len(self._buffer) - self._place)
            if at > self._longest:
                raise LineError(f"{what} is longer than {self._longest} bytes")
            if not self._more():
                if or_end:
                    return at
                raise LineError(f"not JSON: {what} does not end")

    def _more(self) -> bool:
        """Read on, and forget what is done with."""
        chunk = self._file.read(_CHUNK_BYTES)
        self._buffer = self._buffer[self._place :] + chunk
        self._place = 0
        return bool(chunk)
