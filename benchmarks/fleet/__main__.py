"""``python -m benchmarks.fleet``: very many machines that are connected and wait.

A real server with a MongoDB of the benchmark's own, and simulated machines in one process, which
speak the real link.  What a machine takes of the server is measured beside what a bare Tornado
websocket with the same heartbeats takes, in the same run; then the server is killed, and then
stopped in order, and all machines come back, while others ask it for inputs and lists.

With --nodes there are several servers with a NATS, and machines spread over them; then one of them
is killed, and its machines come to the others.

All on one system: the machines' process and mongod share its processors with the server.
"""

import argparse
import asyncio
import os
import platform
from collections.abc import Callable

from benchmarks.fleet import nodes_report, one_server, several_nodes
from benchmarks.fleet.installation import allow_files
from benchmarks.fleet.shards import MOST_IN_A_PROCESS


def positive(kind: Callable[[str], float]) -> Callable[[str], float]:
    """Reads a number of this kind that is greater than zero."""

    def read(text: str) -> float:
        if (number := kind(text)) <= 0:
            raise ValueError
        return number

    return read


def options() -> argparse.ArgumentParser:
    """What may be chosen."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fleet", description=__doc__)
    parser.add_argument("--machines", type=positive(int), default=1000)
    parser.add_argument(
        "--few",
        type=positive(int),
        default=100,
        help="machines of another organization, whose list the list of all is compared with; only "
        "with one node",
    )
    parser.add_argument("--nodes", type=positive(int), default=1)
    parser.add_argument("--heartbeat", type=positive(float), default=20.0, help="seconds")
    parser.add_argument("--window", type=positive(float), default=20.0, help="seconds at rest")
    parser.add_argument("--seed", type=int, default=1)
    return parser


def of_one(arguments: argparse.Namespace) -> str:
    """Measure one server."""
    allow_files(arguments.machines + arguments.few)
    figures = asyncio.run(one_server.measure(arguments))
    return (
        f"{system()}, {arguments.machines} + {arguments.few} machines, "
        f"heartbeat {arguments.heartbeat:g} s, seed {arguments.seed}\n"
        f"{one_server.table(figures, arguments)}\n\n{one_server.verdicts(figures)}"
    )


def of_several(arguments: argparse.Namespace) -> str:
    """Measure several nodes."""
    # The nodes that are left have all machines in the end.
    at_each = -(-arguments.machines // (arguments.nodes - 1))
    allow_files(max(at_each, min(arguments.machines, MOST_IN_A_PROCESS)))
    figures = asyncio.run(several_nodes.measure(arguments))
    return (
        f"{system()}, {arguments.nodes} nodes, {arguments.machines} machines, "
        f"heartbeat {arguments.heartbeat:g} s, seed {arguments.seed}\n"
        f"{nodes_report.table(figures)}\n\n{nodes_report.verdicts(figures)}"
    )


def system() -> str:
    """What all of it ran on."""
    return (
        f"{platform.python_implementation()} {platform.python_version()}, {os.cpu_count()} cores, "
        f"load {os.getloadavg()[0]:.1f}"
    )


def main() -> None:
    """Read the options, measure, print."""
    parser = options()
    arguments = parser.parse_args()
    if arguments.nodes == 1:
        print(of_one(arguments))
        return
    if arguments.machines < 2 * arguments.nodes:
        parser.error("each node needs two machines at least")
    print(of_several(arguments))


if __name__ == "__main__":
    main()
