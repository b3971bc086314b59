"""Cables between one node and what it talks to, each to be cut, held up and mended."""

import asyncio
import contextlib
import threading
from collections.abc import Callable, Coroutine
from types import TracebackType
from typing import Any, Protocol

from tests.faults.fault_proxy import CLOSE_SECONDS, READ_BYTES, reset
from tests.processes import free_port

Address = tuple[str, int]


class Read(Protocol):
    """Reads what is to be carried next; empty at the end."""

    async def __call__(self, source: asyncio.StreamReader) -> bytes: ...


async def anything(source: asyncio.StreamReader) -> bytes:
    """Whatever has come."""
    return await source.read(READ_BYTES)


class Cable:
    """Carries TCP connections on ``port`` of 127.0.0.1 to an address.

    ``read_reply`` reads what comes from there.  The methods may be called from any thread.
    """

    def __init__(self, target: Address, read_reply: Read, run: "_Run") -> None:
        self.port = 0
        self._target = target
        self._read_reply = read_reply
        self._run = run
        self._is_cut = False
        self._flowing = asyncio.Event()
        self._flowing.set()
        self._ends: set[asyncio.StreamWriter] = set()
        self._carrying: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    def cut(self) -> None:
        """Reset every connection, and let nobody in."""
        self._run(self._cut())

    def hold(self) -> None:
        """Carry nothing more and tell nobody; new connections are taken, and carry nothing."""
        self._run(self._hold())

    def mend(self) -> None:
        """Carry again, and first what was held up."""
        self._run(self._mend())

    async def open(self) -> None:
        """Take connections, at a port that nobody else has taken since it was found free."""
        while self._server is None:
            with contextlib.suppress(OSError):
                port = free_port()
                self._server = await asyncio.start_server(self._accepted, "127.0.0.1", port)
                self.port = port

    async def close(self) -> None:
        """Take none any more, and reset those that there are."""
        if self._server is not None:
            self._server.close()
        await self._cut()
        if self._carrying:
            await asyncio.wait(self._carrying, timeout=CLOSE_SECONDS)

    async def _cut(self) -> None:
        self._is_cut = True
        for end in tuple(self._ends):
            reset(end)
        self._flowing.set()

    async def _hold(self) -> None:
        self._flowing.clear()

    async def _mend(self) -> None:
        self._is_cut = False
        self._flowing.set()

    async def _accepted(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._carrying.add(task)
        self._ends.add(writer)
        try:
            await self._carry(reader, writer)
        except OSError:
            reset(writer)
        finally:
            self._ends.discard(writer)
            self._carrying.discard(task)

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._is_cut:
            raise ConnectionResetError
        replies, requests = await asyncio.open_connection(*self._target)
        self._ends.add(requests)
        try:
            await asyncio.gather(
                self._flow(reader, anything, requests),
                self._flow(replies, self._read_reply, writer),
            )
        finally:
            self._ends.discard(requests)
            requests.transport.abort()
            writer.transport.abort()

    async def _flow(
        self, source: asyncio.StreamReader, read: Read, sink: asyncio.StreamWriter
    ) -> None:
        while data := await read(source):
            await self._flowing.wait()
            if self._is_cut:
                raise ConnectionResetError
            sink.write(data)
            await sink.drain()
        # What programs do with one direction alone is not what is tested here.
        raise ConnectionResetError


_Run = Callable[[Coroutine[Any, Any, None]], None]


class Cabling:
    """The cables of one node, carried by one thread."""

    def __init__(self) -> None:
        self._cables: list[Cable] = []
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="cables", daemon=True)

    def __enter__(self) -> "Cabling":
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for cable in self._cables:
            self._run(cable.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(CLOSE_SECONDS)
        assert not self._thread.is_alive(), "the cables' thread did not end"
        self._loop.close()

    def lay(self, target: Address, read_reply: Read = anything) -> Cable:
        """A cable from a port of 127.0.0.1 to an address."""
        cable = Cable(target, read_reply, self._run)
        self._cables.append(cable)
        self._run(cable.open())
        return cable

    def _run(self, what: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(what, self._loop).result(2 * CLOSE_SECONDS)


class MongodbReplies:
    """Reads MongoDB's replies, in which members call one another by the cables' addresses.

    A driver goes to the addresses that the members of a replica set tell it.  The addresses have
    the same length, so that a message stays what it is otherwise.
    """

    def __init__(self) -> None:
        self._addresses: list[tuple[bytes, bytes]] = []

    def know(self, member: int, cable: int) -> None:
        """From now on, give a cable's port in the place of its member's."""
        old, new = (f"127.0.0.1:{port}".encode() for port in (member, cable))
        assert len(old) == len(new)
        self._addresses.append((old, new))

    async def __call__(self, source: asyncio.StreamReader) -> bytes:
        with contextlib.suppress(asyncio.IncompleteReadError):
            length = await source.readexactly(4)
            message = length + await source.readexactly(int.from_bytes(length, "little") - 4)
            for member, cable in self._addresses:
                message = message.replace(member, cable)
            return message
        return b""
