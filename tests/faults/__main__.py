"""The long fault run: ``python -m tests.faults``.

The exit code is 1 where a promise was broken, or where the run was interrupted.
"""

import argparse
import random
import shutil
import signal
import sys
import tempfile
from pathlib import Path

from tests.faults.run import Plan, run
from tests.faults.verdict import Verdict

MAX_PRINTED = 20


def main() -> int:
    """Run, print the table and every broken promise; the exit code."""
    plan = _plan()
    # Whoever ends this ends everything that it has started too.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    directory = Path(tempfile.mkdtemp(prefix="farhand-faults-"))
    print(
        f"seed {plan.seed}: {plan.faults} faults, {plan.commands} commands; logs in {directory}",
        flush=True,
    )
    verdict = run(plan, directory, lambda text: print(text, flush=True))
    _print_verdict(verdict)
    is_whole = len(verdict.evidence.faults) >= plan.faults
    if verdict.is_good and is_whole:
        shutil.rmtree(directory)
        return 0
    print(f"the logs are kept in {directory}")
    return 1


def _plan() -> Plan:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--faults", type=int, default=1000, help="how many (default: 1000)")
    parser.add_argument(
        "--commands", type=int, help="how many at least (default: 20 for each fault)"
    )
    parser.add_argument("--seed", type=int, help="chooses faults and commands (default: random)")
    parser.add_argument(
        "--commands-per-second", type=float, default=40.0, help="new ones (default: 40)"
    )
    arguments = parser.parse_args()
    seed = random.randrange(1_000_000) if arguments.seed is None else arguments.seed
    commands = 20 * arguments.faults if arguments.commands is None else arguments.commands
    return Plan(arguments.faults, seed, commands, arguments.commands_per_second)


def _print_verdict(verdict: Verdict) -> None:
    for violation in verdict.violations[:MAX_PRINTED]:
        print(verdict.described(violation), end="\n\n")
    if len(verdict.violations) > MAX_PRINTED:
        print(f"and {len(verdict.violations) - MAX_PRINTED} more\n")
    print(verdict.table(), flush=True)


if __name__ == "__main__":
    sys.exit(main())
