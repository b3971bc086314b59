"""What harm a machine's own token can do: floods, and lies in the first frame."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Final
from uuid import uuid4

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException
from websockets.frames import Frame, Opcode
from websockets.typing import Subprotocol

from benchmarks.swarm import hello
from schemas.link.messages import CONNECT_PATH, SUBPROTOCOL, HeartbeatAck, Ready

FRAMES_AT_ONCE: Final = 1000
MOST_UNWRITTEN: Final = 1024 * 1024
LIARS: Final = 4
LIE: Final = '{"type":"' + "A" * 250_000 + '"}'

_ACK: Final = HeartbeatAck(sequence=1, journal_sequence=1, mark=uuid4()).model_dump_json().encode()
_FLOODS: Final[Mapping[str, Frame]] = {
    "a flood of heartbeat_ack": Frame(Opcode.TEXT, _ACK),
    "a flood of pings": Frame(Opcode.PING, b""),
}
_LIES: Final = "first frames of 250 kB"

LINK_KINDS: Final = (*_FLOODS, _LIES)


async def attack_by_links(kind: str, address: str, token: str) -> None:
    """Connect and do harm until this process is ended, again as soon as a link is closed.

    Prints for each link that flooded how many seconds it took until it was closed.
    """
    if kind == _LIES:
        await asyncio.gather(*(_repeated(_lie, address, token) for _ in range(LIARS)))
        return
    frame = _FLOODS[kind]

    async def flood(websocket: ClientConnection) -> None:
        await _flood(websocket, frame.serialize(mask=True) * FRAMES_AT_ONCE)

    await _repeated(flood, address, token)


async def _repeated(
    harm: Callable[[ClientConnection], Awaitable[None]], address: str, token: str
) -> None:
    url = address.replace("http", "ws", 1) + CONNECT_PATH
    while True:
        with suppress(OSError, EOFError, WebSocketException):
            async with connect(
                url,
                additional_headers={"Authorization": f"Bearer {token}"},
                subprotocols=[Subprotocol(SUBPROTOCOL)],
                compression=None,
                ping_interval=None,
                close_timeout=0,
                proxy=None,
            ) as websocket:
                await harm(websocket)


async def _lie(websocket: ClientConnection) -> None:
    await websocket.send(LIE)
    await websocket.wait_closed()


async def _flood(websocket: ClientConnection, frames: bytes) -> None:
    """Greet as a machine does, and then write as fast as the network takes it."""
    await websocket.send(hello(uuid4(), 0).model_dump_json())
    await websocket.recv()
    await websocket.send(Ready().model_dump_json())
    began_at = time.monotonic()
    while not websocket.transport.is_closing():
        if websocket.transport.get_write_buffer_size() < MOST_UNWRITTEN:
            websocket.transport.write(frames)
        await asyncio.sleep(0)
    print(time.monotonic() - began_at, flush=True)
