"""Passwords typed while it is recorded, and sought everywhere: ``python -m tests.canaries``.

``--runs`` has runs type them as their secrets instead.  The exit code is 1 where any was found in a
store, a file, a log, an event, an answer, an export or a picture.
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path

from tests.canaries.places import PLACES
from tests.canaries.run import measured
from tests.canaries.runs import PROGRAMS, measured_in_runs

CANARIES = 200
CANARIES_OF_RUNS = 1000
PICTURES = 100


def main() -> int:
    """Run, and print what came of each place; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.canaries", description=__doc__)
    parser.add_argument("--place", choices=PLACES, action="append", help="(default: all)")
    parser.add_argument(
        "--runs", action="store_true", help=f"as secrets of runs, in {', '.join(PROGRAMS)}"
    )
    parser.add_argument(
        "--canaries",
        type=int,
        help=f"in each place (default: {CANARIES}); of runs in all (default: {CANARIES_OF_RUNS})",
    )
    parser.add_argument(
        "--pictures",
        type=int,
        default=PICTURES,
        help=f"of each that are read (default: {PICTURES})",
    )
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    is_clean = _in_runs(given) if given.runs else _in_recordings(given)
    print(f"load of the machine at the end: {os.getloadavg()[0]:.1f}")
    return 0 if is_clean else 1


def _in_runs(given: argparse.Namespace) -> bool:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as directory:
        count = given.canaries or CANARIES_OF_RUNS
        outcome = measured_in_runs(Path(directory), [*PROGRAMS], count, seed=given.seed)
    print(outcome.table(), flush=True)
    return not outcome.found and not outcome.wrong


def _in_recordings(given: argparse.Namespace) -> bool:
    is_clean = True
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as directory:
        names = given.place or [*PLACES]
        outcomes = measured(
            Path(directory),
            names,
            given.canaries or CANARIES,
            pictures=given.pictures,
            seed=given.seed,
        )
        for name, outcome in outcomes.items():
            is_clean &= not outcome.found
            print(f"{name}: {outcome.table()}", flush=True)
    return is_clean


if __name__ == "__main__":
    sys.exit(main())
