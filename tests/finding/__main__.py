"""Recorded workflows run again on forms that have changed: ``python -m tests.finding``.

Twelve workflows on forms of GTK 3 and Qt 5, twelve changes, recorded by programs and by hands, with
elements and by pictures alone; each form's own record says what was entered.  With ``--thresholds``
what sets the thresholds for pictures.  The exit code is 1 where anything wrong was entered, a run
ended with success and its form's record says otherwise, or too many halts were not needed.
"""

import argparse
import asyncio
import os
import sys
import tempfile
from pathlib import Path

from benchmarks.subjects import mongodb
from tests.finding.desk import desks
from tests.finding.gauntlet import courses, run
from tests.finding.measuring import report
from tests.finding.results import WAYS, Result, are_as_they_must, table
from tests.finding.scenario import CHANGES
from tests.service import running_service

LINES = 120


def main() -> int:
    """Run and print; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.finding", description=__doc__)
    parser.add_argument("--thresholds", action="store_true", help="measure what sets them")
    parser.add_argument("--lines", type=int, default=LINES, help=f"for it (default: {LINES})")
    parser.add_argument("--half", choices=("set", "report", "all"), default="report")
    parser.add_argument("--seeds", type=int, default=1, help="of the half (default: 1)")
    parser.add_argument("--desks", type=int, default=3, help="at once (default: 3)")
    parser.add_argument("--by", choices=("elements", "pictures"), help="(default: both)")
    parser.add_argument("--done", choices=("hand", "api"), help="how recorded (default: both)")
    parser.add_argument("--workflow", action="append", help="(default: all of the half)")
    parser.add_argument("--change", action="append", choices=[each.name for each in CHANGES])
    arguments = parser.parse_args()
    if arguments.thresholds:
        print(report(arguments.lines))
        return 0
    results = asyncio.run(_results(arguments))
    print(table(results))
    print(f"load of the machine at the end: {os.getloadavg()[0]:.1f}")
    return 0 if are_as_they_must(results) else 1


async def _results(given: argparse.Namespace) -> list[Result]:
    ways = [
        each
        for each in WAYS
        if given.by in (None, "elements" if each.by_elements else "pictures")
        and given.done in (None, "hand" if each.by_hand else "api")
    ]
    changes = tuple(each for each in CHANGES if given.change is None or each.name in given.change)
    those = [
        each.after(changes)
        for each in courses(given.half, range(given.seeds), ways)
        if given.workflow is None or each.workflow.name in given.workflow
    ]
    with tempfile.TemporaryDirectory(prefix="farhand-finding-") as directory:
        path = Path(directory)
        async with (
            mongodb(path) as uri,
            running_service(uri, path / "server", vision_timeout=60) as service,
            desks(service, path, given.desks) as there,
        ):
            return await run(there, those, lambda result: print(result, flush=True))


if __name__ == "__main__":
    sys.exit(main())
