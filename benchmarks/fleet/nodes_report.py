"""The table of several nodes, and the figures against their bounds."""

import statistics
from dataclasses import replace

from benchmarks.fleet.several_nodes import Cost, Figures, Kill, Together

KIB = 1024


def table(figures: Figures) -> str:
    """All figures as a table."""
    there = figures.together
    parts = _rest(figures), _inputs(there), _returns(there), _machines(there.kill)
    return "\n\n".join(map("\n".join, parts))


def _rest(figures: Figures) -> list[str]:
    share, alone, there = figures.share, figures.alone, figures.together
    bare = Cost(share, figures.floor.bytes_each * share, figures.floor.processor)
    one = Cost(share, alone.bytes_each * share, alone.processor, figures.alone_empty)
    return [
        f"{'at rest':30}{'machines':>10}{'KiB each':>10}{'µs/s each':>11}{'% of a core':>13}"
        f"{'% without':>11}{'beats/s':>9}",
        _cost("bare Tornado websockets", bare, figures.floor.heartbeats),
        _cost("one node", one, alone.heartbeats),
        _cost("mongod beside it", Cost(share, float("nan"), alone.mongod)),
        *(_cost(name, cost) for name, cost in there.nodes.items()),
        _cost("all nodes", all_nodes(there), there.heartbeats),
        _cost("nats-server", there.nats),
        _cost("mongod", replace(there.mongod, bytes=float("nan"))),
    ]


def _cost(name: str, cost: Cost, heartbeats: float = float("nan")) -> str:
    each, microseconds = cost.bytes / cost.machines / KIB, cost.processor / cost.machines * 1e6
    return (
        f"{name:30}{cost.machines:10}{each:10.2f}{microseconds:11.2f}{cost.processor * 100:13.2f}"
        f"{cost.empty * 100:11.2f}{heartbeats:9.1f}"
    ).replace("nan", "  -")


def all_nodes(there: Together) -> Cost:
    """What all nodes take."""
    costs = there.nodes.values()
    return Cost(
        sum(each.machines for each in costs),
        sum(each.bytes for each in costs),
        sum(each.processor for each in costs),
        sum(each.empty for each in costs),
    )


def _inputs(there: Together) -> list[str]:
    lines = [
        f"{'inputs under keys, ms':42}{'done':>10}{'median':>10}{'p99':>11}{'worst':>11}"
        f"{'again':>9}{'failed':>8}"
    ]
    for name, inputs in there.inputs.items():
        median, late, worst = inputs.figures
        lines.append(
            f"{name:42}{len(inputs.seconds):10}{median:10.2f}{late:11.2f}{worst:11.2f}"
            f"{inputs.again:9}{inputs.failures:8}"
        )
    return lines


def _returns(there: Together) -> list[str]:
    lines = [
        f"{'all are back, seconds':42}{'machines':>10}{'first':>10}{'half':>11}{'all':>11}"
        f"{'a second':>9}{'most':>8}"
    ]
    for name, returned in (("at first", there.first), ("after SIGKILL", there.kill.returned)):
        times, rates = returned.times, returned.rates
        lines.append(
            f"{name:42}{len(times):10}{times[0]:10.2f}{statistics.median(times):11.2f}"
            f"{times[-1]:11.2f}{statistics.median(rates):9.0f}{max(rates):8}"
        )
    return lines


def _machines(kill: Kill) -> list[str]:
    rows = [
        ("machines of the killed node", str(kill.machines)),
        ("machines of the others that lost their links", str(kill.others)),
        ("machines at each of the others then", " ".join(map(str, kill.after))),
    ]
    return [f"{what:52}{value:>12}" for what, value in rows]


def verdicts(figures: Figures) -> str:
    """The figures against the bounds that the project has set itself."""
    there, alone = figures.together, figures.alone
    every, processor = all_nodes(there), figures.alone.processor / figures.share
    failed = sum(each.failures for each in there.inputs.values())
    rows = [
        (
            "memory for each machine / one node's",
            every.bytes / every.machines / alone.bytes_each,
            "at most 1.1",
        ),
        (
            "processor time at rest / one node's",
            every.processor / every.machines / processor if processor else float("nan"),
            "at most 1.1",
        ),
        ("all are back after a SIGKILL, s", there.kill.returned.times[-1], "at most 30"),
        ("inputs that failed for good", failed, "at most 0"),
    ]
    return "\n".join(f"{what:56}{value:8.2f}   {bound}" for what, value, bound in rows)
