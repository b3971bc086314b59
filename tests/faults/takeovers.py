"""How soon the machines of a killed node work again through the others: kill after kill.

Light machines hold their links through a proxy that leads each new connection to a node that
lives, while clients send inputs under keys to all nodes.  Then a node is killed, and each machine
that it had is sent an input through the others.  Every input is held against what was injected.
"""

import asyncio
import statistics
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from machine_client.link.reconnecting import LASTING_SECONDS
from tests.faults.arrivals import Place
from tests.faults.fault_proxy import FaultProxy
from tests.faults.history import Clock
from tests.faults.light_machines import INJECTED, TOKENS
from tests.faults.node import Node
from tests.faults.supervised_process import child
from tests.faults.takeover_clients import Clients, Move
from tests.faults.world import World
from tests.processes import ServedApi, until

NODES = 3
HEARTBEAT = "20"
"""Seconds, as servers and machine clients have it by themselves."""

RESTART_SECONDS = 2.0
"""After which a service manager starts a node again that was killed (config/farhand.service)."""

PATIENCE_SECONDS = 120.0
PAGE = 100


@dataclass(frozen=True)
class TakeoverPlan:
    """How often a node is killed, with how many machines; inputs a second, and pauses between.

    A pause is longer than a link must stand to be a lasting one: machine clients wait ever longer
    after links that are lost at once.
    """

    kills: int
    machines: int = 200
    rate: float = 10.0
    pause: float = LASTING_SECONDS + 1


@dataclass
class Takeovers:
    """What was measured, in seconds, and every input beside how often it was injected."""

    seconds: list[float] = field(default_factory=list)
    kills: int = 0
    moves: Sequence[Move] = ()
    injected: Mapping[tuple[str, Place], int] = field(default_factory=dict)

    def wrong(self) -> dict[str, list[Move]]:
        """The inputs that broke a promise, by which."""

        def those(is_wrong: Callable[[Move, int], object]) -> list[Move]:
            return [
                each
                for each in self.moves
                if is_wrong(each, self.injected.get((each.machine, each.place), 0))
            ]

        return {
            "double injections": those(lambda _, times: times > 1),
            '"completed" and not injected': those(
                lambda each, times: each.is_completed and times == 0
            ),
            '"not carried out", and injected': those(
                lambda each, times: times and each.answers and not each.is_completed
            ),
            "final answers that differ": those(lambda each, _: len(set(each.answers)) > 1),
            "keys without a final answer": those(lambda each, _: not each.answers),
            "neither completed nor not carried out": those(
                lambda each, _: any(answer.status not in (200, 503) for answer in each.answers)
            ),
        }

    def table(self) -> str:
        """The figures as plain text."""
        seconds = sorted(self.seconds) or [0.0]
        problems = Counter(problem for each in self.moves for problem in each.problems)
        answers = Counter(each.answers[0].status for each in self.moves if each.answers)
        rows: list[tuple[str, str]] = [
            ("nodes killed", f"{self.kills}"),
            ("machines taken over", f"{len(self.seconds)}"),
            ("seconds from the kill to a 200: median", f"{statistics.median(seconds):.2f}"),
            ("99th percentile", f"{seconds[int(len(seconds) * 0.99)]:.2f}"),
            ("longest", f"{seconds[-1]:.2f}"),
            ("inputs", f"{len(self.moves)}"),
            ("requests", f"{sum(each.requests for each in self.moves)}"),
            *((f"answered with {name}", f"{count}") for name, count in sorted(answers.items())),
            *((f"asked again after {name}", f"{count}") for name, count in problems.most_common()),
            *((name, f"{len(moves)}") for name, moves in self.wrong().items()),
        ]
        return in_columns(rows)


def measure(plan: TakeoverPlan, directory: Path, say: Callable[[str], None] = print) -> Takeovers:
    """Do it all, with every program's files and logs in a directory."""
    clock = Clock()
    with World.of_nodes(directory, clock, NODES, heartbeat=HEARTBEAT) as world:
        takeovers = Takeovers()
        with light_machines(world, directory, plan.machines) as machines:
            clients = Clients(world.token, clock, world.ports)
            asyncio.run(_kill_again_and_again(plan, world, clients, machines, takeovers, say))
            takeovers.moves = clients.moves
    takeovers.injected = injected_in(directory)
    return takeovers


def in_columns(rows: Sequence[tuple[str, str]]) -> str:
    """Names and values as plain text."""
    width = max(len(name) for name, _ in rows)
    return "\n".join(f"{name:{width}} {value:>8}" for name, value in rows)


def injected_in(directory: Path) -> Mapping[tuple[str, Place], int]:
    """How often light machines have injected each input."""
    lines = (directory / INJECTED).read_text().splitlines()
    return Counter((machine, Place(int(x), int(y))) for machine, x, y in map(str.split, lines))


@contextmanager
def light_machines(world: World, directory: Path, count: int) -> Iterator[Sequence[str]]:
    """Machines that are online, by their ids; the link of each is at any node."""
    machines = [f"light-{number}" for number in range(count)]
    with FaultProxy(world.address) as proxy:
        urls = dict.fromkeys(machines, proxy.url)
        with light_machines_at(urls, world, directory):
            yield machines


@contextmanager
def light_machines_at(urls: Mapping[str, str], world: World, directory: Path) -> Iterator[None]:
    """Machines that are online, by their ids; ``urls`` is where each finds a node."""
    api = world.active.server.api()
    lines = [f"{machine} {api.add_machine(machine)} {url}\n" for machine, url in urls.items()]
    api.close()
    (directory / TOKENS).write_text("".join(lines))
    program = "-m", "tests.faults.light_machines"
    with child(directory / "machines.log", sys.executable, *program, str(directory)):
        first, count = world.nodes[0], len(urls)
        until(lambda: len(links(first, world)) == count, "all are there", PATIENCE_SECONDS)
        yield


async def _kill_again_and_again(
    plan: TakeoverPlan,
    world: World,
    clients: Clients,
    machines: Sequence[str],
    takeovers: Takeovers,
    say: Callable[[str], None],
) -> None:
    over = asyncio.Event()
    async with asyncio.timeout(PATIENCE_SECONDS * (plan.kills + 1)), asyncio.TaskGroup() as load:
        load.create_task(clients.load(machines, plan.rate, over))
        while takeovers.kills < plan.kills:
            await asyncio.sleep(plan.pause)
            seconds = await _kill(world, clients, len(machines))
            takeovers.kills += 1
            takeovers.seconds += seconds
            longest = max(seconds, default=0.0)
            say(f"kill {takeovers.kills}: {len(seconds)} machines back after {longest:.2f} s")
        over.set()


async def _kill(world: World, clients: Clients, machines: int) -> list[float]:
    """Kill the node with the most machines; the seconds until each of them has moved."""
    found = await asyncio.to_thread(links, world.nodes[0], world)
    name, _ = Counter(found.values()).most_common(1)[0]
    victim = next(node for node in world.nodes if node.name == name)
    others = [node.server.port for node in world.nodes if node is not victim]
    orphans = [machine for machine, node in found.items() if node == name]
    starts = victim.process.starts
    killed_at = clients.clock()
    victim.process.disable_restart()
    victim.process.kill()
    asyncio.get_running_loop().call_later(RESTART_SECONDS, victim.process.enable_restart)

    async def until_moved(machine: str) -> float:
        while not (await clients.move(machine, ports=others)).is_completed:
            pass
        return clients.clock() - killed_at

    seconds = await asyncio.gather(*map(until_moved, orphans))
    started = await asyncio.to_thread(victim.process.wait_for_start, starts + 1, PATIENCE_SECONDS)
    assert started, f"{name} did not come back"
    await asyncio.to_thread(
        until, lambda: len(links(victim, world)) == machines, "all are linked", PATIENCE_SECONDS
    )
    return list(seconds)


def links(node: Node, world: World) -> dict[str, str]:
    """The node of each machine that is online, as one node says."""
    api = ServedApi(node.server.url, world.token)
    found: dict[str, str] = {}
    with closing(api):
        while True:
            path = f"/v1/machines?skip={len(found)}&limit={PAGE}"
            page: list[dict[str, Any]] = api.call("GET", path).json["items"]
            found |= {each["id"]: each["node"] or "" for each in page}
            if len(page) < PAGE:
                return {machine: name for machine, name in found.items() if name}
