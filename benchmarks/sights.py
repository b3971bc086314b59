"""``python -m benchmarks.sights``: how soon waits for texts are over, and what they cost others.

One server, one machine whose inputs are timed, and five others on virtual X servers of 1280 x 800
with four signs of 400 x 100 each.  In alternating rounds: keyed clicks alone; and keyed clicks from
the moment that all twenty signs show what twenty waits are for, until the last of them is over.
Beside that, one text that is waited for alone.
"""

import argparse
import asyncio
import os
import platform
import tempfile
import time
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from benchmarks.load import Request, ask_alone
from benchmarks.screen import median_ms
from benchmarks.subjects import CLICK, Api, another_machine, desktop, mongodb
from tests.signs import Sign, drawn

PLACES = ((20, 20), (700, 20), (20, 400), (700, 400))
MACHINES = 5
"""Each has as many waits at once as a machine may."""

TOGETHER = MACHINES * len(PLACES)
AT_ONCE = 20
"""Clicks in one go, between two looks whether all waits are over."""

BEFORE = ("Working",) * len(PLACES)
WORDS = ("Saved", "Printed", "Order sent", "Total due")


@asynccontextmanager
async def signs(api: Api, machine: str, directory: Path) -> AsyncIterator[list[Sign]]:
    """A machine that has joined, with four signs on its screen."""
    async with another_machine(api, machine, directory) as desktop:
        shown = [Sign(desktop.display, drawn(BEFORE[0]), place) for place in PLACES]
        yield shown
        for sign in shown:
            sign.close()


async def waited(api: Api, token: str, machine: str, number: int) -> float:
    """Wait for a sign's word; when that was over."""
    x, y = PLACES[number]
    region = {"x": x, "y": y, "width": 400, "height": 100}
    body = {"any": [{"text": WORDS[number], "region": region}], "timeout": 110}
    asked = Api(api.url, token)
    answer: dict[str, Any] = await asyncio.to_thread(
        asked.post, f"/v1/computer/{machine}/wait", body
    )
    if answer["matched"] is None:
        raise RuntimeError(f"{WORDS[number]} was not read on {machine}: {answer}")
    return time.perf_counter()


async def clicked_until(done: asyncio.Future[Any], click: Request) -> list[float]:
    """How long clicks took, one after another, until something was done."""
    seconds: list[float] = []
    while not done.done():
        seconds += (await ask_alone(click, AT_ONCE)).seconds
    return seconds


async def run(arguments: argparse.Namespace) -> None:
    """Start everything, measure, print, stop everything."""
    alone: list[float] = []
    beside: list[float] = []
    single: list[float] = []
    last: list[float] = []
    async with AsyncExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="farhand-bench-")))
        pool = stack.enter_context(ThreadPoolExecutor(TOGETHER + 4))
        asyncio.get_running_loop().set_default_executor(pool)
        uri = await stack.enter_async_context(mongodb(directory))
        there = await stack.enter_async_context(desktop(directory / "there", uri))
        api, click = there.api, there.api.input("mouse/click", CLICK, keyed=True)
        # A token has 16 waits at once.
        tokens = [
            api.post("/v1/tokens", {"name": f"waits {number}", "scopes": ["screen:read"]})["token"]
            for number in range(2)
        ]
        names = [f"desk-{number}" for number in range(MACHINES)]
        shown = [
            await stack.enter_async_context(signs(api, name, directory / name)) for name in names
        ]

        def show(words: tuple[str, ...], many: int) -> None:
            for place in range(many):
                machine, number = divmod(place, len(PLACES))
                shown[machine][number].show(drawn(words[number]))

        async def appear(many: int) -> tuple[float, asyncio.Future[list[float]]]:
            """Begin so many waits, and show what they are for: that moment, and their ends."""
            await asyncio.to_thread(show, BEFORE, TOGETHER)
            waits = asyncio.gather(
                *(
                    waited(api, tokens[place % 2], names[place // len(PLACES)], place % len(PLACES))
                    for place in range(many)
                )
            )
            # They have begun by then, and have seen that it is not there yet.
            await asyncio.sleep(6)
            began = time.perf_counter()
            await asyncio.to_thread(show, WORDS, many)
            return began, waits

        await ask_alone(click, 20)
        _, warm = await appear(1)
        await warm
        for _ in range(arguments.rounds):
            alone += (await ask_alone(click, arguments.clicks)).seconds
            began, waits = await appear(1)
            single += [ended - began for ended in await waits]
            began, waits = await appear(TOGETHER)
            beside += await clicked_until(waits, click)
            last.append(max(waits.result()) - began)
    print(f"{platform.python_implementation()} {platform.python_version()}, {os.cpu_count()} cores")
    for name, figure in (
        ("a keyed click alone, ms", median_ms(alone)),
        (f"beside {TOGETHER} waits that match", median_ms(beside)),
        ("the same / alone (at most 1.2)", median_ms(beside) / median_ms(alone)),
        ("one text of 400 x 100, from appearing to the answer, s (0.5)", median_ms(single) / 1000),
        (f"the last of {TOGETHER}, s (15)", max(last)),
    ):
        print(f"{name:64}{figure:10.2f}")
    print(f"{len(alone)} clicks alone, {len(beside)} beside; load {os.getloadavg()[0]:.1f}")


def main() -> None:
    """Read the options and run."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sights", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--clicks", type=int, default=200, help="alone, in a round")
    asyncio.run(run(parser.parse_args()))


if __name__ == "__main__":
    main()
