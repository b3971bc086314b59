"""The requests of one bus that wait for their replies, and the replies that come in pieces."""

import asyncio
import itertools
from typing import Final

from server.bus.bus import MAX_REPLY_BYTES, BusAwayError, BusError, ReplyLostError

MAX_OPEN_REQUESTS: Final = 16_384
"""More are refused at once."""

MAX_WAITING_BYTES: Final = 256 * 1024 * 1024
"""What all replies of which only some pieces have come may take together."""


class _OpenRequest:
    """One request; ``pieces`` are those of its reply that have come so far."""

    __slots__ = ("pieces", "reply", "size")

    def __init__(self, reply: asyncio.Future[bytes]) -> None:
        self.reply = reply
        self.pieces: list[bytes] = []
        self.size = 0


class OpenRequests:
    """Gives each request a token, by which its reply finds it."""

    def __init__(self) -> None:
        self.refused = 0
        """How many replies were dropped, because their pieces did not fit."""
        self._open: dict[bytes, _OpenRequest] = {}
        self._numbers = itertools.count()
        self._waiting_bytes = 0

    def __len__(self) -> int:
        return len(self._open)

    def open(self) -> bytes:
        """The token of a new request, to be awaited with ``reply_to`` at once.

        Raises BusAwayError where too many are open.
        """
        if len(self._open) >= MAX_OPEN_REQUESTS:
            raise BusAwayError(f"{len(self._open)} requests are open already")
        token = b"%x" % next(self._numbers)
        self._open[token] = _OpenRequest(asyncio.get_running_loop().create_future())
        return token

    async def reply_to(self, token: bytes, timeout: float) -> bytes:
        """Wait for the reply; ReplyLostError where none comes within ``timeout`` seconds."""
        request = self._open[token]
        # Far cheaper than asyncio.timeout, and a request has nothing to be cancelled.
        timer = asyncio.get_running_loop().call_later(timeout, self._time_out, token, timeout)
        try:
            return await request.reply
        finally:
            timer.cancel()
            self._open.pop(token, None)
            self._forget_pieces(request)

    def succeed(self, token: bytes, reply: bytes) -> None:
        """End a request, if it is still open, with a whole reply."""
        request = self._open.get(token)
        if request is None or request.reply.done():
            return
        if request.pieces:
            self._refuse(request, "a whole reply came between pieces of one")
        else:
            request.reply.set_result(reply)

    def add_piece(self, token: bytes, number: int, count: int, piece: bytes) -> None:
        """Take one piece of ``count``, from 1 on, which come in order."""
        request = self._open.get(token)
        if request is None or request.reply.done():
            return
        fits = number == len(request.pieces) + 1 <= count and piece
        if not fits or request.size + len(piece) > MAX_REPLY_BYTES:
            self._refuse(request, f"piece {number} of {count} does not fit")
        elif self._waiting_bytes + len(piece) > MAX_WAITING_BYTES:
            self._refuse(request, "too many long replies came at once")
        else:
            request.pieces.append(piece)
            request.size += len(piece)
            self._waiting_bytes += len(piece)
            if number == count:
                request.reply.set_result(b"".join(request.pieces))
                self._forget_pieces(request)

    def fail(self, token: bytes, error: BusError) -> None:
        """End a request, if it is still open, with an error."""
        request = self._open.get(token)
        if request is not None and not request.reply.done():
            request.reply.set_exception(error)

    def fail_all(self, sentence: str) -> None:
        """End all of them with ReplyLostError."""
        for token in self._open:
            self.fail(token, ReplyLostError(sentence))

    def _time_out(self, token: bytes, timeout: float) -> None:
        self.fail(token, ReplyLostError(f"no reply came within {timeout:g} s"))

    def _refuse(self, request: _OpenRequest, sentence: str) -> None:
        self.refused += 1
        # The whole reply will never come now.
        request.reply.set_exception(ReplyLostError(sentence))
        self._forget_pieces(request)

    def _forget_pieces(self, request: _OpenRequest) -> None:
        self._waiting_bytes -= request.size
        request.pieces, request.size = [], 0
