"""Clients that send inputs under keys, through any node, and ask until an answer is final."""

import asyncio
import json
import random
import time
from asyncio import StreamReader, StreamWriter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from uuid import uuid4

from benchmarks.fleet.balancing import Balancer
from benchmarks.fleet.measures import Asked

INPUTS_PER_SECOND = 10
PATIENCE_SECONDS = 120.0
ANSWER_SECONDS = 35.0
"""A little longer than a server tries to carry an input out."""

PAUSE_SECONDS = 0.2
"""Between two requests for one input, where no answer has said how long it shall be."""

BODY = b'{"x":12,"y":34}'


@dataclass
class Insisted(Asked):
    """How long each input took from its first request until it was done.

    ``failures`` are those that were not done for good, and ``again`` is how often one was asked
    for another time.
    """

    again: int = 0


@dataclass(frozen=True)
class _Answer:
    """What a client looks at before it asks again."""

    status: int
    is_final: bool
    pause: float


class KeyedInputs:
    """Inputs for machines anywhere, through the nodes on these ports."""

    def __init__(self, ports: Sequence[int], token: str) -> None:
        self._balancer = Balancer(ports)
        self._token = token

    async def send(self, machines: Sequence[str], over: asyncio.Event) -> Insisted:
        """Send one after another to any of these machines, without waiting for the one before."""
        insisted = Insisted()
        async with asyncio.TaskGroup() as sending:
            while not over.is_set():
                sending.create_task(self._insist(random.choice(machines), insisted))
                await asyncio.sleep(1 / INPUTS_PER_SECOND)
        return insisted

    async def _insist(self, machine: str, insisted: Insisted) -> None:
        key, began_at = uuid4().hex, time.perf_counter()
        while time.perf_counter() - began_at < PATIENCE_SECONDS:
            try:
                async with asyncio.timeout(ANSWER_SECONDS):
                    answer = await self._ask(machine, key)
            except (OSError, EOFError):
                answer = _Answer(0, is_final=False, pause=PAUSE_SECONDS)
            if answer.status == 200:
                insisted.seconds.append(time.perf_counter() - began_at)
                return
            if answer.is_final:
                break
            insisted.again += 1
            await asyncio.sleep(answer.pause)
        insisted.failures += 1

    async def _ask(self, machine: str, key: str) -> _Answer:
        reader, writer = await self._balancer.connect(_connection)
        try:
            head = (
                f"POST /v1/computer/{machine}/input/mouse/move HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                f"Connection: close\r\nContent-Type: application/json\r\n"
                f"Authorization: Bearer {self._token}\r\nIdempotency-Key: {key}\r\n"
                f"Content-Length: {len(BODY)}\r\n\r\n"
            )
            writer.write(head.encode() + BODY)
            answered = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
            content = await reader.readexactly(int(_header(answered, "content-length") or 0))
        finally:
            writer.transport.abort()
        status = int(answered.split()[1])
        pause = float(_header(answered, "retry-after") or PAUSE_SECONDS)
        return _Answer(status, _is_final(status, content), pause)


@asynccontextmanager
async def insisting(inputs: KeyedInputs, *groups: Sequence[str]) -> AsyncIterator[list[Insisted]]:
    """Send to each group of machines while something else happens.

    The list is filled at the end, when each input has its final answer.
    """
    over, insisted = asyncio.Event(), list[Insisted]()
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(inputs.send(machines, over)) for machines in groups]
        try:
            yield insisted
        finally:
            over.set()
    insisted.extend(task.result() for task in tasks)


async def _connection(port: int) -> tuple[StreamReader, StreamWriter]:
    return await asyncio.open_connection("127.0.0.1", port)


def _header(head: str, name: str) -> str:
    return head.partition(f"\r\n{name}: ")[2].partition("\r\n")[0]


def _is_final(status: int, content: bytes) -> bool:
    """Whether this is the input's one answer, as docs/reference/answers.md tells clients."""
    if status < 500:
        return status not in (409, 429)
    return json.loads(content).get("final") is True
