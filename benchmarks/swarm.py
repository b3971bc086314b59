"""Many machines in one process: real links, and nothing behind them.

``python -m benchmarks.swarm URL TOKENS_FILE`` stays until it is ended.  Each line of the file is a
machine's id and its token.  They reconnect after the delays of the real client.  It prints a line
of JSON when machines are back after a server was lost: the first of them, and when it was all.
"""

import asyncio
import contextlib
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from uuid import UUID, uuid4

import uvloop
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidHandshake, WebSocketException
from websockets.typing import Subprotocol

from machine_client.link.reconnecting import reconnect_delays
from schemas.inputs.outcomes import Completed, Point
from schemas.link.messages import (
    CONNECT_PATH,
    SERVER_MESSAGES,
    SUBPROTOCOL,
    Ack,
    Capability,
    Display,
    Heartbeat,
    HeartbeatAck,
    Hello,
    Input,
    JournalPosition,
    Ready,
    Welcome,
)

LONGEST_DELAY_SECONDS = 30.0
OPEN_SECONDS = 15.0
NONE = Capability(available=False, reason="it has none")
DONE = Completed(duration_ms=0.1, pointer=Point(x=0, y=0))


class Swarm:
    """Counts who is back, and says so."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._back: set[str] = set()

    def came(self, machine_id: str) -> None:
        """A machine has all that it needs to take inputs."""
        self._back.add(machine_id)
        if len(self._back) in (1, self._size):
            what = "first" if len(self._back) == 1 else "all"
            print(json.dumps({what: machine_id, "at": time.time()}), flush=True)

    def left(self, machine_id: str) -> None:
        """A machine's link is gone."""
        self._back.discard(machine_id)


class SwarmMachine:
    """One machine, whose journal is a number."""

    def __init__(self, swarm: Swarm, url: str, machine_id: str, token: str) -> None:
        self._swarm = swarm
        self._url = url.replace("http", "ws", 1) + CONNECT_PATH
        self._id = machine_id
        self._token = token
        self._journal_id, self._sequence = uuid4(), 0

    async def run(self) -> None:
        """Stay connected for ever."""
        delays = reconnect_delays(LONGEST_DELAY_SECONDS)
        while True:
            with contextlib.suppress(OSError, EOFError, WebSocketException, InvalidHandshake):
                async with connect(
                    self._url,
                    additional_headers={"Authorization": f"Bearer {self._token}"},
                    subprotocols=[Subprotocol(SUBPROTOCOL)],
                    compression=None,
                    open_timeout=OPEN_SECONDS,
                    ping_interval=None,
                    proxy=None,
                ) as websocket:
                    delays = reconnect_delays(LONGEST_DELAY_SECONDS)
                    await self._serve(websocket)
            self._swarm.left(self._id)
            await asyncio.sleep(next(delays))

    async def _serve(self, websocket: ClientConnection) -> None:
        await websocket.send(hello(self._journal_id, self._sequence).model_dump_json())
        async for frame in websocket:
            match SERVER_MESSAGES.validate_json(frame):
                case Welcome():
                    await websocket.send(Ready().model_dump_json())
                case Heartbeat(sequence=sequence):
                    self._sequence += 1
                    mark = HeartbeatAck(
                        sequence=sequence, journal_sequence=self._sequence, mark=self._journal_id
                    )
                    await websocket.send(mark.model_dump_json())
                    if sequence == 1:
                        self._swarm.came(self._id)
                case Input(command_id=command_id):
                    self._sequence += 1
                    done = Ack(command_id=command_id, outcome=DONE, journal_sequence=self._sequence)
                    await websocket.send(done.model_dump_json())


def hello(journal_id: UUID, sequence: int) -> Hello:
    """What a machine says first, with a journal that has come so far."""
    return Hello(
        protocols=[1],
        client_version="0.1.0",
        platform="a simulated machine",
        boot_id="simulated",
        displays=[Display(x=0, y=0, width=1280, height=800)],
        input=Capability(available=True),
        screen=NONE,
        journal=JournalPosition(id=journal_id, sequence=sequence),
        yields=False,
        clipboard_read=NONE,
        clipboard_write=NONE,
        elements=NONE,
        desktop=None,
    )


async def stay(url: str, machines: Sequence[Sequence[str]]) -> None:
    """Run every machine, each an id and its token."""
    swarm = Swarm(len(machines))
    await asyncio.gather(*(SwarmMachine(swarm, url, each[0], each[1]).run() for each in machines))


if __name__ == "__main__":
    lines = Path(sys.argv[2]).read_text().splitlines()
    uvloop.run(stay(sys.argv[1], [line.split() for line in lines]))
