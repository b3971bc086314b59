"""``python -m benchmarks.thumbnails``: what the server takes for 30 screens in small.

Thirty machine clients on virtual X servers of 1280 x 800, whose screens change all the time.  They
are asked for as the console asks: each once in 10 seconds, three at once, 256 x 192 pixels at most.
In alternating rounds nobody looks, and all are looked at; the server's processor time is taken in
both, and what looking adds is the difference.
"""

import argparse
import asyncio
import contextlib
import http.client
import os
import random
import statistics
import tempfile
import time
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import Xlib.display

from benchmarks.fleet.measures import processor_seconds
from benchmarks.subjects import Api, another_machine, farhand, mongodb

EVERY_SECONDS = 10.0
TOGETHER = 3
STARTED_TOGETHER = 2
"""So many machine clients are started at once."""

CHANGE_SECONDS = 1.0
PICTURE = "format=jpeg&width=256&height=192&quality=45"


class Screen:
    """A machine with a screen that can be changed."""

    def __init__(self, machine: str, display: str) -> None:
        self.machine = machine
        self.tag = ""
        self._display: Any = Xlib.display.Display(display)
        self._root = self._display.screen().root
        self._gc = self._root.create_gc()

    def change(self) -> None:
        """Paint over it, with about as much as a desktop has on it."""
        for _ in range(60):
            self._gc.change(foreground=random.randrange(1 << 24))
            place = random.randrange(1280), random.randrange(800)
            size = random.randrange(10, 200), random.randrange(10, 60)
            self._root.fill_rectangle(self._gc, *place, *size)
        self._display.sync()

    def close(self) -> None:
        """Leave it."""
        self._display.close()


def look(api: Api, screen: Screen) -> int:
    """Ask for a picture as the console does; its bytes."""
    connection = http.client.HTTPConnection(urlsplit(api.url).netloc, timeout=30)
    headers = {"Authorization": f"Bearer {api.token}"}
    if screen.tag:
        headers["If-None-Match"] = screen.tag
    with contextlib.closing(connection):
        path = f"/v1/computer/{screen.machine}/display/screenshot?{PICTURE}"
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        body = answer.read()
    if answer.status not in (200, 304):
        raise RuntimeError(f"asked for {path} and got {answer.status} {body[:200]!r}")
    screen.tag = answer.headers.get("ETag", "")
    return len(body)


async def looked_at(api: Api, screens: list[Screen], seconds: float) -> list[int]:
    """Each once in ten seconds, for so long; the bytes of each picture."""
    sizes: list[int] = []
    gate = asyncio.Semaphore(TOGETHER)

    async def one(screen: Screen) -> None:
        async with gate:
            sizes.append(await asyncio.to_thread(look, api, screen))

    end = time.monotonic() + seconds
    while time.monotonic() < end:
        began = time.monotonic()
        await asyncio.gather(*(one(each) for each in screens))
        await asyncio.sleep(max(0.0, min(began + EVERY_SECONDS, end) - time.monotonic()))
    return sizes


@asynccontextmanager
async def changing(screens: list[Screen]) -> AsyncIterator[None]:
    """All screens change, once a second each."""

    async def change() -> None:
        while True:
            for screen in screens:
                await asyncio.to_thread(screen.change)
                await asyncio.sleep(CHANGE_SECONDS / len(screens))

    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(change())
        yield
        task.cancel()


async def machine(api: Api, name: str, directory: Path, stack: AsyncExitStack) -> Screen:
    """A machine that has joined."""
    desktop = await stack.enter_async_context(another_machine(api, name, directory))
    screen = Screen(name, desktop.display)
    stack.callback(screen.close)
    return screen


async def share(api: Api, seconds: float) -> float:
    """What part of one core the server uses, over so many seconds."""
    began_at, before = time.monotonic(), processor_seconds(api.pid)
    await asyncio.sleep(seconds)
    return (processor_seconds(api.pid) - before) / (time.monotonic() - began_at)


async def run(arguments: argparse.Namespace) -> None:
    """Start everything, measure, print, stop everything."""
    still: list[float] = []
    seen: list[float] = []
    sizes: list[int] = []
    seconds: float = arguments.seconds
    async with AsyncExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="farhand-bench-")))
        pool = stack.enter_context(ThreadPoolExecutor(16))
        asyncio.get_running_loop().set_default_executor(pool)
        uri = await stack.enter_async_context(mongodb(directory))
        api, _ = await stack.enter_async_context(farhand(directory / "server", uri))
        gate = asyncio.Semaphore(STARTED_TOGETHER)

        async def started(number: int) -> Screen:
            async with gate:
                return await machine(api, f"desk-{number}", directory / f"{number}", stack)

        screens = await asyncio.gather(*(started(each) for each in range(arguments.machines)))
        async with changing(screens):
            sizes += await looked_at(api, screens, 1.0)
            for _ in range(arguments.rounds):
                still.append(await share(api, seconds))
                looking, taken = await asyncio.gather(
                    share(api, seconds), looked_at(api, screens, seconds)
                )
                seen.append(looking)
                sizes += taken
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    print(f"{'machines, pictures':44}{len(screens):8}  {len(sizes)}")
    print(f"{'bytes of a picture, median':44}{statistics.median(sizes):8.0f}  at most 10240")
    print(f"{'bytes of the largest':44}{max(sizes):8}  at most 10240")
    for name, each in (("nobody looks", still), ("all are looked at", seen)):
        print(f"{f'{name}, % of a core':44}{100 * statistics.median(each):8.2f}")
    added = statistics.median(b - a for a, b in zip(still, seen, strict=True))
    print(f"{'the pictures, % of a core':44}{100 * added:8.2f}  at most 10")


def main() -> None:
    """Read the options and run."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.thumbnails", description=__doc__)
    parser.add_argument("--machines", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=20.0, help="of each half of a round")
    asyncio.run(run(parser.parse_args()))


if __name__ == "__main__":
    main()
