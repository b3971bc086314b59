"""Whether anybody notices a rolling restart: every node is told to end and comes back, in turn.

Light machines hold their links through a proxy that leads each new connection to a node that takes
connections, as a load balancer does, while clients send inputs under keys to all nodes, as if
through one.  A client whose request fails asks another node after what ``Retry-After`` says, once;
every further request of one input is counted.
"""

import asyncio
import signal
import statistics
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.faults.history import Clock
from tests.faults.node import Node
from tests.faults.takeover_clients import Clients, Move
from tests.faults.takeovers import (
    HEARTBEAT,
    NODES,
    PATIENCE_SECONDS,
    Takeovers,
    in_columns,
    injected_in,
    light_machines,
    links,
)
from tests.faults.world import World
from tests.processes import until


@dataclass(frozen=True)
class RestartPlan:
    """How often all nodes are restarted, with how many machines, at how many inputs a second."""

    rounds: int
    machines: int = 500
    rate: float = 200.0
    pause: float = 3.0


@dataclass
class Restarts:
    """What was seen; ``drained`` has the seconds from each signal to the end of its node."""

    drained: list[float] = field(default_factory=list)
    lost_machines: int = 0
    witnessed: Takeovers = field(default_factory=Takeovers)

    def wrong(self) -> dict[str, list[Move]]:
        """The inputs that broke a promise, by which."""
        moves = self.witnessed.moves
        again = [each for each in moves if len(each.problems) > 1]
        return {**self.witnessed.wrong(), "not answered after one retry": again}

    def table(self) -> str:
        """The figures as plain text."""
        moves = self.witnessed.moves
        seconds = sorted(each.seconds for each in moves) or [0.0]
        problems = Counter(problem for each in moves for problem in each.problems)
        rows = [
            ("nodes restarted", f"{len(self.drained)}"),
            ("seconds until one has ended: median", f"{statistics.median(self.drained):.2f}"),
            ("longest", f"{max(self.drained):.2f}"),
            ("inputs", f"{len(moves)}"),
            ("seconds until an input is answered: median", f"{statistics.median(seconds):.3f}"),
            ("99th percentile", f"{seconds[int(len(seconds) * 0.99)]:.3f}"),
            ("longest, a retry included", f"{seconds[-1]:.3f}"),
            *((f"asked again after {name}", f"{count}") for name, count in problems.most_common()),
            ("machines lost", f"{self.lost_machines}"),
            *((name, f"{len(those)}") for name, those in self.wrong().items()),
        ]
        return in_columns(rows)


def measure(plan: RestartPlan, directory: Path, say: Callable[[str], None] = print) -> Restarts:
    """Do it all, with every program's files and logs in a directory."""
    clock = Clock()
    with World.of_nodes(directory, clock, NODES, heartbeat=HEARTBEAT) as world:
        restarts = Restarts()
        with light_machines(world, directory, plan.machines) as machines:
            clients = Clients(
                world.token, clock, lambda: [each.server.port for each in world.nodes]
            )
            clients.again, clients.is_balanced = 0.0, True
            asyncio.run(_restart_all(plan, world, clients, machines, restarts, say))
            restarts.witnessed.moves = clients.moves
    restarts.witnessed.injected = injected_in(directory)
    return restarts


async def _restart_all(
    plan: RestartPlan,
    world: World,
    clients: Clients,
    machines: Sequence[str],
    restarts: Restarts,
    say: Callable[[str], None],
) -> None:
    over = asyncio.Event()
    async with (
        asyncio.timeout(PATIENCE_SECONDS * NODES * (plan.rounds + 1)),
        asyncio.TaskGroup() as load,
    ):
        load.create_task(clients.load(machines, plan.rate, over))
        for _ in range(plan.rounds):
            for node in world.nodes:
                await asyncio.sleep(plan.pause)
                restarts.drained.append(await asyncio.to_thread(_restart, world, node))
                say(f"{node.name} ended after {restarts.drained[-1]:.2f} s, and is back")
                found = await asyncio.to_thread(_count_links, node, world, len(machines))
                restarts.lost_machines += len(machines) - found
        over.set()


def _restart(world: World, node: Node) -> float:
    """Tell a node to end; the seconds until it has, once it is back."""
    ends, starts = len(node.process.exit_codes), node.process.starts
    began_at = world.clock()
    assert node.process.signal(signal.SIGTERM)
    world.serve_by(*(each for each in world.nodes if each is not node))
    assert node.process.wait_for_end(ends + 1, PATIENCE_SECONDS), f"{node.name} does not end"
    took = world.clock() - began_at
    assert node.process.exit_codes[-1] == 0, f"{node.name} ended with {node.process.exit_codes}"
    assert node.process.wait_for_start(starts + 1, PATIENCE_SECONDS), f"{node.name} is not back"
    world.serve_by(*world.nodes)
    return took


def _count_links(node: Node, world: World, expected: int) -> int:
    """How many machines have a link, once all have one, or nobody waits for more."""
    try:
        until(lambda: len(links(node, world)) == expected, "all are linked", PATIENCE_SECONDS)
    except AssertionError:
        return len(links(node, world))
    return expected
