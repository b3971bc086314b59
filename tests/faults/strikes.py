"""Chooses faults by a seeded random and strikes, at several targets at once."""

import random
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from tests.faults.blows import Blow, NothingDoneError
from tests.faults.history import Fault
from tests.faults.world import World

Job = Callable[[], None]

FINISH_SECONDS = 120.0
TRIES = 50


class Striker:
    """Strikes again and again; never at a target that is still being struck."""

    def __init__(self, world: World, seed: int) -> None:
        self.faults: list[Fault] = []
        self._world = world
        self._seed = seed
        self._numbers = 0
        self._locks: dict[str, threading.Lock] = {}
        self._under_way: list[Future[None]] = []
        self._pool = ThreadPoolExecutor(16, thread_name_prefix="fault")

    def strike(self) -> None:
        """Begin one fault; what it does goes on in the background."""
        self._numbers += 1
        chance = random.Random(f"{self._seed}/fault/{self._numbers}")
        blow = Blow(self._world, chance, self.faults)
        for _ in range(TRIES):
            target, strike, recover = self._chosen(blow, chance)
            lock = self._locks.setdefault(target, threading.Lock())
            if lock.acquire(blocking=False):
                self._under_way.append(self._pool.submit(_struck, strike, recover, lock))
                return

    def finish(self) -> None:
        """Wait until every fault is over; raises what went wrong with one."""
        for future in self._under_way:
            future.result(FINISH_SECONDS)

    def close(self) -> None:
        self._pool.shutdown(cancel_futures=True)

    def _chosen(self, blow: Blow, chance: random.Random) -> tuple[str, Job, Job]:
        """What is struck, how, and what may be waited for before it is struck again."""
        world = self._world
        machine = chance.choice(world.machines)
        kinds: list[tuple[int, str, Job]] = [
            (45, f"link {machine.name}", lambda: blow.strike_link(machine)),
            (10, machine.name, lambda: blow.kill_machine(machine)),
            (9, machine.name, lambda: blow.stop(machine)),
            (14, machine.name, lambda: blow.strike_failpoint(machine, "machine")),
            (2, machine.name, lambda: blow.lose_journal(machine)),
            (3, f"desk of {machine.name}", lambda: blow.get_in_the_way(machine)),
            (6, "server", lambda: blow.kill(world.active)),
            (6, "server", lambda: blow.stop(world.active)),
            (5, "server", lambda: blow.strike_failpoint(world.active, "server")),
            (3, "server", blow.replace_node),
            (8, "mongodb", blow.strike_mongodb),
        ]
        _, target, strike = chance.choices(kinds, [weight for weight, _, _ in kinds])[0]
        recoveries: dict[str, Job] = {
            machine.name: lambda: blow.recover(machine),
            "server": lambda: blow.recover(world.active),
        }
        return target, strike, recoveries.get(target, lambda: None)


def _struck(strike: Job, recover: Job, lock: threading.Lock) -> None:
    try:
        strike()
        recover()
    except NothingDoneError:
        pass
    finally:
        lock.release()
