"""Chooses faults by a seeded random number generator, and injects several at once."""

import random
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from tests.faults.control import take_control
from tests.faults.fault_injector import FaultInjector, NotInjectedError
from tests.faults.history import Fault
from tests.faults.node import Node
from tests.faults.several_nodes import SeveralNodes
from tests.faults.world import Machine, World

Job = Callable[[], None]

Kind = tuple[int, str, Job]
"""How often one comes, its target, and what it does."""

KINDS_OF_SEVERAL_NODES = 10
"""Those that are certain to happen when they are chosen."""

FINISH_SECONDS = 120.0
TRIES = 50


class FaultSchedule:
    """Injects one fault after another; never two at once into the same target.

    Of those that only several nodes can have, each comes once before any comes by chance.  With
    ``of_machines`` all strike at machine clients, their links and their desktops.
    """

    def __init__(self, world: World, seed: int, *, of_machines: bool = False) -> None:
        self._of_machines = of_machines
        self.faults: list[Fault] = []
        self._world = world
        self._seed = seed
        self._numbers = 0
        self._first = [] if world.nats is None else list(range(KINDS_OF_SEVERAL_NODES))
        random.Random(seed).shuffle(self._first)
        self._locks: dict[str, threading.Lock] = {}
        self._under_way: list[Future[None]] = []
        self._pool = ThreadPoolExecutor(16, thread_name_prefix="fault")

    def inject(self) -> None:
        """Begin one fault; what it does goes on in the background."""
        self._numbers += 1
        rng = random.Random(f"{self._seed}/fault/{self._numbers}")
        injector = FaultInjector(self._world, rng, self.faults)
        for _ in range(TRIES):
            is_first = bool(self._first)
            (_, target, inject), recover = self._choose(injector, rng)
            lock = self._locks.setdefault(target, threading.Lock())
            if lock.acquire(blocking=False):
                if is_first:
                    self._first.pop()
                self._under_way.append(self._pool.submit(_run, inject, recover, lock))
                return

    def finish(self) -> None:
        """Wait until every fault is over; raises what went wrong with one."""
        for future in self._under_way:
            future.result(FINISH_SECONDS)

    def close(self) -> None:
        self._pool.shutdown(cancel_futures=True)

    def _choose(self, injector: FaultInjector, rng: random.Random) -> tuple[Kind, Job]:
        """A fault, and what may be waited for before the next one of its target."""
        world = self._world
        machine = rng.choice(world.machines)
        node = world.active if world.nats is None else rng.choice(world.nodes)
        of_nodes = _of_one_node(injector) if world.nats is None else _of_several(injector, node)
        if self._of_machines:
            return _of_machine(injector, machine), lambda: injector.recover(machine)
        if self._first:
            return of_nodes[self._first[-1]], lambda: None
        kinds: list[Kind] = [
            (45, f"link {machine.name}", lambda: injector.disturb_link(machine)),
            (10, machine.name, lambda: injector.kill_machine(machine)),
            (9, machine.name, lambda: injector.stop(machine)),
            (14, machine.name, lambda: injector.act_at_failpoint(machine, "machine")),
            (2, machine.name, lambda: injector.lose_journal(machine)),
            (3, f"desk of {machine.name}", lambda: injector.press_by_hand(machine)),
            (6, f"control of {machine.name}", lambda: take_control(injector, machine)),
            *of_nodes,
            (8, "mongodb", injector.disturb_mongodb),
        ]
        chosen = rng.choices(kinds, [weight for weight, _, _ in kinds])[0]
        recoveries: dict[str, Job] = {
            machine.name: lambda: injector.recover(machine),
            of_nodes[0][1]: lambda: injector.recover(node),
        }
        return chosen, recoveries.get(chosen[1], lambda: None)


def _of_machine(injector: FaultInjector, machine: Machine) -> Kind:
    kinds: list[Kind] = [
        (4, f"link {machine.name}", lambda: injector.disturb_link(machine)),
        (10, machine.name, lambda: injector.kill_machine(machine)),
        (3, machine.name, lambda: injector.stop(machine)),
        (14, machine.name, lambda: injector.act_at_failpoint(machine, "machine")),
        (1, f"desk of {machine.name}", lambda: injector.stop_desktop(machine)),
    ]
    return injector.rng.choices(kinds, [weight for weight, _, _ in kinds])[0]


def _of_one_node(injector: FaultInjector) -> list[Kind]:
    # Of the two only one can be struck at a time.
    world, target = injector.world, "server"
    return [
        (6, target, lambda: injector.kill(world.active)),
        (6, target, lambda: injector.stop(world.active)),
        (5, target, lambda: injector.act_at_failpoint(world.active, "server")),
        (3, target, injector.replace_node),
    ]


def _of_several(injector: FaultInjector, node: Node) -> list[Kind]:
    several, target = SeveralNodes(injector), node.name
    to_nats, to_mongodb = f"NATS of {node.name}", f"MongoDB of {node.name}"
    return [
        (8, target, lambda: injector.kill(node)),
        (8, target, lambda: injector.stop(node)),
        (6, target, lambda: several.put_to_sleep(node)),
        (6, target, lambda: several.drain(node)),
        (4, "nats", several.kill_nats),
        (4, "nats", several.stop_nats),
        (5, to_nats, lambda: several.cut(node, "NATS")),
        (5, to_nats, lambda: several.hold(node, "NATS")),
        (5, to_mongodb, lambda: several.cut(node, "MongoDB")),
        (5, to_mongodb, lambda: several.hold(node, "MongoDB")),
        (8, target, lambda: injector.act_at_failpoint(node, "server")),
    ]


def _run(inject: Job, recover: Job, lock: threading.Lock) -> None:
    try:
        inject()
        recover()
    except NotInjectedError:
        pass
    finally:
        lock.release()
