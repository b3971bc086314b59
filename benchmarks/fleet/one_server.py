"""One server with all machines: at rest, with others beside them, and after it was ended."""

import argparse
import asyncio
import signal
import statistics
import tempfile
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

from benchmarks.fleet.installation import (
    Return,
    choose_settings,
    install,
    listing,
    machines,
    moving,
    restart,
    running,
    until_all_are_back,
)
from benchmarks.fleet.measures import Asked, asking, resident_bytes
from benchmarks.fleet.rest import SETTLING_SECONDS, Rest, at_rest, floor
from benchmarks.restart import Node
from server.store.embedded_mongod import EmbeddedMongoDB

KIB = 1024


@dataclass
class Answers:
    """How long others wait: for an input, for a list among many machines, and among few."""

    inputs: Asked
    many: Asked
    few: Asked | None = None


@dataclass
class Figures:
    """All that one run measures; the returns are after a kill and after a stop in order."""

    floor: Rest
    farhand: Rest
    first: list[float]
    idle: Answers
    returns: dict[str, tuple[Return, Answers]]


async def farhand(
    node: Node, mongod: int | None, file: Path, few: str, arguments: argparse.Namespace
) -> tuple[Rest, list[float], Answers, dict[str, tuple[Return, Answers]]]:
    """The machines at rest, then others beside them, then all of them as they come back."""
    inputs, many = moving(node, node.token), listing(node, node.token)
    async with machines([node.port], file, arguments.seed) as fleet:
        await fleet.hears("witness")
        empty = resident_bytes(node.process.pid)
        fleet.begin()
        first = await fleet.hears("all")
        count = arguments.machines + arguments.few
        rest = await at_rest(node.process.pid, mongod, fleet, empty, count, arguments.window)
        async with asking(inputs, many, listing(node, few)) as asked:
            await asyncio.sleep(arguments.window)
        idle = Answers(*asked)
        returns = {}
        for name, number in (("SIGKILL", signal.SIGKILL), ("SIGTERM", signal.SIGTERM)):
            signalled_at = await restart(node, number)
            async with asking(inputs, many) as asked:
                returned = await until_all_are_back(node, fleet, signalled_at)
            returns[name] = returned, Answers(*asked)
            await asyncio.sleep(SETTLING_SECONDS + 2)
    return rest, first, idle, returns


async def measure(arguments: argparse.Namespace) -> Figures:
    """Start everything, measure, stop everything."""
    async with AsyncExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="farhand-bench-")))
        embedded = EmbeddedMongoDB(directory / "mongodb")
        stack.push_async_callback(embedded.stop)
        uri = await embedded.start()
        choose_settings(uri, arguments.heartbeat)
        node = await stack.enter_async_context(running(directory))
        there = await install(uri, node, arguments.machines, arguments.few, directory)
        bare = await floor(there.file, arguments.machines + arguments.few, arguments)
        measured = await farhand(node, embedded.pid, there.file, there.few, arguments)
        return Figures(bare, *measured)


def table(figures: Figures, arguments: argparse.Namespace) -> str:
    """All figures as a table."""
    lines = [f"{'at rest':42}{'KiB each':>12}{'% of a core':>12}{'beats/s':>10}{'mongod %':>10}"]
    for name, rest in (("bare Tornado websockets", figures.floor), ("farhand", figures.farhand)):
        lines.append(
            f"{name:42}{rest.bytes_each / KIB:12.1f}{rest.processor * 100:12.1f}"
            f"{rest.heartbeats:10.1f}{rest.mongod * 100:10.1f}"
        )
    lines.append(
        f"\n{'others meanwhile, ms':42}{'median':>12}{'p99':>12}{'worst':>10}{'failed':>10}"
    )
    for name, answers in _answers(figures).items():
        median, late, worst = answers.figures
        lines.append(f"{name:42}{median:12.2f}{late:12.2f}{worst:10.2f}{answers.failures:10}")
    lines.append(
        f"\n{'all are back, seconds':42}{'ready':>12}{'first':>12}{'half':>10}{'all':>10}"
        f"{'a second':>10}{'most':>8}"
    )
    began = Return(float("nan"), [each - figures.first[0] for each in figures.first])
    after = {f"after {name}": returned for name, (returned, _) in figures.returns.items()}
    for name, returned in {"at first": began, **after}.items():
        times, rates = returned.times, returned.rates
        lines.append(
            f"{name:42}{returned.ready:12.2f}{times[0]:12.2f}"
            f"{statistics.median(times):10.2f}{times[-1]:10.2f}"
            f"{statistics.median(rates):10.0f}{max(rates):8}"
        )
    return "\n".join(lines)


def _answers(figures: Figures) -> dict[str, Asked]:
    """What others waited for, by what was asked and when."""
    idle = figures.idle
    rows = {"an input, all at rest": idle.inputs, "a list of 100 among all": idle.many}
    if idle.few is not None:
        rows["a list of 100 among few"] = idle.few
    for name, (_, answers) in figures.returns.items():
        rows[f"an input, after {name}"] = answers.inputs
        rows[f"a list of 100, after {name}"] = answers.many
    return rows


def verdicts(figures: Figures) -> str:
    """The figures against the bounds that the project has set itself."""
    few = figures.idle.few
    killed, _ = figures.returns["SIGKILL"]
    ratio = figures.farhand.processor / figures.floor.processor if figures.floor.processor else 0.0
    lists = figures.idle.many.figures[0] / few.figures[0] if few is not None else float("nan")
    rows = [
        ("memory for each machine, KiB", figures.farhand.bytes_each / KIB, "at most 20"),
        ("processor time at rest / bare websockets", ratio, "at most 1.5"),
        ("all are back after a SIGKILL, s", killed.times[-1], "at most 30"),
        ("a list of 100 among all / among few, median", lists, "at most 2"),
    ]
    return "\n".join(f"{what:56}{value:8.2f}   {bound}" for what, value, bound in rows)
