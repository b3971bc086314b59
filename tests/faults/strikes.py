"""Chooses faults by a seeded random and strikes, at several targets at once."""

import random
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass

from schemas.failpoints import Failpoint, Side
from tests.faults.fault_proxy import Action, Strike
from tests.faults.history import Fault
from tests.faults.replica_set import Member, ReplicaSet
from tests.faults.verdict import JournalLoss
from tests.faults.world import Machine, Node, World

STOP_SECONDS = (1.0, 4.0)
DELAY_SECONDS = (0.05, 4.0)
AFTER_SECONDS = (0.0, 0.05)
MESSAGE_SECONDS = 4.0
FAILPOINT_SECONDS = 10.0
RESTART_SECONDS = 60.0
FINISH_SECONDS = 120.0
KEPT_COPIES = 0.5
OLD_NODE_SECONDS = 3.0
TRIES = 50

MESSAGES: Sequence[str | None] = (
    *("input",) * 6,
    *("ack",) * 6,
    *("resolve", "report") * 3,
    *("hello", "welcome", "ready") * 2,
    *("head", "heartbeat", "ping", "pong", None),
)
"""At which messages a proxy strikes, the interesting ones more often; None is whatever comes."""


class NothingDoneError(Exception):
    """The fault could not be struck: its target was not there, or its moment did not come."""


@dataclass(frozen=True)
class Blow:
    """Strikes one target; each fault that really happens is noted with ``note``."""

    world: World
    chance: random.Random
    faults: list[Fault]

    @contextmanager
    def note(self, kind: str, target: str, detail: str = "") -> Iterator[Fault]:
        """Count a fault that happens now and lasts as long as the block.

        NothingDoneError ends the block, and the fault does not count.
        """
        fault = Fault(kind, target, self.world.clock(), detail=detail)
        self.faults.append(fault)
        try:
            yield fault
        except NothingDoneError:
            self.faults.remove(fault)
        finally:
            fault.ended_at = self.world.clock()

    def seconds(self, bounds: tuple[float, float]) -> float:
        return self.chance.uniform(*bounds)

    def kill(self, target: Node | Machine, while_down: Callable[[], None] | None = None) -> None:
        """Kill a program, and have it started again."""
        kept = target.kept
        starts, ends = kept.starts, len(kept.exit_codes)
        with self.note(f"{_what(target)} killed", target.name):
            kept.hold()
            try:
                _done(kept.kill())
                _done(kept.wait_for_end(ends + 1, RESTART_SECONDS))
                if while_down is not None:
                    while_down()
            finally:
                kept.release()
            _done(kept.wait_for_start(starts + 1, RESTART_SECONDS))

    def stop(self, target: Node | Machine) -> None:
        """Have a program stand still for some seconds."""
        with self.note(f"{_what(target)} stopped", target.name):
            _done(target.kept.signal(signal.SIGSTOP))
            time.sleep(self.seconds(STOP_SECONDS))
            target.kept.signal(signal.SIGCONT)

    def strike_failpoint(self, target: Node | Machine, side: Side) -> None:
        """Kill a program, and have it started so that it is struck in the middle of its work."""
        point = self.chance.choice([each for each in Failpoint if each.side == side])
        action = self.chance.choice(["kill", "kill", "stop"])
        passes = self.chance.randint(1, 4)
        kept, starts = target.kept, target.kept.starts
        ends = len(kept.exit_codes)
        target.next_failpoints = f"{point}={action}@{passes}"
        self.kill(target)
        deadline = time.monotonic() + FAILPOINT_SECONDS
        while not (kept.is_stopped or len(kept.exit_codes) > ends + 1):
            if time.monotonic() > deadline:
                # It must not strike later, when nobody would count it.
                self.kill(target)
                return
            time.sleep(0.01)
        with self.note(f"{_what(target)} {action} at {point}", target.name):
            if action == "stop":
                time.sleep(self.seconds(STOP_SECONDS))
                kept.signal(signal.SIGCONT)
            else:
                _done(kept.wait_for_start(starts + 2, RESTART_SECONDS))

    # The link

    def strike_link(self, machine: Machine) -> None:
        """Do something to a machine's connection at some message."""
        action = self.chance.choice(list(Action))
        message = self.chance.choice(MESSAGES)
        when = self.chance.choice(["before", "after"])
        seconds = self.seconds(DELAY_SECONDS if action is Action.DELAY else AFTER_SECONDS)
        for wanted in (message, None):
            strike = Strike(action, wanted, "after" if when == "after" else "before", seconds)
            detail = f"{when} {wanted or 'something'}"
            with self.note(f"link {action}", machine.name, detail) as fault:
                machine.proxy.arm(strike)
                is_struck = strike.struck.wait(MESSAGE_SECONDS)
                _done(is_struck or not machine.proxy.disarm(strike))
                fault.began_at = self.world.clock()
            if fault in self.faults:
                return

    # The journal

    def kill_machine(self, machine: Machine) -> None:
        keeps_copy = self.chance.random() < KEPT_COPIES
        self.kill(machine, machine.copy_journal if keeps_copy else None)

    def lose_journal(self, machine: Machine) -> None:
        """Delete a machine's journal, or put an earlier copy of it back."""
        to_copy = self.chance.random() < 0.5

        def lose() -> None:
            what = "put back from a copy" if to_copy else "deleted"
            with self.note(f"journal {what}", machine.name) as fault:
                _done(machine.lose_journal(to_copy=to_copy))
                self.world.journal_losses.append(JournalLoss(machine.name, fault.began_at))

        self.kill(machine, lose)

    # The nodes

    def replace_node(self) -> None:
        """Have the node stand still, another take its place, and the old one wake up late."""
        world = self.world
        old = world.active
        new = next(node for node in world.nodes if node is not old)
        with self.note("server asleep, replaced, woken", old.name):
            _done(old.kept.signal(signal.SIGSTOP))
            starts, ends = new.kept.starts, len(old.kept.exit_codes)
            new.kept.release()
            if not new.kept.wait_for_start(starts + 1, RESTART_SECONDS):
                new.kept.hold()
                new.kept.kill()
                old.kept.signal(signal.SIGCONT)
                raise NothingDoneError
            world.serve_by(new)
            time.sleep(self.seconds(STOP_SECONDS))
            world.serve_by(new, old)
            old.kept.signal(signal.SIGCONT)
            time.sleep(OLD_NODE_SECONDS)
            world.serve_by(new)
            old.kept.hold()
            old.kept.kill()
            _done(old.kept.wait_for_end(ends + 1, RESTART_SECONDS))

    # MongoDB

    def strike_mongodb(self) -> None:
        replica_set = self.world.replica_set
        strike = self.chance.choice(
            [self._step_down, self._step_down, self._kill_member, self._stop_member]
        )
        strike(replica_set)
        replica_set.wait_until_whole()

    def _step_down(self, replica_set: ReplicaSet) -> None:
        with self.note("MongoDB primary stepped down", "mongodb"):
            _done(replica_set.step_down())

    def _kill_member(self, replica_set: ReplicaSet) -> None:
        role, member = self._member(replica_set)
        with self.note(f"MongoDB {role} killed", "mongodb"):
            _done(member.kept.kill())

    def _stop_member(self, replica_set: ReplicaSet) -> None:
        role, member = self._member(replica_set)
        with self.note(f"MongoDB {role} stopped", "mongodb"):
            _done(replica_set.pause(member, self.seconds(STOP_SECONDS)))

    def _member(self, replica_set: ReplicaSet) -> tuple[str, Member]:
        is_primary = self.chance.random() < 0.6
        member = replica_set.primary() if is_primary else replica_set.secondary(self.chance)
        if member is None:
            raise NothingDoneError
        return ("primary" if is_primary else "secondary"), member


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
            target, strike = self._chosen(blow, chance)
            lock = self._locks.setdefault(target, threading.Lock())
            if lock.acquire(blocking=False):
                self._under_way.append(self._pool.submit(_struck, strike, lock))
                return

    def finish(self) -> None:
        """Wait until every fault is over; raises what went wrong with one."""
        for future in self._under_way:
            future.result(FINISH_SECONDS)

    def close(self) -> None:
        self._pool.shutdown(cancel_futures=True)

    def _chosen(self, blow: Blow, chance: random.Random) -> tuple[str, Callable[[], None]]:
        world = self._world
        machine = chance.choice(world.machines)
        kinds: list[tuple[int, str, Callable[[], None]]] = [
            (45, f"link {machine.name}", lambda: blow.strike_link(machine)),
            (10, machine.name, lambda: blow.kill_machine(machine)),
            (9, machine.name, lambda: blow.stop(machine)),
            (9, machine.name, lambda: blow.strike_failpoint(machine, "machine")),
            (2, machine.name, lambda: blow.lose_journal(machine)),
            (6, "server", lambda: blow.kill(world.active)),
            (6, "server", lambda: blow.stop(world.active)),
            (5, "server", lambda: blow.strike_failpoint(world.active, "server")),
            (2, "server", blow.replace_node),
            (8, "mongodb", blow.strike_mongodb),
        ]
        _, target, strike = chance.choices(kinds, [weight for weight, _, _ in kinds])[0]
        return target, strike


def _struck(strike: Callable[[], None], lock: threading.Lock) -> None:
    try:
        strike()
    except NothingDoneError:
        pass
    finally:
        lock.release()


def _done(is_done: bool) -> None:
    if not is_done:
        raise NothingDoneError


def _what(target: Node | Machine) -> str:
    return "server" if isinstance(target, Node) else "machine client"
