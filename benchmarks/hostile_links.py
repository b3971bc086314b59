"""What harm a websocket can do: a machine's floods and lies, and the floods of a hand.

A hand is of whoever has control of a machine, with a token for inputs and for control.
"""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Final
from uuid import uuid4

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException
from websockets.frames import Frame, Opcode
from websockets.typing import Subprotocol

from benchmarks.subjects import Api
from benchmarks.swarm import hello
from schemas.inputs.hand import HAND_SUBPROTOCOL
from schemas.link.messages import CONNECT_PATH, SUBPROTOCOL, HeartbeatAck, Ready

FRAMES_AT_ONCE: Final = 1000
MOST_UNWRITTEN: Final = 1024 * 1024
LIARS: Final = 4
HAND_PAUSE_SECONDS: Final = 1.0
"""Whoever floods takes control anew after it, which itself keeps several processes busy."""

LIE: Final = '{"type":"' + "A" * 250_000 + '"}'

_ACK: Final = HeartbeatAck(sequence=1, journal_sequence=1, mark=uuid4()).model_dump_json().encode()
_FLOODS: Final[Mapping[str, Frame]] = {
    "a flood of heartbeat_ack": Frame(Opcode.TEXT, _ACK),
    "a flood of pings": Frame(Opcode.PING, b""),
}
_LIES: Final = "first frames of 250 kB"

LINK_KINDS: Final = (*_FLOODS, _LIES)

_BATCH: Final = json.dumps({"sequence": 1, "events": [{"type": "move", "x": 1, "y": 1}]}).encode()
_HAND_FLOODS: Final[Mapping[str, tuple[Frame, Frame]]] = {
    "a hand's pongs": (Frame(Opcode.TEXT, _BATCH), Frame(Opcode.PONG, b"")),
    "a hand's pings": (Frame(Opcode.TEXT, _BATCH), Frame(Opcode.PING, b"")),
    "a hand's empty parts of a message": (
        Frame(Opcode.TEXT, _BATCH, fin=False),
        Frame(Opcode.CONT, b"", fin=False),
    ),
}
"""What a hand says first, and then as fast as it can."""

HAND_KINDS: Final = (*_HAND_FLOODS,)


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


async def attack_by_hand(kind: str, address: str, token: str) -> None:
    """Flood as whoever has control of the machine, and again some time after it was closed.

    Prints what `attack_by_links` does.
    """
    api, (first, then) = Api(address, token), _HAND_FLOODS[kind]
    while True:
        with suppress(OSError, EOFError, WebSocketException):
            taking = {"take_over": True}
            lease = await asyncio.to_thread(api.post, "/v1/machines/bench/control", taking)
            path = f"/v1/machines/bench/control/{lease['id']}/hand"
            async with _connected(address + path, token, HAND_SUBPROTOCOL) as websocket:
                websocket.transport.write(first.serialize(mask=True))
                await _write_until_closed(websocket, then.serialize(mask=True) * FRAMES_AT_ONCE)
        await asyncio.sleep(HAND_PAUSE_SECONDS)


async def _repeated(
    harm: Callable[[ClientConnection], Awaitable[None]], address: str, token: str
) -> None:
    while True:
        with suppress(OSError, EOFError, WebSocketException):
            async with _connected(address + CONNECT_PATH, token, SUBPROTOCOL) as websocket:
                await harm(websocket)


def _connected(url: str, token: str, subprotocol: str) -> connect:
    return connect(
        url.replace("http", "ws", 1),
        additional_headers={"Authorization": f"Bearer {token}"},
        subprotocols=[Subprotocol(subprotocol)],
        compression=None,
        ping_interval=None,
        close_timeout=0,
        proxy=None,
    )


async def _lie(websocket: ClientConnection) -> None:
    await websocket.send(LIE)
    await websocket.wait_closed()


async def _flood(websocket: ClientConnection, frames: bytes) -> None:
    """Greet as a machine does, and then write as fast as the network takes it."""
    await websocket.send(hello(uuid4(), 0).model_dump_json())
    await websocket.recv()
    await websocket.send(Ready().model_dump_json())
    await _write_until_closed(websocket, frames)


async def _write_until_closed(websocket: ClientConnection, frames: bytes) -> None:
    began_at = time.monotonic()
    while not websocket.transport.is_closing():
        if websocket.transport.get_write_buffer_size() < MOST_UNWRITTEN:
            websocket.transport.write(frames)
        await asyncio.sleep(0)
    print(time.monotonic() - began_at, flush=True)
