"""``python -m benchmarks.recordings``: what it costs an input that it is recorded.

One server, and machines that have joined it on virtual X servers of 1280 x 800, all at work at
once.  In alternating rounds, recorded and not: keyed clicks one after another, and one click each
half second on a screen that changes each time.
"""

import argparse
import asyncio
import os
import platform
import tempfile
from contextlib import AsyncExitStack
from itertools import cycle
from pathlib import Path
from typing import Any

from benchmarks.load import Request, ask_alone
from benchmarks.screen import median_ms
from benchmarks.subjects import CLICK, Api, another_machine, desktop, mongodb
from benchmarks.viewer import COLOURS, Window

PAUSE_SECONDS = 0.5


async def run(arguments: argparse.Namespace) -> None:
    """Start everything, measure, print, stop everything."""
    found: dict[tuple[str, bool], list[float]] = {}
    steps = without = 0
    async with AsyncExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="farhand-bench-")))
        uri = await stack.enter_async_context(mongodb(directory))
        there = await stack.enter_async_context(desktop(directory / "there", uri))
        displays = {"bench": there.display}
        for number in range(1, arguments.machines):
            name = f"desk-{number}"
            machine = another_machine(there.api, name, directory / name)
            displays[name] = await stack.enter_async_context(machine)
        windows = {name: Window(display) for name, display in displays.items()}
        for window in windows.values():
            stack.callback(window.close)
        clicks = {
            name: there.api.input("mouse/click", CLICK, keyed=True, machine=name)
            for name in displays
        }
        await asyncio.gather(*(ask_alone(click, 20) for click in clicks.values()))
        for _ in range(arguments.rounds):
            for is_recorded in (False, True):
                begun = [_begun(there.api, name) for name in displays] if is_recorded else []
                for name, seconds in (
                    ("one after another", await _back_to_back(clicks, arguments.times)),
                    ("one each half second", await _apart(clicks, windows, arguments.apart)),
                ):
                    found.setdefault((name, is_recorded), []).extend(seconds)
                for recording in begun:
                    each = await asyncio.to_thread(_ended, there.api, recording)
                    steps += len(each)
                    without += sum(None in (one["picture"], one["picture_after"]) for one in each)
    _show(found, steps, without, arguments.machines)


async def _back_to_back(clicks: dict[str, Request], times: int) -> list[float]:
    measured = await asyncio.gather(*(ask_alone(click, times) for click in clicks.values()))
    return [seconds for each in measured for seconds in each.seconds]


async def _apart(clicks: dict[str, Request], windows: dict[str, Window], times: int) -> list[float]:
    seconds: list[float] = []
    for _, colour in zip(range(times), cycle(COLOURS), strict=False):
        measured = await asyncio.gather(*(ask_alone(click, 1) for click in clicks.values()))
        seconds += [one for each in measured for one in each.seconds]
        for window in windows.values():
            window.show(colour)
        await asyncio.sleep(PAUSE_SECONDS)
    return seconds


def _begun(api: Api, machine: str) -> Any:
    return api.post(f"/v1/machines/{machine}/recordings", {})


def _ended(api: Api, recording: Any) -> list[dict[str, Any]]:
    """The steps of the clicks that were apart: those one after another are too close."""
    api.post(f"/v1/recordings/{recording['id']}/stop", {})
    path = f"/v1/trajectories/{recording['trajectory_id']}"
    steps: list[dict[str, Any]] = api.get(path)["trajectory_data"]
    apart = PAUSE_SECONDS * 1000 / 2
    return [step for step in steps if step.get("after_ms", 0) > apart]


def _show(
    found: dict[tuple[str, bool], list[float]], steps: int, without: int, machines: int
) -> None:
    print(f"{platform.python_implementation()} {platform.python_version()}, {os.cpu_count()} cores")
    for name in dict.fromkeys(name for name, _ in found):
        alone, recorded = (median_ms(found[name, each]) for each in (False, True))
        for row, figure in (
            (f"{name}, ms", alone),
            (f"{name}, recorded, ms", recorded),
            (f"{name}, recorded / not (at most 1.15)", recorded / alone),
        ):
            print(f"{row:56}{figure:10.2f}")
    part = without / steps * 100 if steps else 0.0
    row = "steps apart that lack a picture (at most 5 %)"
    print(f"{row:56}{part:10.2f} % of {steps}")
    print(f"{'machines at once':56}{machines:10}")
    print(f"load of the machine at the end: {os.getloadavg()[0]:.1f}")


def main() -> None:
    """Read the options and run."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.recordings", description=__doc__)
    parser.add_argument("--machines", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--times", type=int, default=100, help="clicks in a round")
    parser.add_argument("--apart", type=int, default=10, help="clicks apart in a round")
    asyncio.run(run(parser.parse_args()))


if __name__ == "__main__":
    main()
