"""``python -m benchmarks``: each figure beside its floor, measured in the same run.

Every subject is a real process (or two) on loopback, asked by this one over kept-alive HTTP
connections.  The rounds of all subjects alternate, so that whatever else the machine does falls
on all of them alike; what is printed is the median over all rounds.
"""

import argparse
import asyncio
import os
import platform
import statistics
import sys
import tempfile
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.load import Measured, ask_alone, ask_together
from benchmarks.subjects import (
    Subject,
    bare_post,
    bare_tunnel,
    farhand_with_injection,
    farhand_without_injection,
    flushed_intent,
    majority_write,
    mongodb,
)

TOGETHER = 32
MAJORITY_WRITE = "one majority write, journaled"

Step = Callable[[int], Awaitable[list[float]]]
"""Does one step so many times, one after another; how long each took, in seconds."""


@dataclass
class Figures:
    """What the rounds of one subject measured: seconds alone, requests a second together."""

    alone: list[float] = field(default_factory=list)
    rates: list[float] = field(default_factory=list)
    together: list[float] = field(default_factory=list)

    def add(self, alone: Measured, together: Measured) -> None:
        """Take in one round."""
        self.alone += alone.seconds
        self.together += together.seconds
        self.rates.append(together.rate)

    @property
    def median_ms(self) -> float:
        """The median of one request alone, in milliseconds."""
        return statistics.median(self.alone) * 1000


def progress(text: str) -> None:
    """Show what is being measured, to a person who waits at a terminal."""
    if sys.stderr.isatty():
        print(f"\r{text:70}\r", end="", file=sys.stderr, flush=True)


async def measure(
    subjects: Sequence[Subject],
    steps: Mapping[str, Step],
    arguments: argparse.Namespace,
) -> tuple[dict[str, Figures], dict[str, list[float]]]:
    """Ask every subject in turn, round after round; and how long the steps took between."""
    rounds, alone, together = arguments.rounds, arguments.alone, arguments.together
    figures = {subject.name: Figures() for subject in subjects}
    seconds: dict[str, list[float]] = {name: [] for name in steps}
    for subject in subjects:
        await ask_alone(subject.request, alone // 10 + 20)
    for number in range(rounds):
        for subject in subjects:
            progress(f"round {number + 1} of {rounds}: {subject.name}")
            figures[subject.name].add(
                await ask_alone(subject.request, alone),
                await ask_together(subject.request, together, TOGETHER),
            )
        for name, step in steps.items():
            seconds[name] += await step(alone)
    progress("")
    return figures, seconds


def table(figures: dict[str, Figures]) -> str:
    """All figures as a table."""
    lines = [
        f"{'':42}{'alone':>10}{'p99':>10}{'at ' + str(TOGETHER) + ' at once':>16}{'p99':>10}",
        f"{'':42}{'ms':>10}{'ms':>10}{'a second':>16}{'ms':>10}",
    ]
    for name, each in figures.items():
        lines.append(
            f"{name:42}{each.median_ms:10.2f}{_p99(each.alone):10.2f}"
            f"{statistics.median(each.rates):16.0f}{_p99(each.together):10.2f}"
        )
    return "\n".join(lines)


def verdicts(figures: dict[str, Figures], write_ms: float) -> str:
    """The figures against the bounds that the project has set itself."""
    tunnel = figures["bare tunnel"]
    plain, keyed = figures["farhand, no key"], figures["farhand, with a key"]
    rate = statistics.median(plain.rates) / statistics.median(tunnel.rates)
    writes = (keyed.median_ms - tunnel.median_ms) / write_ms
    lines = [
        f"{'an input without a key / the bare tunnel, median':56}"
        f"{plain.median_ms / tunnel.median_ms:8.2f}   at most 1.4",
        f"{'the same, throughput':56}{rate:8.2f}   at least 0.6",
        f"{'a key costs beyond the bare tunnel, in majority writes':56}{writes:8.2f}   at most 2.5",
    ]
    if (injected := figures.get("farhand, click on Xvfb")) is not None:
        lines.append(
            f"{'the whole way with injection into Xvfb, median ms':56}"
            f"{injected.median_ms:8.2f}   under 2.5"
        )
    return "\n".join(lines)


def _p99(seconds: list[float]) -> float:
    return sorted(seconds)[int(len(seconds) * 0.99)] * 1000


async def run(arguments: argparse.Namespace) -> None:
    """Start everything, measure, print, stop everything."""
    async with AsyncExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="farhand-bench-")))
        uri = await stack.enter_async_context(mongodb(directory))
        steps = {
            MAJORITY_WRITE: await stack.enter_async_context(majority_write(uri)),
            "one INTENT, flushed": stack.enter_context(flushed_intent(directory)),
        }
        subjects = [
            await stack.enter_async_context(bare_post()),
            await stack.enter_async_context(bare_tunnel()),
            *await stack.enter_async_context(farhand_without_injection(directory, uri)),
            *await stack.enter_async_context(farhand_with_injection(directory, uri)),
        ]
        figures, seconds = await measure(subjects, steps, arguments)
    print(f"{platform.python_implementation()} {platform.python_version()}, {os.cpu_count()} cores")
    print(table(figures))
    for name, each in seconds.items():
        print(f"{name:42}{statistics.median(each) * 1000:10.2f}{_p99(each):10.2f}")
    print()
    print(verdicts(figures, statistics.median(seconds[MAJORITY_WRITE]) * 1000))


def main() -> None:
    """Read the options and run."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--alone", type=int, default=400, help="requests alone in a round")
    parser.add_argument("--together", type=int, default=3000, help="requests at once in a round")
    asyncio.run(run(parser.parse_args()))


if __name__ == "__main__":
    main()
