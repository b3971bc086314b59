"""What a process takes, as the system tells it, and how long answers take."""

import asyncio
import statistics
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from benchmarks.load import Request

PROBE_SECONDS = 0.05
ANSWER_SECONDS = 30.0


def resident_bytes(pid: int) -> int:
    """How much memory a process has."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    raise ProcessLookupError(pid)


def processor_seconds(pid: int) -> float:
    """How long a process has run on any core, with all its threads, also those that have ended."""
    # What clock_getcpuclockid(3) makes of the process, which Python has for threads alone.
    return time.clock_gettime(~pid << 3 | 2)


def quantile(values: Sequence[float], part: float) -> float:
    """The value below which this part of all lies; not a number where there is none."""
    return sorted(values)[min(int(len(values) * part), len(values) - 1)] if values else float("nan")


@dataclass
class Asked:
    """How long each answer took, in seconds, and how many were no success."""

    seconds: list[float] = field(default_factory=list)
    failures: int = 0

    @property
    def figures(self) -> tuple[float, float, float]:
        """The median, the 99th of a hundred and the worst, in milliseconds."""
        return (
            statistics.median(self.seconds) * 1000 if self.seconds else float("nan"),
            quantile(self.seconds, 0.99) * 1000,
            quantile(self.seconds, 1.0) * 1000,
        )


class Asker:
    """Asks one thing, on one connection after another."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self._connection: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self) -> bool:
        """Ask once; whether that was answered with a success."""
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                return await self._ask()
        except (OSError, EOFError, TimeoutError):
            self.close()
            return False

    async def ask_until(self, over: asyncio.Event) -> Asked:
        """Ask again and again; failures before the first success do not count."""
        asked = Asked()
        while not over.is_set():
            began_at = time.perf_counter()
            if await self.ask():
                asked.seconds.append(time.perf_counter() - began_at)
            elif asked.seconds:
                asked.failures += 1
            await asyncio.sleep(PROBE_SECONDS)
        return asked

    async def _ask(self) -> bool:
        if self._connection is None:
            parts = urlsplit(self._request.url)
            self._connection = await asyncio.open_connection(parts.hostname, parts.port)
        reader, writer = self._connection
        writer.write(self._request.encoded())
        head = await reader.readuntil(b"\r\n\r\n")
        length = head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
        await reader.readexactly(int(length or 0))
        return head.startswith(b"HTTP/1.1 200 ")

    def close(self) -> None:
        """Give the connection up."""
        if self._connection is not None:
            self._connection[1].close()
            self._connection = None


@asynccontextmanager
async def asking(*askers: Asker) -> AsyncIterator[list[Asked]]:
    """Ask in the background while something else happens; the list is filled at the end."""
    over, asked = asyncio.Event(), list[Asked]()
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(asker.ask_until(over)) for asker in askers]
        try:
            yield asked
        finally:
            over.set()
    for asker in askers:
        asker.close()
    asked.extend(task.result() for task in tasks)
