"""What can be done to each part of the system, one fault at a time."""

import random
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from schemas.programs.failpoints import Failpoint, Side
from tests.faults.arrivals import TYPED_KEYS
from tests.faults.fault_proxy import Action, Strike
from tests.faults.history import SOMEBODY_HOLDS, Fault
from tests.faults.replica_set import Member, ReplicaSet
from tests.faults.verdict import JournalLoss
from tests.faults.world import Machine, Node, World

STOP_SECONDS = (1.0, 4.0)
HOLD_SECONDS = (0.2, 2.0)
DELAY_SECONDS = (0.05, 4.0)
AFTER_SECONDS = (0.0, 0.05)
MESSAGE_SECONDS = 4.0
FAILPOINT_SECONDS = 10.0
RESTART_SECONDS = 60.0
KEPT_COPIES = 0.5
RECOVERIES = 0.8
OLD_NODE_SECONDS = 3.0
MACHINES_SECONDS = 6.0

MESSAGES: Sequence[str | None] = (
    *("input",) * 6,
    *("ack",) * 6,
    *("resolve", "report") * 3,
    *("hello", "welcome", "ready") * 2,
    *("head", "heartbeat", "ping", "pong", None),
)
"""At which messages a proxy strikes, the interesting ones more often; None is whatever comes."""

_ASLEEP_AT = (*(Failpoint.AFTER_ACK,) * 3, Failpoint.AFTER_SENT, Failpoint.AFTER_BYTES)


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

    def recover(self, target: Node | Machine) -> None:
        """Often let a target come back before it is struck again: faults need work to strike at."""
        if self.chance.random() < RECOVERIES:
            self._wait_for_machines(*([target] if isinstance(target, Machine) else []))

    def stop(self, target: Node | Machine) -> None:
        """Have a program stand still for some seconds."""
        with self.note(f"{_what(target)} stopped", target.name):
            _done(target.kept.signal(signal.SIGSTOP))
            time.sleep(self.seconds(STOP_SECONDS))
            target.kept.signal(signal.SIGCONT)

    def strike_failpoint(self, target: Node | Machine, side: Side) -> None:
        """Kill a program, and have it started so that it is struck in the middle of its work."""
        points = [each for each in Failpoint if each.side == side]
        if side == "machine":
            points += [Failpoint.AFTER_PRESS] * 3
        point = self.chance.choice(points)
        action: Literal["kill", "stop"] = "kill" if self.chance.random() < 0.7 else "stop"
        starts = target.kept.starts
        if not self._is_struck_at(target, point, action):
            return
        with self.note(f"{_what(target)} {action} at {point}", target.name):
            if action == "stop":
                time.sleep(self.seconds(STOP_SECONDS))
                target.kept.signal(signal.SIGCONT)
            else:
                _done(target.kept.wait_for_start(starts + 2, RESTART_SECONDS))

    def _is_struck_at(
        self, target: Node | Machine, point: Failpoint, action: Literal["kill", "stop"]
    ) -> bool:
        """Start a program anew with a failpoint; False where it does not come there in time."""
        kept, ends = target.kept, len(target.kept.exit_codes)
        target.next_failpoints = f"{point}={action}@{self.chance.randint(1, 4)}"
        self.kill(target)
        deadline = time.monotonic() + FAILPOINT_SECONDS
        while not (kept.is_stopped or len(kept.exit_codes) > ends + 1):
            if time.monotonic() > deadline:
                # It must not strike later, when nobody would count it.
                self.kill(target)
                return False
            time.sleep(0.01)
        return True

    def get_in_the_way(self, machine: Machine) -> None:
        """Have somebody at the desk hold a button or a key for a while."""
        what = self.chance.choice(
            ["left", "left", "middle", "right", *self.chance.sample(TYPED_KEYS, 2)]
        )
        with self.note(SOMEBODY_HOLDS, machine.name, what):
            machine.desk.press(what)
            try:
                time.sleep(self.seconds(HOLD_SECONDS))
            finally:
                machine.desk.release(what)

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
        """Have the node stand still, another take its place, and the old one wake up late.

        Often it falls asleep just before or after it notes something: then both nodes have a hand
        in one command.
        """
        world = self.world
        old = world.active
        point = self.chance.choice([*_ASLEEP_AT, None])
        if point is None:
            _done(old.kept.signal(signal.SIGSTOP))
        else:
            _done(self._is_struck_at(old, point, "stop"))
        with self.note("server asleep, replaced, woken", old.name, f"at {point or 'any point'}"):
            try:
                self._start_other_than(old)
                # By then the new node has settled what the old one left open.
                self._wait_for_machines()
                time.sleep(self.seconds(STOP_SECONDS))
            finally:
                old.kept.signal(signal.SIGCONT)
            self._retire(old)

    def _start_other_than(self, old: Node) -> None:
        world = self.world
        new = next(node for node in world.nodes if node is not old)
        starts = new.kept.starts
        new.kept.release()
        if not new.kept.wait_for_start(starts + 1, RESTART_SECONDS):
            new.kept.hold()
            new.kept.kill()
            raise NothingDoneError
        world.serve_by(new)

    def _wait_for_machines(self, *machines: Machine) -> None:
        """Wait until these machines, or all, have a link; but something else may hold them up."""
        deadline = time.monotonic() + MACHINES_SECONDS
        while not self.world.is_online(machines) and time.monotonic() < deadline:
            time.sleep(0.2)

    def _retire(self, old: Node) -> None:
        """Let a node that has just woken up serve beside the new one for a while, then end it."""
        world, ends = self.world, len(old.kept.exit_codes)
        world.serve_by(world.active, old)
        time.sleep(OLD_NODE_SECONDS)
        world.serve_by(world.active)
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


def _done(is_done: bool) -> None:
    if not is_done:
        raise NothingDoneError


def _what(target: Node | Machine) -> str:
    return "server" if isinstance(target, Node) else "machine client"
