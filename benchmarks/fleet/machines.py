"""Simulated machines, thousands in one process: real links, and nothing behind them.

``python -m benchmarks.fleet.machines PORTS MACHINES_FILE SEED`` runs until its input ends.  Between
the ports of several nodes there are commas; machines come to them as through a load balancer.  Each
line of the file is a machine's id and its token.  The first ones, a witness for each node, connect
at once and again as soon as they can.  The others begin at the line ``go``, so many a second as it
says, and no more at once than it may say.  They come back when the real machine client would,
spread as ``welcome`` says.

It prints lines of JSON: ``witness`` whenever one is back, ``all`` with the times of all when
everybody is, and an answer to each line ``count`` or ``where``.
"""

import asyncio
import json
import logging
import random
import re
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

import uvloop

from benchmarks.fleet.balancing import Balancer
from benchmarks.fleet.websocket import WebSocketClient
from machine_client.link.failures import MustStopError
from machine_client.link.reconnecting import ClosedLink, ReconnectPolicy
from schemas.inputs.outcomes import Completed, NotCarriedOut, Point
from schemas.link.messages import (
    CONNECT_PATH,
    SERVER_MESSAGES,
    SUBPROTOCOL,
    Ack,
    Capability,
    Display,
    Hello,
    Input,
    JournalPosition,
    Ready,
    Report,
    Resolve,
    Welcome,
)

LONGEST_DELAY_SECONDS = 30.0
WITNESS_SECONDS = 0.05
ADDRESSES = 8
"""Connections come from so many addresses: one has too few ports for all that were just closed."""

READY = Ready().model_dump_json().encode()
MARK = str(UUID(int=1)).encode()
DONE = Completed(duration_ms=0.1, pointer=Point(x=0, y=0))
_HEARTBEAT = re.compile(rb'\{"type":\s?"heartbeat",\s?"sequence":\s?(\d+)')


class Fleet:
    """All machines of this process, and who of them is back."""

    def __init__(self, ports: Sequence[int], size: int) -> None:
        self.balancer = Balancer(ports)
        self.witnesses = len(ports)
        self.heartbeats = 0
        self.done: set[UUID] = set()
        self._size = size
        self._back: dict[int, float] = {}

    def came(self, number: int) -> None:
        """A machine has all that it needs to take inputs."""
        self._back[number] = time.time()
        if number < self.witnesses:
            say(witness=self._back[number])
        if len(self._back) == self._size:
            say(all=sorted(self._back.values()))

    @property
    def arrived(self) -> int:
        """How many are here."""
        return len(self._back)

    def left(self, number: int) -> None:
        """A machine's link is gone."""
        self._back.pop(number, None)

    def count(self) -> None:
        """Say how many are connected, and how many heartbeats were answered until now."""
        say(connected=len(self._back), heartbeats=self.heartbeats)


class Machine:
    """One machine, whose journal is a number."""

    __slots__ = (
        *("_began_at", "_fleet", "_number", "_policy", "_spread"),
        *("port", "sequence", "token"),
    )

    def __init__(self, fleet: Fleet, number: int, token: str) -> None:
        self.token = token
        self.sequence = 0
        self.port = 0
        self._fleet = fleet
        self._number = number
        self._policy = ReconnectPolicy(LONGEST_DELAY_SECONDS, time.monotonic)
        self._began_at = 0.0
        self._spread: float | None = None

    async def connect(self) -> None:
        """Try to connect; what comes of it, the websocket tells."""
        self._spread = None
        self._began_at = time.monotonic()
        try:
            await self._fleet.balancer.connect(self._connect_to)
        except OSError as error:
            self._again_after(self._policy.after_failure(str(error)))

    async def _connect_to(self, port: int) -> None:
        self.port = port
        await asyncio.get_running_loop().create_connection(
            lambda: Websocket(self),
            "127.0.0.1",
            port,
            local_addr=(f"127.0.0.{2 + self._number % ADDRESSES}", 0),
        )

    def hello(self) -> bytes:
        """What it says first."""
        said = Hello(
            protocols=[1],
            client_version="0.1.0",
            platform="a simulated machine",
            boot_id="simulated",
            displays=[Display(x=0, y=0, width=1280, height=800)],
            input=Capability(available=True),
            screen=Capability(available=True),
            journal=JournalPosition(id=UUID(int=self._number), sequence=self.sequence),
            yields=self._policy.yields,
            clipboard_read=Capability(available=True),
            clipboard_write=Capability(available=True),
            elements=Capability(available=True),
            desktop="x11",
        )
        return said.model_dump_json().encode()

    def welcomed(self, welcome: Welcome) -> None:
        """The server knows it."""
        self._spread = welcome.reconnect_spread_seconds

    def beat(self, sequence: int) -> bytes:
        """The answer to a heartbeat."""
        self.sequence += 1
        if sequence == 1:
            self._fleet.came(self._number)
        else:
            self._fleet.heartbeats += 1
        return b'{"type":"heartbeat_ack","sequence":%d,"journal_sequence":%d,"mark":"%b"}' % (
            sequence,
            self.sequence,
            MARK,
        )

    def carry_out(self, command_id: UUID) -> Ack:
        """Do nothing, and call it done."""
        self.sequence += 1
        self._fleet.done.add(command_id)
        return Ack(command_id=command_id, outcome=DONE, journal_sequence=self.sequence)

    def report(self, command_id: UUID) -> Report:
        """What became of an input that an earlier link was sent."""
        is_done = command_id in self._fleet.done
        if not is_done:
            self.sequence += 1
        outcome = DONE if is_done else NotCarriedOut()
        return Report(command_id=command_id, outcome=outcome, journal_sequence=self.sequence)

    def lost(self, websocket: "Websocket") -> None:
        """Come back when the real machine client would."""
        self._fleet.left(self._number)
        seconds = time.monotonic() - self._began_at
        if not websocket.was_opened:
            self._again_after(self._policy.after_failure("no websocket"))
            return
        closed = ClosedLink(
            code=websocket.close_code,
            reason=websocket.close_reason,
            by_server=websocket.close_code is not None,
            spread_seconds=self._spread,
            seconds=seconds,
        )
        try:
            self._again_after(self._policy.after_link(closed))
        except MustStopError as error:
            print(f"machine {self._number} must stop: {error}", file=sys.stderr)

    def _again_after(self, seconds: float) -> None:
        if self._number < self._fleet.witnesses:
            seconds = WITNESS_SECONDS
        asyncio.get_running_loop().call_later(seconds, start, self)


class Websocket(WebSocketClient):
    """One connection of a machine."""

    __slots__ = ("_machine", "was_opened")

    def __init__(self, machine: Machine) -> None:
        super().__init__()
        self._machine = machine
        self.was_opened = False

    def request(self) -> str:
        """The headers that a machine sends."""
        return (
            f"GET {CONNECT_PATH} HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            f"Authorization: Bearer {self._machine.token}\r\n"
            f"Sec-WebSocket-Protocol: {SUBPROTOCOL}\r\n"
        )

    def on_open(self) -> None:
        """Greet."""
        self.was_opened = True
        self.send_text(self._machine.hello())

    def on_text(self, text: bytes) -> None:
        """Answer; heartbeats, which are nearly all that comes, are read in the shortest way."""
        if (heartbeat := _HEARTBEAT.match(text)) is not None:
            self.send_text(self._machine.beat(int(heartbeat[1])))
            return
        match SERVER_MESSAGES.validate_json(text):
            case Welcome() as welcome:
                self._machine.welcomed(welcome)
                self.send_text(READY)
            case Input(command_id=command_id):
                ack = self._machine.carry_out(command_id)
                self.send_text(ack.model_dump_json().encode())
            case Resolve(command_id=command_id):
                report = self._machine.report(command_id)
                self.send_text(report.model_dump_json().encode())

    def on_end(self) -> None:
        """The link is over."""
        self._machine.lost(self)


_connecting: set[asyncio.Task[None]] = set()


def start(machine: Machine) -> None:
    """Let a machine connect."""
    task = asyncio.get_running_loop().create_task(machine.connect())
    _connecting.add(task)
    task.add_done_callback(_connecting.discard)


async def begin(fleet: Fleet, others: Sequence[Machine], per_second: float, most: int) -> None:
    """Let so many machines connect a second, as long as fewer than ``most`` are on their way."""
    for number, machine in enumerate(others):
        while fleet.witnesses + number - fleet.arrived >= most:  # noqa: ASYNC110 - none tells
            await asyncio.sleep(1 / per_second)
        start(machine)
        await asyncio.sleep(1 / per_second)


def give_up(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """End with the first mistake: figures that come after it would be wrong."""
    loop.default_exception_handler(context)
    loop.stop()


def say(**what: object) -> None:
    """Print one line of JSON."""
    print(json.dumps(what), flush=True)


async def run(ports: Sequence[int], tokens: list[str]) -> None:
    """Run every machine, as the lines of the input say."""
    fleet = Fleet(ports, len(tokens))
    machines = [Machine(fleet, number, token) for number, token in enumerate(tokens)]
    witnesses, others = machines[: len(ports)], machines[len(ports) :]
    lines = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(give_up)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    for machine in witnesses:
        start(machine)
    while line := await lines.readline():
        match line.split():
            case [b"go", per_second]:
                for number, machine in enumerate(others):
                    loop.call_later(number / float(per_second), start, machine)
            case [b"go", per_second, most]:
                await begin(fleet, others, float(per_second), int(most))
            case [b"count"]:
                fleet.count()
            case [b"where"]:
                say(where=[machine.port for machine in machines])


def main(ports: str, file: str, seed: str) -> None:
    """Run until the input ends."""
    logging.getLogger("machine_client").setLevel(logging.CRITICAL)
    random.seed(int(seed))
    tokens = [line.split()[1] for line in Path(file).read_text().splitlines()]
    uvloop.run(run([int(port) for port in ports.split(",")], tokens))


if __name__ == "__main__":
    main(*sys.argv[1:])
