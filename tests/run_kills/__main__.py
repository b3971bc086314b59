"""Kills within the steps of runs, at random or at each point: ``python -m tests.run_kills``.

The exit code is 1 where a promise was broken.
"""

import argparse
import os
import random
import shutil
import signal
import sys
import tempfile
from pathlib import Path

from tests.run_kills.bench import bench
from tests.run_kills.kills import struck
from tests.run_kills.table import Cell, table_struck, whole_table
from tests.run_kills.together import Together, run_together
from tests.run_kills.victims import Victim

MAX_PRINTED = 20
MACHINES = 10


def main() -> int:
    """Run, print the table and every broken promise; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.run_kills", description=__doc__)
    parser.add_argument("--number", type=int, default=1000, help="of kills (default: 1000)")
    parser.add_argument(
        "--table", action="store_true", help="instead, kill each victim at each failpoint"
    )
    parser.add_argument(
        "--victim",
        type=Victim,
        choices=[*Victim],
        action="append",
        help="of the table (default: all)",
    )
    parser.add_argument(
        "--together", type=int, help="instead, begin so many runs at once, and kill one node"
    )
    parser.add_argument("--machines", type=int, default=MACHINES, help="(default: %(default)s)")
    parser.add_argument("--seed", type=int, help="chooses victims and moments (default: random)")
    given = parser.parse_args()
    # Whoever ends this ends everything that it has started too.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    seed = random.randrange(1_000_000) if given.seed is None else given.seed
    directory = Path(tempfile.mkdtemp(prefix="farhand-run-kills-"))
    print(f"seed {seed}; logs in {directory}", flush=True)
    together: Together | None = None
    left: list[Cell] = []
    with bench(directory, 1 if given.table else given.machines) as (world, desks):
        _say(f"{len(desks)} machines are ready")
        if given.together is not None:
            together = run_together(given.together, seed, world, desks, _say)
            _say("\n".join([*together.wrong[:MAX_PRINTED], together.table()]))
        elif given.table:
            came, left = table_struck(whole_table(given.victim or Victim), world, desks[0], _say)
        else:
            came = struck(given.number, seed, world, desks, _say)
    if together is not None:
        return _ended(directory, is_well=not together.wrong)
    for violation in came.wrong[:MAX_PRINTED]:
        print(f"{violation.broken}: {violation.detail}")
    print(came.table())
    for point, victim in left:
        print(f"never come to: {victim} at {point}")
    is_whole = not left if given.table else len(came.met()) >= given.number
    return _ended(directory, is_well=is_whole and not came.wrong)


def _ended(directory: Path, *, is_well: bool) -> int:
    """The exit code; where something was wrong, the logs are kept."""
    _say(f"load of the machine at the end: {os.getloadavg()[0]:.1f}")
    if not is_well:
        _say(f"the logs are kept in {directory}")
        return 1
    shutil.rmtree(directory, ignore_errors=True)
    return 0


def _say(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    sys.exit(main())
