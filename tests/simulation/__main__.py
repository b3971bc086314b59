"""Runs seeds by hand: ``python -m tests.simulation --seeds 100000``, or one again: ``--seed 7``."""

import argparse
import os
import signal
import subprocess
import sys
import time
from itertools import pairwise

from tests.simulation.clocks import simulated
from tests.simulation.life import Life, forget_garbage, live
from tests.simulation.summary import Summary

DEFAULT_SEEDS = 100_000


def main() -> int:
    """Run what the command line asks for; 0 where every promise was kept."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("--seed", type=int, help="run this one and tell its whole history")
    parser.add_argument("--seeds", type=int, default=DEFAULT_SEEDS, help="how many to run")
    parser.add_argument("--first", type=int, default=0, help="the number of the first")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--json", action="store_true", help="print the counts alone, for programs")
    options = parser.parse_args()
    if options.seed is not None:
        return tell(options.seed)
    if options.processes > 1:
        summary = run_in_processes(options.first, options.seeds, options.processes)
    else:
        forget_garbage()
        summary = run(options.first, options.seeds)
    print(summary.as_json() if options.json else summary.table())
    return 1 if summary.failed else 0


def tell(seed: int) -> int:
    """One seed's history, line by line, and what was wrong with it."""
    with simulated() as clocks:
        life = live(seed, clocks, tracing=True)
    print("\n".join(history(life)))
    return 1 if life.violations else 0


def history(life: Life) -> list[str]:
    """All that happened in a seed, and what was wrong with it."""
    end = [f"  {violation}" for violation in life.violations] or ["  every promise kept"]
    return [*life.trace_lines, f"seed {life.seed}:", *end, ""]


def run(first: int, seeds: int) -> Summary:
    """So many seeds in this process; those that failed are told."""
    summary = Summary(seeds=seeds)
    began = time.perf_counter()
    with simulated() as clocks:
        for seed in range(first, first + seeds):
            life = live(seed, clocks)
            summary.faults += life.faults
            summary.facts += life.facts
            summary.commands += len(life.histories)
            if life.violations:
                summary.failed[seed] = life.violations[0]
                # Told a second time, as nobody listened to the first.
                summary.history = summary.history or history(live(seed, clocks, tracing=True))
    summary.seconds = time.perf_counter() - began
    return summary


def run_in_processes(first: int, seeds: int, processes: int) -> Summary:
    """The same, shared out; every process is given a part of the seeds."""
    began = time.perf_counter()
    bounds = [first + seeds * part // processes for part in range(processes + 1)]
    parts = [
        subprocess.Popen(
            (
                *(sys.executable, "-m", "tests.simulation", "--json", "--processes", "1"),
                *("--first", str(begin), "--seeds", str(end - begin)),
            ),
            stdout=subprocess.PIPE,
            text=True,
        )
        for begin, end in pairwise(bounds)
    ]
    summary = Summary()
    try:
        for part in parts:
            said, _ = part.communicate()
            summary.add(Summary.from_json(said))
    finally:
        for part in parts:
            if part.poll() is None:
                part.send_signal(signal.SIGKILL)
                part.wait()
    summary.seconds = time.perf_counter() - began
    return summary


if __name__ == "__main__":
    raise SystemExit(main())
