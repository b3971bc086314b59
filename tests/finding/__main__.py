"""Recorded steps done again on a form that has changed: ``python -m tests.finding``.

Prints what came of them by elements and by pictures alone, and how long they took beside settling;
with ``--thresholds`` what sets the thresholds for pictures.  The exit code is 1 where something
wrong was entered.
"""

import argparse
import asyncio
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from benchmarks.subjects import mongodb
from schemas.inputs.pictures import PictureWanted
from schemas.inputs.selectors import Sought
from server.runs.finding import looking
from tests.finding.gauntlet import WORKFLOWS, by_picture_alone, run
from tests.finding.measuring import report
from tests.finding.rig import TITLE, Desk, desk
from tests.service import running_service

SEEDS = 120
ROUNDS = 20


def main() -> int:
    """Run and print; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.finding", description=__doc__)
    parser.add_argument("--thresholds", action="store_true", help="measure what sets them")
    parser.add_argument("--seeds", type=int, default=SEEDS, help=f"to measure (default: {SEEDS})")
    arguments = parser.parse_args()
    if arguments.thresholds:
        print(report(arguments.seeds))
        return 0
    wrong = asyncio.run(_gauntlets())
    print(f"load of the machine at the end: {os.getloadavg()[0]:.1f}")
    return 1 if wrong else 0


async def _gauntlets() -> int:
    clicks = tuple(each for each in WORKFLOWS if each.operation == "mouse.click")
    with tempfile.TemporaryDirectory(prefix="farhand-finding-") as directory:
        path = Path(directory)
        async with (
            mongodb(path) as uri,
            running_service(uri, path / "server") as service,
            desk(service, path) as there,
        ):
            print(await _floors(there), flush=True)
            by_elements = await run(there)
            print(f"by elements\n{by_elements.table()}", flush=True)
            by_pictures = await run(there, clicks, without=by_picture_alone)
            print(f"by pictures alone\n{by_pictures.table()}", flush=True)
    return len(by_elements.wrong) + len(by_pictures.wrong)


async def _floors(there: Desk) -> str:
    """What a step costs at least: one question about elements, or one picture."""
    lines = []
    questions: dict[str, Callable[[], Awaitable[object]]] = {
        "all elements of a window": lambda: looking.elements(there, Sought(window=TITLE), 1000),
        "a picture": lambda: looking.picture(there, PictureWanted(pointer=False)),
    }
    for what, ask in questions.items():
        seconds = []
        for _ in range(ROUNDS):
            began = time.perf_counter()
            await ask()
            seconds.append(time.perf_counter() - began)
        lines.append(f"{what}: median {statistics.median(seconds) * 1000:.0f} ms")
    return "the floors: " + ", ".join(lines)


if __name__ == "__main__":
    sys.exit(main())
