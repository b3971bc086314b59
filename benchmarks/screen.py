"""``python -m benchmarks.screen``: what a live screen costs, and how soon it shows a change.

Real processes on loopback and a virtual X server of 1280 x 800; the rounds without and with viewers
alternate, so that whatever else the machine does falls on all of them alike.
"""

import argparse
import asyncio
import os
import platform
import random
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from benchmarks.fleet.measures import processor_seconds
from benchmarks.load import ask_alone
from benchmarks.subjects import CLICK, Desktop, desktop, first_line, mongodb, process
from benchmarks.viewer import COLOURS, Stream, Window, colour_of
from machine_client.desktop.x11.view import X11View
from machine_client.screen.encoding import encode
from schemas.link.messages import PictureOptions

BLINK_SECONDS = 0.1
COST_SECONDS = 2.0
MANY = 20
CASES = (
    ("nobody looks", 0, False),
    ("one looks, nothing changes", 1, False),
    ("nobody looks, the screen changes", 0, True),
    ("one looks, the screen changes", 1, True),
    (f"{MANY} look, the screen changes", MANY, True),
)


@asynccontextmanager
async def scene(there: Desktop, viewers: int, *, changes: bool) -> AsyncIterator[None]:
    """So many viewers, each with a first picture, and a screen that changes or does not."""
    async with AsyncExitStack() as stack:
        program = (sys.executable, "-m", "benchmarks.viewer")
        if changes:
            blink = (*program, "blink", there.display, str(BLINK_SECONDS))
            await first_line(await stack.enter_async_context(process(*blink)))
        if viewers:
            view = (*program, "view", there.api.url, there.api.token, str(viewers))
            await first_line(await stack.enter_async_context(process(*view)))
        yield


async def measure_inputs(
    there: Desktop, rounds: int, times: int
) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
    """How long inputs took in each case, and the share of a core that the machine client used.

    The share is measured without inputs, which cost more than the screen.
    """
    request = there.api.input("mouse/click", CLICK)
    seconds: dict[str, list[float]] = {name: [] for name, _, _ in CASES}
    shares: dict[str, list[float]] = {name: [] for name, _, _ in CASES}
    await ask_alone(request, times)
    for _ in range(rounds):
        for name, viewers, changes in CASES:
            async with scene(there, viewers, changes=changes):
                await ask_alone(request, times // 10)
                seconds[name] += (await ask_alone(request, times)).seconds
                shares[name].append(await share_of_a_core(there.machine_pid))
    return seconds, shares


async def share_of_a_core(pid: int) -> float:
    """What part of one core a process uses, over some seconds."""
    began_at, before = time.monotonic(), processor_seconds(pid)
    await asyncio.sleep(COST_SECONDS)
    return (processor_seconds(pid) - before) / (time.monotonic() - began_at)


def measure_changes(there: Desktop, times: int) -> list[float]:
    """How long it took from a change on the screen until a viewer had the picture of it."""
    window, stream, seconds = Window(there.display), Stream(there.api.url, there.api.token), []
    try:
        for number in range(times):
            # At any moment of the interval between two captures.
            time.sleep(0.15 + random.random() / 10)
            colour = COLOURS[number % 2]
            window.show(colour)
            changed_at = time.perf_counter()
            while colour_of(content := stream.picture()) != colour:
                pass
            seconds.append(time.perf_counter() - changed_at)
            del content
    finally:
        stream.close()
        window.close()
    return seconds


def measure_capture(there: Desktop, times: int) -> list[float]:
    """The floor of a change: one capture and its JPEG, in this process, and no waiting."""
    source, seconds = X11View(there.display), []
    for _ in range(times):
        started = time.perf_counter()
        encode(source.capture(), "jpeg", PictureOptions(quality=70))
        seconds.append(time.perf_counter() - started)
    source.close()
    return seconds


async def run(arguments: argparse.Namespace) -> None:
    """Start everything, measure, print, stop everything."""
    async with AsyncExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="farhand-bench-")))
        uri = await stack.enter_async_context(mongodb(directory))
        there = await stack.enter_async_context(desktop(directory / "screen", uri))
        captures = await asyncio.to_thread(measure_capture, there, arguments.changes)
        changes = await asyncio.to_thread(measure_changes, there, arguments.changes)
        inputs, shares = await measure_inputs(there, arguments.rounds, arguments.inputs)
    print(f"{platform.python_implementation()} {platform.python_version()}, {os.cpu_count()} cores")
    print(f"{'':44}{'click, ms':>12}{'p99':>10}{'machine client':>18}")
    for name, seconds in inputs.items():
        share = f"{statistics.median(shares[name]) * 100:.1f} % of a core"
        print(f"{name:44}{median_ms(seconds):12.2f}{p99_ms(seconds):10.2f}{share:>18}")
    print()
    print(f"{'a capture and its JPEG alone, median ms':56}{median_ms(captures):8.2f}")
    print(f"{'a change until a viewer has it, median ms':56}{median_ms(changes):8.2f}")
    print(verdicts(inputs, shares, changes))


def verdicts(
    inputs: dict[str, list[float]], shares: dict[str, list[float]], changes: list[float]
) -> str:
    """The figures against the bounds that the project has set itself."""
    still, watched, changing, seen, many = (name for name, _, _ in CASES)
    costs = {name: statistics.median(each) for name, each in shares.items()}
    rows = [
        ("the longest of them, ms", max(changes) * 1000, "at most 500"),
        (
            f"{MANY} viewers / one, the machine client's time",
            costs[many] / costs[seen],
            "at most 1.1",
        ),
        (
            "an input while one looks / while nobody does, median",
            median_ms(inputs[watched]) / median_ms(inputs[still]),
            "at most 1.1",
        ),
        (
            "the same, on a screen that changes all the time",
            median_ms(inputs[seen]) / median_ms(inputs[changing]),
            "at most 1.1",
        ),
    ]
    return "\n".join(f"{name:56}{figure:8.2f}   {bound}" for name, figure, bound in rows)


def median_ms(seconds: list[float]) -> float:
    """The median in milliseconds."""
    return statistics.median(seconds) * 1000


def p99_ms(seconds: list[float]) -> float:
    """What one in a hundred takes longer than, in milliseconds."""
    return sorted(seconds)[int(len(seconds) * 0.99)] * 1000


def main() -> None:
    """Read the options and run."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.screen", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--inputs", type=int, default=500, help="inputs in a round of each case")
    parser.add_argument("--changes", type=int, default=50, help="changes of the screen")
    asyncio.run(run(parser.parse_args()))


if __name__ == "__main__":
    main()
