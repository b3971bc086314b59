"""Several nodes with all machines spread over them: at rest, and while one of them is killed.

Beside them stand bare websockets, and one node alone without a bus, each with as many machines as
one of the nodes has: what a node takes more for its own is what those elsewhere cost it.
"""

import argparse
import asyncio
import signal
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from benchmarks.fleet.installation import (
    Installed,
    Return,
    choose_settings,
    install,
    machines,
    running,
)
from benchmarks.fleet.keyed_inputs import Insisted, KeyedInputs, insisting
from benchmarks.fleet.measures import resident_bytes
from benchmarks.fleet.rest import Rest, at_rest, floor, processor_parts, while_waiting
from benchmarks.fleet.shards import Shards, shards
from benchmarks.restart import Node
from server.bus.nats_server import EmbeddedNats
from server.store.embedded_mongod import EmbeddedMongoDB

BEGUN_PER_SECOND = 300
MOST_BEGUN = 200
"""Machines on their way at once: all of this shares a few processors, which none of it may swamp
before it is measured."""

LONGEST_ASKING_SECONDS = 20.0
LONGEST_EMPTY_SECONDS = 10.0


@dataclass(frozen=True)
class Cost:
    """What a process takes for so many machines: bytes, and parts of a processor.

    ``empty`` is what it takes of that before they come.
    """

    machines: int
    bytes: float
    processor: float
    empty: float = float("nan")


@dataclass(frozen=True)
class Kill:
    """What became of a killed node's machines; the times are seconds since then.

    ``others`` is how many machines of other nodes lost their links meanwhile, and ``after`` how
    many each node has that is left.
    """

    machines: int
    returned: Return
    others: int
    after: Sequence[int]


@dataclass(frozen=True)
class Together:
    """What all nodes do with all machines."""

    nodes: Mapping[str, Cost]
    nats: Cost
    mongod: Cost
    heartbeats: float
    first: Return
    kill: Kill
    inputs: Mapping[str, Insisted]


@dataclass(frozen=True)
class Figures:
    """All that one run measures; ``share`` machines were on bare websockets, and on one node."""

    share: int
    floor: Rest
    alone: Rest
    alone_empty: float
    together: Together


@dataclass(frozen=True)
class Cluster:
    """Nodes of one installation, and the processes that they share."""

    nodes: Mapping[str, Node]
    nats: int
    mongod: int

    @property
    def ports(self) -> list[int]:
        """Where the nodes are."""
        return [each.port for each in self.nodes.values()]

    @property
    def pids(self) -> list[int]:
        """The nodes, NATS and MongoDB."""
        return [*(each.process.pid for each in self.nodes.values()), self.nats, self.mongod]


async def measure(arguments: argparse.Namespace) -> Figures:
    """Start everything, measure, stop everything."""
    async with AsyncExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="farhand-bench-")))
        mongodb = EmbeddedMongoDB(directory / "mongodb")
        stack.push_async_callback(mongodb.stop)
        uri = await mongodb.start()
        choose_settings(uri, arguments.heartbeat)
        share = arguments.machines // arguments.nodes
        there, bare, alone, without = await one_alone(uri, mongodb, directory, share, arguments)
        async with (
            several(mongodb, directory, arguments.nodes) as cluster,
            shards(cluster.ports, there.file, arguments.seed) as fleet,
        ):
            of_all = await together(cluster, fleet, there, arguments)
            return Figures(share, bare, alone, without, of_all)


async def one_alone(
    uri: str,
    mongodb: EmbeddedMongoDB,
    directory: Path,
    share: int,
    arguments: argparse.Namespace,
) -> tuple[Installed, Rest, Rest, float]:
    """Add all machines, and see what a share of them takes of bare websockets and of one node.

    The last is what part of a processor the node takes without them.
    """
    home = directory / "alone"
    home.mkdir()
    async with running(home) as node:
        there = await install(uri, node, arguments.machines, 0, directory)
        file = there.file.with_name("share")
        file.write_text("".join(there.file.read_text().splitlines(keepends=True)[:share]))
        bare = await floor(file, share, arguments)
        pid = node.process.pid
        async with machines([node.port], file, arguments.seed) as fleet:
            await fleet.hears("witness")
            empty, (without,) = resident_bytes(pid), await empty_parts([pid], arguments)
            fleet.begin(BEGUN_PER_SECOND, MOST_BEGUN)
            await fleet.hears("all")
            rest = await at_rest(pid, mongodb.pid, fleet, empty, share, arguments.window)
    return there, bare, rest, without


async def empty_parts(pids: Sequence[int], arguments: argparse.Namespace) -> list[float]:
    """What parts of a processor some processes take before machines come."""
    return await processor_parts(pids, min(arguments.window, LONGEST_EMPTY_SECONDS))


@asynccontextmanager
async def several(mongodb: EmbeddedMongoDB, directory: Path, count: int) -> AsyncIterator[Cluster]:
    """So many nodes with a NATS; they are killed at the end, as their machines are gone by then."""
    async with AsyncExitStack() as stack:
        nats = EmbeddedNats(directory / "nats")
        stack.push_async_callback(nats.stop)
        url, nodes = await nats.start(), {}
        for name in (f"node-{number}" for number in range(1, count + 1)):
            home = directory / name
            home.mkdir()
            node = running(home, signal.SIGKILL, FARHAND_NODE_NAME=name, FARHAND_NATS_URL=url)
            nodes[name] = await stack.enter_async_context(node)
        if nats.pid is None or mongodb.pid is None:
            raise RuntimeError("NATS or MongoDB has ended")
        yield Cluster(nodes, nats.pid, mongodb.pid)


async def together(
    cluster: Cluster, fleet: Shards, there: Installed, arguments: argparse.Namespace
) -> Together:
    """The figures of all nodes: at rest, with others' inputs, and after a kill."""
    without = await empty_parts(cluster.pids, arguments)
    before = [resident_bytes(each) for each in cluster.pids]
    first = await fleet.begin(BEGUN_PER_SECOND, MOST_BEGUN)
    began = Return(float("nan"), [each - first[0] for each in first])
    waiting = await while_waiting(cluster.pids, fleet, arguments.window)
    at = Counter(chain.from_iterable(await fleet.where()))
    counts = [at[port] for port in cluster.ports] + 2 * [arguments.machines]
    *nodes, nats, mongod = [
        Cost(count, resident - empty, processor, idle)
        for count, empty, resident, processor, idle in zip(
            counts, before, waiting.resident, waiting.processor, without, strict=True
        )
    ]
    clients = KeyedInputs(cluster.ports, there.many)
    async with insisting(clients, machine_ids(range(arguments.machines))) as calm:
        await asyncio.sleep(min(arguments.window, LONGEST_ASKING_SECONDS))
    kill, after = await kill_one(cluster, fleet, clients)
    return Together(
        dict(zip(cluster.nodes, nodes, strict=True)),
        nats,
        mongod,
        waiting.heartbeats,
        began,
        kill,
        {"all at rest": calm[0], **after},
    )


async def kill_one(
    cluster: Cluster, fleet: Shards, clients: KeyedInputs
) -> tuple[Kill, dict[str, Insisted]]:
    """Kill the last node, and wait until all its machines are at the others."""
    victim = [*cluster.nodes.values()][-1]
    where = await fleet.where()
    ports = [*chain.from_iterable(where)]
    theirs = machine_ids(number for number, port in enumerate(ports) if port == victim.port)
    others = machine_ids(number for number, port in enumerate(ports) if port != victim.port)
    async with insisting(clients, others, theirs) as insisted:
        killed_at = time.time()
        await victim.end(signal.SIGKILL)
        back = await fleet.back_since(killed_at, [part.count(victim.port) for part in where])
    at = Counter(chain.from_iterable(await fleet.where()))
    kill = Kill(
        len(theirs),
        Return(float("nan"), [each - killed_at for each in back]),
        len(back) - len(theirs),
        [at[port] for port in cluster.ports if port != victim.port],
    )
    names = "its machines, after SIGKILL", "others' machines, after SIGKILL"
    return kill, dict(zip(names, reversed(insisted), strict=True))


def machine_ids(numbers: Iterable[int]) -> list[str]:
    """The ids of machines by their places in the file."""
    return [f"bench-{number}" for number in numbers]
