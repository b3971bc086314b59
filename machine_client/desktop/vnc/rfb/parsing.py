"""Reads a stream of bytes as a conversation that says how much of it it wants next.

The conversation is a generator: it yields what it waits for and is sent the bytes.  Nothing is
kept of what is skipped, so that whoever sends a hundred megabytes fills no memory.
"""

from collections.abc import Generator
from dataclasses import dataclass


class ProtocolError(Exception):
    """The server said what cannot be understood, or must not be; ``str()`` tells a person."""


class AccessError(Exception):
    """The server does not let us in, or not in a way that we know; ``str()`` tells a person."""


@dataclass(frozen=True, slots=True)
class Skip:
    """So many bytes that nobody wants to see."""

    count: int


@dataclass(frozen=True, slots=True)
class StartTls:
    """From here on both sides speak TLS; ``verified`` is that the server has a certificate."""

    verified: bool


Step = int | Skip | StartTls
"""What a conversation waits for: a number of bytes, or one of these."""

Steps = Generator[Step, bytes, None]


class Parser:
    """Feeds a conversation; ``tls`` is set once it waits for TLS, until `resume`."""

    def __init__(self, steps: Steps) -> None:
        self._steps = steps
        self._buffer = bytearray()
        self._wanted: Step = next(steps)
        self.tls: StartTls | None = None

    def feed(self, data: bytes) -> None:
        """Take what the server sent.  Raises ProtocolError and AccessError."""
        self._buffer += data
        read = 0
        while self.tls is None:
            if isinstance(self._wanted, StartTls):
                if len(self._buffer) > read:
                    raise ProtocolError("it goes on without the encryption that was agreed on")
                self.tls = self._wanted
            elif isinstance(self._wanted, Skip):
                skipped = min(self._wanted.count, len(self._buffer) - read)
                read += skipped
                if skipped < self._wanted.count:
                    self._wanted = Skip(self._wanted.count - skipped)
                    break
                self._wanted = self._steps.send(b"")
            else:
                if len(self._buffer) - read < self._wanted:
                    break
                taken = bytes(self._buffer[read : read + self._wanted])
                read += self._wanted
                self._wanted = self._steps.send(taken)
        del self._buffer[:read]

    def resume(self) -> None:
        """Go on: TLS is spoken now."""
        self.tls = None
        self._wanted = self._steps.send(b"")

    def close(self) -> None:
        """End the conversation where it waits; nothing can be fed any more."""
        self._steps.close()
        self._buffer.clear()
