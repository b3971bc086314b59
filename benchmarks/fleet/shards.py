"""Machines in several processes: one may not open as many files as there are machines."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import chain
from pathlib import Path

from benchmarks.fleet.installation import Machines, machines

MOST_IN_A_PROCESS = 15_000


class Shards:
    """All machines, each in one of some processes."""

    def __init__(self, processes: Sequence[Machines]) -> None:
        self.processes = processes

    async def begin(self, per_second: float, most: int) -> Sequence[float]:
        """Let all connect, so many a second, at most so many at once; when each was there."""
        for each in self.processes:
            each.begin(per_second / len(self.processes), most // len(self.processes))
        return await self.back_since(0.0, [0] * len(self.processes))

    async def heartbeats(self) -> int:
        """How many heartbeats were answered until now."""
        return sum(await asyncio.gather(*(each.heartbeats() for each in self.processes)))

    async def where(self) -> list[list[int]]:
        """The port to which each machine of each process is connected."""
        return await asyncio.gather(*(each.where() for each in self.processes))

    async def back_since(self, moment: float, lost: Sequence[int]) -> Sequence[float]:
        """When machines came back that did so since a moment; each process had lost so many."""

        async def back(process: Machines, count: int) -> list[float]:
            while True:
                times = [each for each in await process.hears("all") if each > moment]
                if len(times) >= count:
                    return times

        found = await asyncio.gather(*map(back, self.processes, lost))
        return sorted(chain.from_iterable(found))


@asynccontextmanager
async def shards(ports: Sequence[int], file: Path, seed: int) -> AsyncIterator[Shards]:
    """All machines of a file, when a witness of each process is at each of the ports."""
    async with AsyncExitStack() as stack:
        processes = [
            await stack.enter_async_context(machines(ports, part, seed + number))
            for number, part in enumerate(parts(file, MOST_IN_A_PROCESS))
        ]
        for each in processes:
            for _ in ports:
                await each.hears("witness")
        yield Shards(processes)


def parts(file: Path, most: int) -> list[Path]:
    """Write the lines of a file into others, as few as can be, with at most so many in each."""
    lines = file.read_text().splitlines(keepends=True)
    size = -(-len(lines) // -(-len(lines) // most))
    written = []
    for begin in range(0, len(lines), size):
        part = file.with_name(f"{file.name}-{begin}")
        part.write_text("".join(lines[begin : begin + size]))
        written.append(part)
    return written
