"""``python -m benchmarks.recordings``: what it costs an input that it is recorded.

One server, and machines that have joined it on virtual X servers of 1280 x 800, all at work at
once.  In alternating rounds, recorded and not: keyed clicks one after another, which is the floor
where nothing is recorded, and one click each half second on a screen that changes each time.
``--sizes`` prints what a picture of a desktop takes, and nothing else.
"""

import argparse
import asyncio
import io
import json
import os
import platform
import statistics
import tempfile
from collections.abc import Awaitable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from typing import Any, Final

from PIL import Image

from benchmarks.fleet.measures import processor_seconds
from benchmarks.load import Request, ask_alone
from benchmarks.screen import median_ms
from benchmarks.subjects import CLICK, Api, Desktop, another_machine, desktop, mongodb
from benchmarks.viewer import COLOURS, Window
from server.dispatch.recording.frames import LIVE

PAUSE_SECONDS: Final = 0.5
FAST, SLOW = "one after another", "one each half second"
SIZES: Final = ((1280, 800), (1920, 1080))
PAGES: Final = Path(__file__).parents[1] / "docs" / "images"
NOISE: Final = 60.0


@dataclass
class Cost:
    """What clicks took: seconds until the answer, and of the processor for one in each process."""

    seconds: list[float] = field(default_factory=list)
    server: list[float] = field(default_factory=list)
    clients: list[float] = field(default_factory=list)


@dataclass
class Kept:
    """What recordings kept of clicks: all steps, and those that were apart."""

    steps: int = 0
    step_bytes: int = 0
    pictures: int = 0
    picture_bytes: int = 0
    apart: int = 0
    without: int = 0

    def add(self, ended: Mapping[str, Any], steps: Sequence[Mapping[str, Any]]) -> None:
        """Count one recording.  Those one after another are too close for pictures between."""
        pause = PAUSE_SECONDS * 1000 / 2
        apart = [step for step in steps if step.get("after_ms", 0) > pause]
        self.steps += len(steps)
        self.step_bytes += len(json.dumps(steps, separators=(",", ":")))
        self.pictures += ended["pictures"]
        self.picture_bytes += ended["picture_bytes"]
        self.apart += len(apart)
        self.without += sum(None in (step["picture"], step["picture_after"]) for step in apart)


Found = dict[tuple[str, bool], Cost]


async def run(arguments: argparse.Namespace) -> None:
    """Start everything, measure, print, stop everything."""
    found: Found = {(name, each): Cost() for name in (FAST, SLOW) for each in (False, True)}
    kept = Kept()
    async with AsyncExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="farhand-bench-")))
        uri = await stack.enter_async_context(mongodb(directory))
        desktops = {"bench": await stack.enter_async_context(desktop(directory / "there", uri))}
        api = desktops["bench"].api
        for number in range(1, arguments.machines):
            name = f"desk-{number}"
            machine = another_machine(api, name, directory / name)
            desktops[name] = await stack.enter_async_context(machine)
        windows = [Window(each.display) for each in desktops.values()]
        for window in windows:
            stack.callback(window.close)
        clicks = [api.input("mouse/click", CLICK, keyed=True, machine=name) for name in desktops]
        await _back_to_back(clicks, 20)
        for number in range(arguments.rounds):
            # Whichever comes first has what the other one has not.
            for is_recorded in (False, True) if number % 2 else (True, False):
                begun = [_begun(api, name) for name in desktops] if is_recorded else []
                for name, work in (
                    (FAST, _back_to_back(clicks, arguments.times)),
                    (SLOW, _apart(clicks, windows, arguments.apart)),
                ):
                    await _add(found[name, is_recorded], work, api.pid, [*desktops.values()])
                for recording in begun:
                    kept.add(*await asyncio.to_thread(_ended, api, recording))
    _show(found, kept, arguments.machines)


async def _add(
    cost: Cost, work: Awaitable[list[float]], server: int, desktops: Sequence[Desktop]
) -> None:
    """Do some clicks, and note what they took."""

    def used() -> tuple[float, float]:
        clients = sum(processor_seconds(each.machine_pid) for each in desktops)
        return processor_seconds(server), clients

    server_before, clients_before = used()
    seconds = await work
    server_after, clients_after = used()
    cost.seconds += seconds
    cost.server.append((server_after - server_before) / len(seconds))
    cost.clients.append((clients_after - clients_before) / len(seconds))


async def _back_to_back(clicks: Sequence[Request], times: int) -> list[float]:
    measured = await asyncio.gather(*(ask_alone(click, times) for click in clicks))
    return [seconds for each in measured for seconds in each.seconds]


async def _apart(clicks: Sequence[Request], windows: Sequence[Window], times: int) -> list[float]:
    seconds: list[float] = []
    for _, colour in zip(range(times), cycle(COLOURS), strict=False):
        await asyncio.sleep(PAUSE_SECONDS)
        measured = await asyncio.gather(*(ask_alone(click, 1) for click in clicks))
        seconds += [one for each in measured for one in each.seconds]
        for window in windows:
            window.show(colour)
    await asyncio.sleep(PAUSE_SECONDS)
    return seconds


def _begun(api: Api, machine: str) -> Any:
    return api.post(f"/v1/machines/{machine}/recordings", {})


def _ended(api: Api, recording: Any) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """What a recording says of itself at its end, and its steps."""
    ended = api.post(f"/v1/recordings/{recording['id']}/stop", {})
    trajectory = api.get(f"/v1/trajectories/{recording['trajectory_id']}")
    return ended, trajectory["trajectory_data"]


def _show(found: Found, kept: Kept, machines: int) -> None:
    print(f"{platform.python_implementation()} {platform.python_version()}, {os.cpu_count()} cores")
    print(f"{'machines at once':56}{machines:10}")
    for name in (FAST, SLOW):
        alone, recorded = found[name, False], found[name, True]
        ratio = median_ms(recorded.seconds) / median_ms(alone.seconds)
        for row, figure in (
            (f"{name}, ms (the floor)", median_ms(alone.seconds)),
            (f"{name}, recorded, ms", median_ms(recorded.seconds)),
            (f"{name}, recorded / not (at most 1.15)", ratio),
            ("  processor of the server for a click, ms", median_ms(alone.server)),
            ("  the same, recorded", median_ms(recorded.server)),
            ("  processor of the machine client for a click, ms", median_ms(alone.clients)),
            ("  the same, recorded", median_ms(recorded.clients)),
        ):
            print(f"{row:56}{figure:10.2f}")
    without = kept.without / max(kept.apart, 1) * 100
    row = "steps each half second that lack a picture (at most 5 %)"
    print(f"{row:56}{without:10.2f} % of {kept.apart}")
    print(f"{'bytes of a step, without its pictures':56}{kept.step_bytes / kept.steps:10.0f}")
    size = kept.picture_bytes / max(kept.pictures, 1)
    print(f"{'bytes of a picture of this screen':56}{size:10.0f}")
    print(f"load of the machine at the end: {os.getloadavg()[0]:.1f}")


def _show_sizes() -> None:
    """What the recorder's pictures take of pages of a web application, and of noise."""
    noise = Image.effect_noise(SIZES[0], NOISE)
    pages = [Image.open(each) for each in sorted(PAGES.glob("*.png"))]
    for size in SIZES:
        sizes = [_bytes_of(page, size) for page in pages]
        for name, each in (
            (f"pages of the console, {len(pages)}: median", statistics.median(sizes)),
            ("the smallest", min(sizes)),
            ("the largest", max(sizes)),
            ("noise, as the worst of photographs", _bytes_of(noise, size)),
        ):
            print(f"{size[0]} x {size[1]}, {name:44}{each / 1000:8.0f} kB")


def _bytes_of(image: Image.Image, size: tuple[int, int]) -> int:
    content = io.BytesIO()
    image.convert("RGB").resize(size).save(content, "JPEG", quality=LIVE.quality)
    return len(content.getvalue())


def main() -> None:
    """Read the options and run."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.recordings", description=__doc__)
    parser.add_argument("--machines", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--times", type=int, default=100, help="clicks in a round")
    parser.add_argument("--apart", type=int, default=10, help="clicks apart in a round")
    parser.add_argument("--sizes", action="store_true", help="only what pictures take")
    arguments = parser.parse_args()
    if arguments.sizes:
        _show_sizes()
    else:
        asyncio.run(run(arguments))


if __name__ == "__main__":
    main()
