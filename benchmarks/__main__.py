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

from benchmarks import legs
from benchmarks.legs import Legs
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
TIMED_SECONDS = 3.0
"""Until the server has put what it timed into its metrics."""

INTENT = "one INTENT, flushed"

Step = Callable[[int], Awaitable[list[float]]]
"""Does one step so many times, one after another; how long each took, in seconds."""


@dataclass
class Figures:
    """What the rounds of one subject measured: seconds alone, requests a second together."""

    alone: list[float] = field(default_factory=list)
    rates: list[float] = field(default_factory=list)
    together: list[float] = field(default_factory=list)
    legs: Legs = field(default_factory=Legs)

    def add(self, alone: Measured, together: Measured) -> None:
        """Take in one round."""
        self.alone += alone.seconds
        self.together += together.seconds
        self.rates.append(together.rate)

    @property
    def median_ms(self) -> float:
        """The median of one request alone, in milliseconds."""
        return statistics.median(self.alone) * 1000

    @property
    def rate(self) -> float:
        """The median of requests a second, many at once."""
        return statistics.median(self.rates)


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
            found = figures[subject.name]
            measured = await with_legs(subject, found.legs, alone)
            found.add(measured, await ask_together(subject.request, together, TOGETHER))
        for name, step in steps.items():
            seconds[name] += await step(alone)
    progress("")
    return figures, seconds


async def with_legs(subject: Subject, found: Legs, times: int) -> Measured:
    """Ask one after another, and the server, where it is one of ours, where the time went."""
    if not subject.request.token:
        return await ask_alone(subject.request, times)
    await asyncio.sleep(TIMED_SECONDS)
    before = await asyncio.to_thread(legs.read, subject.request)
    measured = await ask_alone(subject.request, times)
    await asyncio.sleep(TIMED_SECONDS)
    found.add(before, await asyncio.to_thread(legs.read, subject.request))
    return measured


def table(figures: dict[str, Figures]) -> str:
    """All figures as a table."""
    lines = [
        f"{'':42}{'alone':>10}{'p99':>10}{'at ' + str(TOGETHER) + ' at once':>16}{'p99':>10}",
        f"{'':42}{'ms':>10}{'ms':>10}{'a second':>16}{'ms':>10}",
    ]
    for name, each in figures.items():
        lines.append(
            f"{name:42}{each.median_ms:10.2f}{_p99(each.alone):10.2f}"
            f"{each.rate:16.0f}{_p99(each.together):10.2f}"
        )
    return "\n".join(lines)


def verdicts(figures: dict[str, Figures], write_ms: float, intent_ms: float) -> str:
    """The figures against the bounds that the project has set itself."""
    tunnel, clicks = figures["bare tunnel"], figures["bare tunnel, click by pynput on Xvfb"]
    plain, keyed = figures["farhand, no key"], figures["farhand, with a key"]
    clicked = figures["farhand, click on Xvfb"]
    parts = plain.median_ms + 2 * write_ms + intent_ms
    rows = [
        (
            "an input without a key / the bare tunnel",
            plain.median_ms / tunnel.median_ms,
            "most 1.4",
        ),
        ("the same, throughput", plain.rate / tunnel.rate, "least 0.65"),
        ("a click on Xvfb / the tunnel's", clicked.median_ms / clicks.median_ms, "most 1.4"),
        ("with a key / without, two writes and an INTENT", keyed.median_ms / parts, "most 1.25"),
        ("with keys / without, throughput", keyed.rate / plain.rate, "least 0.5"),
    ]
    return "\n".join(f"{name:56}{value:8.2f}   at {bound}" for name, value, bound in rows)


def _p99(seconds: list[float]) -> float:
    return sorted(seconds)[int(len(seconds) * 0.99)] * 1000


async def run(arguments: argparse.Namespace) -> None:
    """Start everything, measure, print, stop everything."""
    async with AsyncExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="farhand-bench-")))
        uri = await stack.enter_async_context(mongodb(directory))
        steps = {
            MAJORITY_WRITE: await stack.enter_async_context(majority_write(uri)),
            INTENT: stack.enter_context(flushed_intent(directory)),
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
    medians = {name: statistics.median(each) * 1000 for name, each in seconds.items()}
    ours = ((name, each) for name, each in figures.items() if each.legs)
    print(legs.table((name, each.legs, statistics.mean(each.alone) * 1000) for name, each in ours))
    print()
    print(verdicts(figures, medians[MAJORITY_WRITE], medians[INTENT]))


def main() -> None:
    """Read the options and run."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--alone", type=int, default=400, help="requests alone in a round")
    parser.add_argument("--together", type=int, default=3000, help="requests at once in a round")
    asyncio.run(run(parser.parse_args()))


if __name__ == "__main__":
    main()
