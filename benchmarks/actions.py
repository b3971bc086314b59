"""``python -m benchmarks.actions``: what several actions cost in one request.

A server, and a machine that has joined it on a virtual X server.  Ten clicks go there as ten keyed
requests and as one, in alternating rounds, beside their floors: one keyed click, and what each
further one takes at least, a click and a mark that is flushed, one after the other in this process.
"""

import argparse
import asyncio
import json
import os
import platform
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from uuid import uuid4

from benchmarks.load import Request, ask_alone
from benchmarks.subjects import CLICK, Api, desktop, mongodb, xvfb
from machine_client.desktop.x11.desktop import X11Desktop
from machine_client.journal.file import JournalFile
from machine_client.journal.journal import Journal
from machine_client.work.injector import DesktopInjector
from schemas.inputs.bodies import ClickMouse

CLICKS = 10
ONE = "one keyed click"
MANY = f"{CLICKS} keyed clicks, one after another"
TOGETHER = f"{CLICKS} clicks in one keyed request"
BARE = "one click and one flushed mark, in this process"

Step = Callable[[int], Awaitable[list[float]]]


def batch(api: Api) -> Request:
    """The clicks as one request."""
    clicks = [{"operation": "mouse.click", **json.loads(CLICK)}] * CLICKS
    body = json.dumps({"actions": clicks}).encode()
    return Request(f"{api.url}/v1/computer/bench/actions", body, api.token, keyed=True)


def asking(request: Request, each: int = 1) -> Step:
    """What asks so many times, and says how long each of so many requests took together."""

    async def ask(times: int) -> list[float]:
        seconds = (await ask_alone(request, times * each)).seconds
        return [sum(seconds[first : first + each]) for first in range(0, times * each, each)]

    return ask


def injecting(display: str, directory: Path) -> Step:
    """What injects clicks on an X server of its own, and writes after each of them in a journal."""
    injector = DesktopInjector(X11Desktop(display))
    journal = Journal(JournalFile(directory / "journal" / "journal.sqlite3"))
    click = ClickMouse.model_validate_json(CLICK)

    async def inject(times: int) -> list[float]:
        seconds = []
        for _ in range(times):
            command_id = uuid4()
            started = time.perf_counter()
            injector.prepare(click)()
            journal.intend(command_id, "0" * 64)
            seconds.append(time.perf_counter() - started)
        return seconds

    return inject


async def run(arguments: argparse.Namespace) -> None:
    """Start everything, measure, print, stop everything."""
    async with AsyncExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="farhand-bench-")))
        uri = await stack.enter_async_context(mongodb(directory))
        there = await stack.enter_async_context(desktop(directory / "there", uri))
        own = await stack.enter_async_context(xvfb())
        click = there.api.input("mouse/click", CLICK, keyed=True)
        steps: dict[str, Step] = {
            ONE: asking(click),
            MANY: asking(click, CLICKS),
            TOGETHER: asking(batch(there.api)),
            BARE: injecting(own, directory),
        }
        seconds: dict[str, list[float]] = {name: [] for name in steps}
        for step in steps.values():
            await step(5)
        for _ in range(arguments.rounds):
            for name, step in steps.items():
                seconds[name] += await step(arguments.times)
    print(f"{platform.python_implementation()} {platform.python_version()}, {os.cpu_count()} cores")
    ms = {name: statistics.median(each) * 1000 for name, each in seconds.items()}
    for name, each in ms.items():
        print(f"{name:46}{each:10.2f} ms")
    floor = ms[ONE] + (CLICKS - 1) * ms[BARE]
    print(f"{'the floor: one keyed click and 9 bare ones':46}{floor:10.2f} ms")
    print(f"{'in one request / the floor':46}{ms[TOGETHER] / floor:10.2f}    at most 1.2")
    print(f"{'in one request / one after another':46}{ms[TOGETHER] / ms[MANY]:10.2f}")


def main() -> None:
    """Read the options and run."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.actions", description=__doc__)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--times", type=int, default=30, help="of each in a round")
    asyncio.run(run(parser.parse_args()))


if __name__ == "__main__":
    main()
