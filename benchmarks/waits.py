"""``python -m benchmarks.waits``: how soon a wait sees a change, and what it costs its machine.

A server, and a machine that has joined it on a virtual X server of 1280 x 800.  In alternating
rounds: a click whose request ends with a picture of the screen once it is still, beside a click,
the stillness and a picture alone; a wait that ends with a change, beside the same look in this
process; and the machine client's time while nobody waits, and while somebody does on a screen that
is still, that has a caret, and that changes all the time.
"""

import argparse
import asyncio
import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import cycle
from pathlib import Path
from typing import Any

from benchmarks.load import Request, ask_alone
from benchmarks.screen import median_ms, p99_ms, share_of_a_core
from benchmarks.subjects import CLICK, Api, Desktop, desktop, first_line, mongodb, process
from benchmarks.viewer import COLOURS, Window
from machine_client.desktop.x11.view import X11View
from machine_client.screen.capturer import take_picture
from machine_client.screen.watching import watch
from schemas.inputs.pictures import PictureWanted
from schemas.inputs.waits import Wait

SETTLE_SECONDS = 0.3
CHANGED: dict[str, Any] = {"any": [{"changed": True}], "timeout": 60}
LONG: dict[str, Any] = {"any": [{"still": 10}], "timeout": 120}
"""What a caret and a film do not end before it was measured."""

CARET_SECONDS = 0.5
FILM_SECONDS = 0.033
CASES = (
    ("nobody waits", False, 0.0),
    ("one waits, nothing changes", True, 0.0),
    ("one waits, a caret blinks", True, CARET_SECONDS),
    ("nobody waits, a film runs", False, FILM_SECONDS),
    ("one waits, a film runs", True, FILM_SECONDS),
)
"""What happens, whether somebody waits, and how often something is drawn; 0 is never."""


def settled_click(api: Api) -> Request:
    """A click, and the picture once the screen is still."""
    body = {
        "actions": [{"operation": "mouse.click", **json.loads(CLICK)}],
        "screenshot": {"settle": SETTLE_SECONDS},
    }
    url = f"{api.url}/v1/computer/bench/actions"
    return Request(url, json.dumps(body).encode(), api.token, keyed=True)


def picture_alone(view: X11View, times: int) -> list[float]:
    """How long a capture and its PNG take in this process."""
    seconds = []
    for _ in range(times):
        started = time.perf_counter()
        take_picture(view, PictureWanted())
        seconds.append(time.perf_counter() - started)
    return seconds


def seen_after(
    show_next: Callable[[], None], pool: ThreadPoolExecutor, wait: Callable[[], Any], times: int
) -> list[float]:
    """How long it took from a change on the screen until a wait that had begun was over."""
    seconds = []
    for _ in range(times):
        waiting = pool.submit(wait)
        # It has begun by then, and the screen is quiet, as it is for whoever waits for something.
        time.sleep(0.4)
        show_next()
        changed_at = time.perf_counter()
        waiting.result()
        seconds.append(time.perf_counter() - changed_at)
    return seconds


@asynccontextmanager
async def scene(there: Desktop, waits: bool, blinks: float) -> AsyncIterator[None]:
    """Somebody waits or not, and something is drawn so often."""
    async with AsyncExitStack() as stack:
        if blinks:
            program = (sys.executable, "-m", "benchmarks.viewer", "blink", there.display)
            await first_line(await stack.enter_async_context(process(*program, str(blinks))))
        if waits:
            url = f"{there.api.url}/v1/computer/bench/wait"
            request = Request(url, json.dumps(LONG).encode(), there.api.token)
            asking = asyncio.get_running_loop().create_task(ask_alone(request, 1))
            stack.callback(asking.cancel)
        # The threads of what was before have ended by then, and those of this have begun.
        await asyncio.sleep(1)
        yield


async def run(arguments: argparse.Namespace) -> None:
    """Start everything, measure, print, stop everything."""
    rounds, times = arguments.rounds, arguments.times
    found: dict[str, list[float]] = {}

    def note(name: str, seconds: list[float]) -> None:
        found[name] = found.get(name, []) + seconds

    async with AsyncExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="farhand-bench-")))
        pool = stack.enter_context(ThreadPoolExecutor(1))
        uri = await stack.enter_async_context(mongodb(directory))
        there = await stack.enter_async_context(desktop(directory / "there", uri))
        window, view, colours = Window(there.display), X11View(there.display), cycle(COLOURS)
        stack.callback(window.close)
        stack.callback(view.close)
        click = there.api.input("mouse/click", CLICK, keyed=True)
        conditions = Wait.model_validate(CHANGED).any

        def asked() -> Any:
            return there.api.post("/v1/computer/bench/wait", CHANGED)

        def show_next() -> None:
            window.show(next(colours))

        def looked() -> Any:
            return watch(view, conditions, 60, is_over=lambda: False)

        show_next()
        await ask_alone(click, 20)
        for _ in range(rounds):
            note("click", (await ask_alone(click, times)).seconds)
            note("settled", (await ask_alone(settled_click(there.api), times // 4 + 1)).seconds)
            note("picture", await asyncio.to_thread(picture_alone, view, times))
            for name, wait in (("look", looked), ("wait", asked)):
                seeing = asyncio.to_thread(seen_after, show_next, pool, wait, times // 4 + 1)
                note(name, await seeing)
        shares: dict[str, list[float]] = {name: [] for name, _, _ in CASES}
        for _ in range(rounds):
            for name, waits, blinks in CASES:
                async with scene(there, waits, blinks):
                    shares[name].append(await share_of_a_core(there.machine_pid))
    show(found, shares)


def show(found: dict[str, list[float]], shares: dict[str, list[float]]) -> None:
    """Print every figure beside its floor."""
    ms = {name: median_ms(seconds) for name, seconds in found.items()}
    print(f"{platform.python_implementation()} {platform.python_version()}, {os.cpu_count()} cores")
    floor = SETTLE_SECONDS * 1000 + ms["picture"] + ms["click"]
    for name, figure in (
        ("a keyed click, ms", ms["click"]),
        ("a capture and its PNG, in this process", ms["picture"]),
        (f"the floor: both, and {SETTLE_SECONDS:g} s of stillness", floor),
        ("click, stillness and picture in one request", ms["settled"]),
        ("the same / the floor (at most 1.2)", ms["settled"] / floor),
        ("a change until a look in this process saw it, ms", ms["look"]),
        ("a change until a wait over HTTP is over", ms["wait"]),
        ("the same, one in a hundred (the median at most 60)", p99_ms(found["wait"])),
    ):
        print(f"{name:56}{figure:10.2f}")
    for name, each in shares.items():
        share = sorted(each)[len(each) // 2] * 100
        print(f"{name + ': the machine client':56}{share:10.2f} % of a core")


def main() -> None:
    """Read the options and run."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.waits", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--times", type=int, default=20, help="of each in a round")
    asyncio.run(run(parser.parse_args()))


if __name__ == "__main__":
    main()
