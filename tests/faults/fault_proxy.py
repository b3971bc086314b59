"""A TCP proxy between a machine client and a server that disturbs their link at chosen messages.

It reads what passes, changes nothing of it, and does what networks do to it: delays it, loses
everything from some moment on without a word, resets the connection, or ends one direction of it.
"""

import asyncio
import contextlib
import socket
import struct
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from types import TracebackType
from typing import Literal

from tests.faults.websocket_frames import FrameReader, Piece

READ_BYTES = 65536
CLOSE_SECONDS = 10.0
_RESET_AT_CLOSE = struct.pack("ii", 1, 0)


class Action(StrEnum):
    """What can happen to a connection."""

    DELAY = "delay"
    """Its direction stands still for some seconds."""
    BLACKHOLE = "blackhole"
    """Nothing passes any more, in either direction, and nobody is told."""
    RESET = "reset"
    """Both ends get a reset (RST)."""
    HALF_CLOSE = "half-close"
    """The receiver of the message sees the end of the stream (FIN); the other direction goes on."""


@dataclass(eq=False)
class LinkFault:
    """One action, at the next message of a type: ``message``, or whatever comes next (None).

    ``seconds`` is how long a delay lasts; for the others, how long after the message they come.
    ``injected`` is set once it has happened.
    """

    action: Action
    message: str | None = None
    when: Literal["before", "after"] = "before"
    seconds: float = 0.0
    injected: threading.Event = field(default_factory=threading.Event)

    def fits(self, piece: Piece) -> bool:
        """Whether this is the message that is meant."""
        return self.message is None or self.message == piece.name


class FaultProxy:
    """Takes connections on ``port`` of 127.0.0.1 and carries each to where ``target`` says then.

    At most one fault is armed at a time; it happens once.
    """

    def __init__(self, target: Callable[[], tuple[str, int]]) -> None:
        self.port = 0
        self._target = target
        self._armed: LinkFault | None = None
        self._lock = threading.Lock()
        self._connections: dict[_Carried, asyncio.Task[None]] = {}
        self._listening = threading.Event()
        self._thread = threading.Thread(
            target=lambda: asyncio.run(self._serve()), name="fault proxy", daemon=True
        )

    @property
    def url(self) -> str:
        """Where machine clients connect to."""
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> "FaultProxy":
        self._thread.start()
        assert self._listening.wait(CLOSE_SECONDS), "the fault proxy did not start"
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join(CLOSE_SECONDS)
        assert not self._thread.is_alive(), "the fault proxy did not end"

    def arm(self, fault: LinkFault) -> None:
        """LinkFault at the next message that fits, in place of what was armed before."""
        with self._lock:
            self._armed = fault

    def disarm(self, fault: LinkFault) -> bool:
        """Take back a fault; False where its message has come already."""
        with self._lock:
            is_armed = self._armed is fault
            if is_armed:
                self._armed = None
            return is_armed

    def take(self, piece: Piece) -> LinkFault | None:
        """The armed fault, if it fits this message; it is armed no more."""
        with self._lock:
            fault = self._armed
            if fault is None or not fault.fits(piece):
                return None
            self._armed = None
            return fault

    async def _serve(self) -> None:
        self._loop, self._over = asyncio.get_running_loop(), asyncio.Event()
        server = await asyncio.start_server(self._accepted, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        self._listening.set()
        await self._over.wait()
        server.close()
        for connection in tuple(self._connections):
            connection.reset()
        if self._connections:
            await asyncio.wait(self._connections.values(), timeout=CLOSE_SECONDS)
        await server.wait_closed()

    async def _accepted(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            server = await asyncio.open_connection(*self._target())
        except OSError:
            # A server that is down refuses connections; so does its proxy.
            reset(writer)
            return
        connection = _Carried(self.take, (reader, writer), server)
        task = asyncio.current_task()
        assert task is not None
        self._connections[connection] = task
        try:
            await connection.carry()
        finally:
            del self._connections[connection]


_End = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class _Carried:
    """One connection, between its two ends."""

    def __init__(
        self, take: Callable[[Piece], LinkFault | None], client: _End, server: _End
    ) -> None:
        self._take = take
        self._client, self._server = client, server
        self._is_dark = self._is_reset = False

    async def carry(self) -> None:
        """Carry everything until both ends have ended."""
        (from_client, to_client), (from_server, to_server) = self._client, self._server
        try:
            await asyncio.gather(
                self._flow(from_client, to_server), self._flow(from_server, to_client)
            )
        finally:
            to_client.transport.abort()
            to_server.transport.abort()

    def reset(self) -> None:
        """Send both ends a reset."""
        self._is_reset = True
        for _, writer in (self._client, self._server):
            reset(writer)

    async def _flow(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        frames = FrameReader()
        ended = False
        try:
            while data := await source.read(READ_BYTES):
                for piece in frames.feed(data):
                    ended = await self._pass(piece, sink, ended=ended)
        except ConnectionError:
            # In the dark nobody hears of the other's end.
            if not (self._is_dark or self._is_reset):
                self.reset()
        if not (self._is_dark or self._is_reset or ended):
            _finish(sink)

    async def _pass(self, piece: Piece, sink: asyncio.StreamWriter, *, ended: bool) -> bool:
        """Carry one piece, disturbed or not; whether the receiver has seen the stream's end."""
        fault = None if self._is_dark or ended else self._take(piece)
        if fault is None:
            await self._write(piece, sink, ended=ended)
            return ended
        if fault.when == "after":
            await self._write(piece, sink, ended=ended)
        if fault.seconds:
            await asyncio.sleep(fault.seconds)
        match fault.action:
            case Action.BLACKHOLE:
                self._is_dark = True
            case Action.RESET:
                self.reset()
            case Action.HALF_CLOSE:
                ended = True
                _finish(sink)
        fault.injected.set()
        if fault.when == "before":
            await self._write(piece, sink, ended=ended)
        return ended

    async def _write(self, piece: Piece, sink: asyncio.StreamWriter, *, ended: bool) -> None:
        if not (self._is_dark or self._is_reset or ended):
            sink.write(piece.data)
            await sink.drain()


def _finish(writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError, RuntimeError):
        writer.write_eof()


def reset(writer: asyncio.StreamWriter) -> None:
    """Have the other end see a reset (RST)."""
    with contextlib.suppress(OSError):
        end = writer.get_extra_info("socket")
        end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_AT_CLOSE)
    writer.transport.abort()
