"""Chooses faults by a seeded random number generator, and injects several at once."""

import random
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from tests.faults.fault_injector import FaultInjector, NotInjectedError
from tests.faults.history import Fault
from tests.faults.world import World

Job = Callable[[], None]

FINISH_SECONDS = 120.0
TRIES = 50


class FaultSchedule:
    """Injects one fault after another; never two at once into the same target."""

    def __init__(self, world: World, seed: int) -> None:
        self.faults: list[Fault] = []
        self._world = world
        self._seed = seed
        self._numbers = 0
        self._locks: dict[str, threading.Lock] = {}
        self._under_way: list[Future[None]] = []
        self._pool = ThreadPoolExecutor(16, thread_name_prefix="fault")

    def inject(self) -> None:
        """Begin one fault; what it does goes on in the background."""
        self._numbers += 1
        rng = random.Random(f"{self._seed}/fault/{self._numbers}")
        injector = FaultInjector(self._world, rng, self.faults)
        for _ in range(TRIES):
            target, inject, recover = self._choose(injector, rng)
            lock = self._locks.setdefault(target, threading.Lock())
            if lock.acquire(blocking=False):
                self._under_way.append(self._pool.submit(_run, inject, recover, lock))
                return

    def finish(self) -> None:
        """Wait until every fault is over; raises what went wrong with one."""
        for future in self._under_way:
            future.result(FINISH_SECONDS)

    def close(self) -> None:
        self._pool.shutdown(cancel_futures=True)

    def _choose(self, injector: FaultInjector, rng: random.Random) -> tuple[str, Job, Job]:
        """The target, the fault, and what may be waited for before the next fault there."""
        world = self._world
        machine = rng.choice(world.machines)
        kinds: list[tuple[int, str, Job]] = [
            (45, f"link {machine.name}", lambda: injector.disturb_link(machine)),
            (10, machine.name, lambda: injector.kill_machine(machine)),
            (9, machine.name, lambda: injector.stop(machine)),
            (14, machine.name, lambda: injector.act_at_failpoint(machine, "machine")),
            (2, machine.name, lambda: injector.lose_journal(machine)),
            (3, f"desk of {machine.name}", lambda: injector.press_by_hand(machine)),
            (6, "server", lambda: injector.kill(world.active)),
            (6, "server", lambda: injector.stop(world.active)),
            (5, "server", lambda: injector.act_at_failpoint(world.active, "server")),
            (3, "server", injector.replace_node),
            (8, "mongodb", injector.disturb_mongodb),
        ]
        _, target, inject = rng.choices(kinds, [weight for weight, _, _ in kinds])[0]
        recoveries: dict[str, Job] = {
            machine.name: lambda: injector.recover(machine),
            "server": lambda: injector.recover(world.active),
        }
        return target, inject, recoveries.get(target, lambda: None)


def _run(inject: Job, recover: Job, lock: threading.Lock) -> None:
    try:
        inject()
        recover()
    except NotInjectedError:
        pass
    finally:
        lock.release()
