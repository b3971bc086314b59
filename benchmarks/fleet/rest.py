"""What machines at rest take, of a server and of bare websockets."""

import argparse
import asyncio
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from benchmarks.fleet.installation import machines
from benchmarks.fleet.measures import processor_seconds, resident_bytes
from benchmarks.subjects import first_line, process

SETTLING_SECONDS = 3.0


class Beating(Protocol):
    """Machines that answer heartbeats."""

    async def heartbeats(self) -> int:
        """How many were answered until now."""


@dataclass
class Waiting:
    """What each of some processes has while machines wait, and how many heartbeats a second."""

    resident: list[int]
    processor: list[float]
    heartbeats: float


@dataclass
class Rest:
    """What machines at rest take: bytes for each, and parts of a processor in all."""

    bytes_each: float
    processor: float
    heartbeats: float
    mongod: float = 0.0


async def while_waiting(pids: Sequence[int], fleet: Beating, seconds: float) -> Waiting:
    """Let all machines wait for a while, and see what that takes."""
    await asyncio.sleep(SETTLING_SECONDS)
    beaten, began_at = await fleet.heartbeats(), time.monotonic()
    processor = await processor_parts(pids, seconds)
    heartbeats, passed = await fleet.heartbeats() - beaten, time.monotonic() - began_at
    resident = [resident_bytes(each) for each in pids]
    return Waiting(resident, processor, heartbeats / passed)


async def processor_parts(pids: Sequence[int], seconds: float) -> list[float]:
    """What parts of a processor some processes take in so many seconds."""
    before, began_at = [processor_seconds(each) for each in pids], time.monotonic()
    await asyncio.sleep(seconds)
    after, passed = [processor_seconds(each) for each in pids], time.monotonic() - began_at
    return [(end - begin) / passed for begin, end in zip(before, after, strict=True)]


async def at_rest(
    pid: int, mongod: int | None, fleet: Beating, empty: int, count: int, seconds: float
) -> Rest:
    """What so many machines take of one server, which had so many bytes with one of them."""
    pids = [pid] if mongod is None else [pid, mongod]
    waiting = await while_waiting(pids, fleet, seconds)
    taken, *mongods = waiting.processor
    bytes_each = (waiting.resident[0] - empty) / (count - 1)
    return Rest(bytes_each, taken, waiting.heartbeats, *mongods)


async def floor(file: Path, count: int, arguments: argparse.Namespace) -> Rest:
    """The same machines on bare websockets."""
    command = (sys.executable, "-m", "benchmarks.fleet.floor", str(arguments.heartbeat))
    async with process(*command) as server:
        port = int(await first_line(server))
        async with machines([port], file, arguments.seed) as fleet:
            await fleet.hears("witness")
            empty = resident_bytes(server.pid)
            fleet.begin()
            await fleet.hears("all")
            return await at_rest(server.pid, None, fleet, empty, count, arguments.window)
