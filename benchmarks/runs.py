"""``python -m benchmarks.runs``: what a verified step of a run costs, and what runs cost others.

One server, a machine with a program of GTK on a screen of 1280 x 800, and another whose keyed
clicks are timed.  Clicks at buttons are recorded and approved, once with their elements and once by
their pictures alone, each with something to be seen afterwards.  In alternating rounds: clicks on
the other machine alone, meanwhile a run, a run alone, and the same clicks by hand, to see how long
one takes, and the screen until it is still: a button fades for a while after it was pressed.  A
step is what it takes from the end of the one before to its own, and both are taken off that.  Some
three minutes.

With ``--apart`` the run's machine, its screen and its program have one core, and all the rest has
the others, in every round: a machine is another computer, and what runs there costs nobody else.
"""

import argparse
import asyncio
import os
import platform
import statistics
import tempfile
import time
from collections.abc import Collection, Coroutine, Iterator, Mapping
from contextlib import AsyncExitStack, ExitStack, contextmanager
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, TypeVar

from benchmarks.load import Request, ask_alone
from benchmarks.screen import median_ms
from benchmarks.subjects import (
    CLICK,
    Api,
    another_machine,
    farhand,
    joined,
    joining,
    mongodb,
    process,
)
from tests.machine_client.desktop.accessibility.rig import accessible_desktop

T = TypeVar("T")

STEPS: Final = 12
BUTTONS: Final = ("Button 1", "Button 4")
STILL: Final = 0.3
"""Seconds for which the screen has to be still before a step."""

MOST_MS: Final = {"elements": 150, "pictures": 300}
SEEN_SECONDS: Final = 1.2
"""By then the elements before an input are known, and its pictures are there."""

AT_ONCE: Final = 20
"""Clicks in one go, between two looks whether the run is over."""

BY_HAND: Final = 3
"""Times that each button is clicked by hand in a round."""

ELSEWHERE: Final = {"x": 1270, "y": 790}

EXPECTED: Final[Mapping[str, dict[str, Any]]] = {
    "elements": {"element": {"role": "push button", "name": BUTTONS[0]}},
    "pictures": {"changed": True},
}


async def run(arguments: argparse.Namespace) -> None:
    """Start everything, measure, print, stop everything."""
    others: dict[str, list[float]] = {}
    steps: dict[str, list[float]] = {}
    floors: dict[str, list[float]] = {}
    cores = sorted(os.sched_getaffinity(0))
    of_run, of_others = (cores[-1:], cores[:-1]) if arguments.apart else (cores, cores)
    async with AsyncExitStack() as ending:
        stack = ending.enter_context(ExitStack())
        stack.enter_context(_on(of_others))
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="farhand-bench-")))
        uri = await ending.enter_async_context(mongodb(directory))
        settings = {"FARHAND_AUTHORS_MAY_APPROVE": "true"}
        server = farhand(directory / "there", uri, settings=settings)
        api, token_file = await ending.enter_async_context(server)
        with _on(of_run):
            desktop = stack.enter_context(accessible_desktop())
            program = stack.enter_context(desktop.gtk3())
            await ending.enter_async_context(process(*joining(api, token_file, desktop.display)))
        await joined(api)
        await ending.enter_async_context(another_machine(api, "other", directory / "other"))
        recorded = await asyncio.to_thread(_recorded, api)
        program.tell("nothing")
        trajectories = {by: _approved(api, by, recorded) for by in MOST_MS}
        clicks = api.input("mouse/click", CLICK, keyed=True, machine="other")
        await ask_alone(clicks, AT_ONCE)
        for _ in range(arguments.rounds):
            for by, trajectory in trajectories.items():
                others.setdefault("alone", []).extend(await _alone(clicks, arguments.seconds))
                begun, seconds = await _beside(_ended(api, trajectory), clicks)
                others.setdefault(by, []).extend(seconds)
                steps.setdefault(f"{by}, beside clicks", []).extend(_steps(begun))
                steps.setdefault(by, []).extend(_steps(await _ended(api, trajectory)))
                await asyncio.to_thread(_by_hand, api, recorded, floors)
                by_hand = asyncio.to_thread(_by_hand, api, recorded, {})
                _, seconds = await _beside(by_hand, clicks)
                others.setdefault("by hand", []).extend(seconds)
    _show(steps, others, floors)


@contextmanager
def _on(cores: Collection[int]) -> Iterator[None]:
    """What is started meanwhile runs on these cores alone."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def _recorded(api: Api) -> list[dict[str, Any]]:
    """Clicks at some buttons, as a recording has them."""
    recording = api.post("/v1/machines/bench/recordings", {})
    path = f"/v1/trajectories/{recording['trajectory_id']}"
    found: list[dict[str, Any]] = []
    for name in BUTTONS:
        bounds = _bounds(api, name)
        body = {"x": bounds["x"] + 10, "y": bounds["y"] + 10}
        while True:
            # Until it was known in time what stood around it.
            api.post("/v1/computer/bench/input/mouse/move", ELSEWHERE)
            time.sleep(SEEN_SECONDS)
            api.post("/v1/computer/bench/input/mouse/click", body)
            time.sleep(SEEN_SECONDS)
            step = api.get(path)["trajectory_data"][-1]
            if {"crop", "element", "around"} <= step.get("target", {}).keys():
                break
        found.append(step)
    api.post(f"/v1/recordings/{recording['id']}/stop", {})
    return found


def _bounds(api: Api, name: str) -> dict[str, int]:
    items = api.get(f"/v1/computer/bench/elements?name={name.replace(' ', '%20')}")["items"]
    bounds: dict[str, int] = items[0]["bounds"]
    return bounds


def _approved(api: Api, by: str, recorded: list[dict[str, Any]]) -> str:
    """The id of a trajectory that may be run."""
    steps = []
    for number in range(STEPS):
        step = {**recorded[number % len(recorded)]}
        step["expect"] = {"any": [EXPECTED[by]], "timeout": 10}
        if by == "pictures":
            target = step["target"]
            step["target"] = {name: target[name] for name in ("crop", "display") if name in target}
        steps.append({each: step[each] for each in ("operation", "body", "target", "expect")})
    workflow = api.post("/v1/workflows", {"name": f"by {by}"})["id"]
    said = {"workflow_id": workflow, "dimensions": {"width": 1280, "height": 800}}
    made = api.post("/v1/trajectories", {**said, "trajectory_data": steps})
    path = f"/v1/trajectories/{made['id']}"
    content = api.get(path)["content_hash"]
    api.post(f"{path}/review", {"decision": "approve", "content_hash": content})
    return str(made["id"])


async def _alone(clicks: Request, seconds: float) -> list[float]:
    found: list[float] = []
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        found += (await ask_alone(clicks, AT_ONCE)).seconds
    return found


async def _beside(work: Coroutine[Any, Any, T], clicks: Request) -> tuple[T, list[float]]:
    """What some work comes to, and how long clicks took meanwhile."""
    found: list[float] = []
    working = asyncio.get_running_loop().create_task(work)
    while not working.done():
        found += (await ask_alone(clicks, AT_ONCE)).seconds
    return await working, found


async def _ended(api: Api, trajectory: str) -> dict[str, Any]:
    """A new run, once it has ended with success."""
    body = {"trajectory_id": trajectory, "machine_id": "bench"}
    run = await asyncio.to_thread(api.post, "/v1/runs", body)
    while run["ended_at"] is None and run["halted"] is None:
        await asyncio.sleep(0.2)
        run = await asyncio.to_thread(api.get, f"/v1/runs/{run['id']}")
    if run["status"] != "success":
        raise RuntimeError(f"a run did not come to its end: {run}")
    return run


def _steps(run: Mapping[str, Any]) -> list[float]:
    """How long each step but the first took, in seconds."""
    ends = [datetime.fromisoformat(each["ended_at"]) for each in run["steps"]]
    return [(two - one).total_seconds() for one, two in pairwise(ends)]


def _by_hand(api: Api, recorded: list[dict[str, Any]], floors: dict[str, list[float]]) -> None:
    """What a step takes at least, in seconds: its input, and until the screen is still."""
    still = {"any": [{"still": STILL}], "timeout": 5}
    for step in BY_HAND * recorded:
        questions = ("input", "input/mouse/click", step["body"]), ("settling", "wait", still)
        for name, path, body in questions:
            began = time.perf_counter()
            api.post(f"/v1/computer/bench/{path}", body)
            floors.setdefault(name, []).append(time.perf_counter() - began)


def _show(
    steps: Mapping[str, list[float]],
    others: Mapping[str, list[float]],
    floors: Mapping[str, list[float]],
) -> None:
    print(f"{platform.python_implementation()} {platform.python_version()}, {os.cpu_count()} cores")
    rows: list[tuple[str, float]] = [
        ("until the screen is still after a click, ms", median_ms(floors["settling"])),
        ("an input, ms", median_ms(floors["input"])),
    ]
    beside = sum(map(median_ms, floors.values()))
    for by, seconds in steps.items():
        most = MOST_MS.get(by)
        bound = "" if most is None else f" (at most {most})"
        rows.append((f"a step by {by}, ms", median_ms(seconds)))
        rows.append((f"a step by {by}, beside both{bound}, ms", median_ms(seconds) - beside))
    alone, by_hand = median_ms(others["alone"]), median_ms(others["by hand"])
    rows.append(("another's click, ms", alone))
    rows.append(("another's click beside the same by hand, ms", by_hand))
    for by in MOST_MS:
        rows.append((f"another's click beside a run by {by}, ms", median_ms(others[by])))
        rows.append((f"the same / alone, {by} (at most 1.1)", median_ms(others[by]) / alone))
        means = [statistics.mean(others[each]) for each in (by, "alone")]
        rows.append((f"the same of the means, {by}", means[0] / means[1]))
        rows.append((f"the same / by hand, {by}", median_ms(others[by]) / by_hand))
    for row, figure in rows:
        print(f"{row:60}{figure:10.2f}")
    print(f"load of the machine at the end: {os.getloadavg()[0]:.1f}")


def main() -> None:
    """Read the options and run."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.runs", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=6, help="of clicks alone in a round")
    parser.add_argument("--apart", action="store_true", help="a core of its own for the machine")
    arguments = parser.parse_args()
    if arguments.apart and len(os.sched_getaffinity(0)) == 1:
        parser.error("--apart needs two cores or more")
    asyncio.run(run(arguments))


if __name__ == "__main__":
    main()
