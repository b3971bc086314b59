"""One connection to NATS: nats-py's, without its queues, and with an end that is one event.

nats-py greets, pings, and understands what is no message.  What it would do beside that is not what
the bus promises: it keeps what could not be sent and sends it later, and it has a task and a queue
for each subscription, and so a turn of the loop more for each message.  So messages are written to
the transport here, and are taken where they arrive.
"""

import asyncio
import contextlib
import logging
import re
from collections.abc import Callable, Coroutine
from functools import partial
from time import perf_counter
from typing import Any, Final
from urllib.parse import SplitResult, unquote

from nats import errors
from nats.aio.client import Client
from nats.aio.errors import ErrStaleConnection
from nats.aio.transport import TcpTransport
from nats.protocol.parser import AWAITING_CONTROL_LINE, PERMISSIONS_ERR

from server.bus.bus import MAX_SENT_BYTES
from server.bus.pieces import MAX_HEADER_BYTES, PIECE_BYTES, pieces_of

logger = logging.getLogger(__name__)

PING_SECONDS: Final = 1
"""How often NATS is asked whether it is there."""

MAX_PINGS: Final = 2
"""So many may be without an answer; with the next one the connection is over."""

CONNECT_SECONDS: Final = 5.0
"""How long it may take to connect, TLS and greeting included."""

MAX_UNSENT_BYTES: Final = 8 * 1024 * 1024
"""What may wait in memory for a NATS that is slow."""

_MESSAGE: Final = re.compile(rb"MSG (\S+) (\d+) (?:(\S+) )?(\d+)\r\n")
_CLOSE_SECONDS: Final = 1.0
_MIN_PAYLOAD: Final = max(MAX_SENT_BYTES, PIECE_BYTES) + MAX_HEADER_BYTES

TakeMessage = Callable[[int, bytes, bytes, bytes, bytes], None]
"""Is given each message: its subscription's number, subject, reply subject, itself, its header.

It must not raise; reply subject and header may be empty.
"""


class NatsUnusableError(Exception):
    """NATS cannot be reached or does not let us in; the message says why, without the password."""


class NatsLink(Client):
    """One connection to one server of NATS, which never comes back: another is made then."""

    def __init__(self, take: TakeMessage) -> None:
        super().__init__()
        self._take = take
        self._address: SplitResult | None = None
        self._reason = ""
        self._out: asyncio.StreamWriter | None = None
        self._sends_long = asyncio.Lock()
        self._has_warned = False
        self.round_trip_seconds = 0.0
        """How long NATS took to answer the last time that it was asked whether it is there."""
        self.end: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        """Has the reason in it once the connection is over."""

    async def open(self, address: SplitResult, name: str) -> None:
        """Connect and greet; raises NatsUnusableError, after which ``finish`` is left to do."""
        self._address = address
        user, password = address.username, address.password
        is_token = password is None
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                await self.connect(
                    servers=[f"{address.scheme}://{address.netloc.rpartition('@')[2]}"],
                    user=unquote(user) if user and not is_token else None,
                    password=unquote(password) if password is not None else None,
                    token=unquote(user) if user and is_token else None,
                    name=name,
                    error_cb=self._note,
                    allow_reconnect=False,
                    # One more; 0 would mean any number.
                    max_reconnect_attempts=1,
                    reconnect_time_wait=0,
                    ping_interval=PING_SECONDS,
                    max_outstanding_pings=MAX_PINGS,
                )
        except (OSError, errors.Error) as error:
            raise NatsUnusableError(self._reason or _reason(error)) from None
        # The reader of a connection that was upgraded to TLS meanwhile is another one.
        assert isinstance(self._transport, TcpTransport)  # noqa: S101  no websockets here
        assert self._reading_task is not None  # noqa: S101  it is connected
        self._out = self._transport._io_writer  # noqa: SLF001  the reason is said above
        reader = self._transport._io_reader  # noqa: SLF001  the same
        assert reader is not None  # noqa: S101  the same
        self._take_from(reader)
        # However reading ends, nothing more comes in.
        self._reading_task.add_done_callback(lambda _: self._end("reading has ended"))

    async def until_served(self) -> None:
        """Wait until NATS has done everything that was sent to it; or the connection has ended."""
        pong = asyncio.get_running_loop().create_future()
        await self._send_ping(pong)
        # NATS that does not answer ends the connection.
        await asyncio.wait({pong, self.end}, return_when=asyncio.FIRST_COMPLETED)

    async def finish(self) -> None:
        """Close it; what was sent just now still leaves, where NATS takes it."""
        self._end("it was closed here")
        try:
            async with asyncio.timeout(_CLOSE_SECONDS):
                await self.close()
        except (TimeoutError, RuntimeError):
            # uvloop's word for a connection that is closed, to which nats-py would write the rest.
            pass
        finally:
            self._abort()

    def command(self, line: bytes) -> None:
        """Send a line of the protocol, which is never refused: how many there are is bounded."""
        if self._out is not None and not self._out.is_closing():
            self._out.write(line)

    def send(self, subject: bytes, message: bytes, reply_to: bytes = b"") -> bool:
        """Send a message of one piece; False, and nothing is sent, where that cannot be now."""
        out = self._out
        if out is None or self.end.done() or out.is_closing():
            return False
        if out.transport.get_write_buffer_size() > MAX_UNSENT_BYTES:
            return False
        out.write(b"PUB %b %b %d\r\n%b\r\n" % (subject, reply_to, len(message), message))
        return True

    def send_status(self, subject: bytes, status: int) -> None:
        """Send a status in the place of a reply, as NATS itself does."""
        header = b"NATS/1.0 %d\r\n\r\n" % status
        self.command(b"HPUB %b %d %d\r\n%b\r\n" % (subject, len(header), len(header), header))

    async def send_reply(self, subject: bytes, message: bytes) -> None:
        """Send a reply, in pieces where it is long, as fast as NATS takes them.

        Nothing comes of it where the connection ends meanwhile.
        """
        is_short = len(message) <= PIECE_BYTES
        if self._out is None or (is_short and self.send(subject, message)):
            return
        # One after the other: else a piece of each would wait in memory.
        async with self._sends_long:
            with contextlib.suppress(ConnectionError):
                if is_short:
                    await self._out.drain()
                    self.send(subject, message)
                else:
                    await self._send_pieces(self._out, subject, message)

    async def _send_pieces(self, out: asyncio.StreamWriter, subject: bytes, message: bytes) -> None:
        for header, piece in pieces_of(message):
            await out.drain()
            if out.is_closing():
                return
            size = len(header) + len(piece)
            line = b"HPUB %b %d %d\r\n%b" % (subject, len(header), size, header)
            out.writelines((line, piece, b"\r\n"))

    def _take_from(self, reader: asyncio.StreamReader) -> None:
        """Have all that comes from now on taken at once: the reader would wake a task for it."""
        # What is left in it comes first; the task that reads then finds nothing, until the end.
        left = bytes(reader._buffer)  # type: ignore[attr-defined]  # noqa: SLF001
        reader._buffer.clear()  # type: ignore[attr-defined]  # noqa: SLF001
        reader.feed_data = self._arrived  # type: ignore[method-assign,assignment]
        self._arrived(left)

    def _arrived(self, data: bytes) -> None:
        """Take what NATS has sent."""
        if self.end.done():
            return
        try:
            # What the parser has begun it ends.
            is_within = self._ps.buf or self._ps.state != AWAITING_CONTROL_LINE
            taken = 0 if is_within else self._take_messages(data)
            if taken < len(data):
                _run(self._ps.parse(data[taken:] if taken else data))
        except (errors.Error, ValueError) as error:
            self._end(_reason(error))

    def _take_messages(self, data: bytes) -> int:
        """Take the messages without a header that are whole, up to anything else; their length."""
        begin = 0
        while (line := _MESSAGE.match(data, begin)) is not None:
            subject, number, reply, size = line.groups(b"")
            end = line.end() + int(size)
            if end + 2 > len(data):
                break
            self._take(int(number), subject, reply, data[line.end() : end], b"")
            begin = end + 2
        return begin

    async def _send_ping(self, future: "asyncio.Future[bool] | None" = None) -> None:
        pong = future or asyncio.get_running_loop().create_future()
        pong.add_done_callback(partial(self._ponged, perf_counter()))
        await super()._send_ping(pong)

    def _ponged(self, asked_at: float, pong: "asyncio.Future[bool]") -> None:
        if not pong.cancelled():
            self.round_trip_seconds = perf_counter() - asked_at

    async def _process_ping(self) -> None:
        self.command(b"PONG\r\n")

    async def _process_msg(
        self, sid: int, subject: bytes, reply: bytes, data: bytes, headers: bytes
    ) -> None:
        self._take(sid, subject, reply, data, headers or b"")

    async def _process_info(self, info: dict[str, Any], initial_connection: bool = False) -> None:
        # Before the password is sent.
        if initial_connection and self._address is not None:
            if self._address.scheme == "tls" and not info.get("tls_required"):
                raise errors.Error("it does not ask for TLS, which tls:// in its URL promises")
            if info.get("max_payload", 0) < _MIN_PAYLOAD:
                raise errors.Error(f"its max_payload is less than {_MIN_PAYLOAD}")

    async def _process_err(self, err_msg: str) -> None:
        if PERMISSIONS_ERR not in err_msg:
            self._end(f"NATS says: {err_msg.strip(chr(39))}")
        elif not self._has_warned:
            self._has_warned = True
            logger.warning("NATS does not let us do everything: %s", err_msg.strip("'"))

    async def _process_op_err(self, e: Exception) -> None:
        self._end(_reason(e))

    async def _note(self, error: Exception) -> None:
        self._reason = self._reason or _reason(error)

    def _end(self, reason: str) -> None:
        if not self.end.done():
            self.end.set_result(reason)

    def _abort(self) -> None:
        """Let go of the socket at once: closing would wait until NATS has taken everything."""
        if isinstance(self._transport, TcpTransport):
            writer = self._transport._io_writer  # noqa: SLF001  the reason is said above
            if writer is not None:
                # The first releases of Python 3.11 have no word for TLS that was closed twice.
                with contextlib.suppress(AttributeError):
                    writer.transport.abort()


def _run(parsing: Coroutine[Any, Any, None]) -> None:
    """Run what never waits: nothing that the parser calls here does."""
    try:
        parsing.send(None)
    except StopIteration:
        return
    parsing.close()
    raise errors.ProtocolError("its parser waits")


def _reason(error: Exception) -> str:
    if isinstance(error, errors.UnexpectedEOF):
        return "it closed the connection"
    if isinstance(error, TimeoutError | errors.StaleConnectionError | ErrStaleConnection):
        return "it does not answer"
    return str(error).removeprefix("nats: ").strip("'") or type(error).__name__
