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
from tests.faults.fault_proxy import Action, LinkFault
from tests.faults.history import SOMEBODY_HOLDS, Fault
from tests.faults.node import Node
from tests.faults.replica_set import Member, ReplicaSet
from tests.faults.verdict import JournalLoss
from tests.faults.world import Machine, World

STOP_SECONDS = (1.0, 4.0)
HOLD_SECONDS = (0.2, 2.0)
DELAY_SECONDS = (0.05, 4.0)
AFTER_SECONDS = (0.0, 0.05)
MESSAGE_SECONDS = 4.0
FAILPOINT_SECONDS = 10.0
RESTART_SECONDS = 60.0
COPIED_JOURNALS = 0.5
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
"""At which messages a link is disturbed, the interesting ones more often; None is any."""

_ASLEEP_AT = (*(Failpoint.AFTER_ACK,) * 3, Failpoint.AFTER_SENT, Failpoint.AFTER_BYTES)


class NotInjectedError(Exception):
    """The fault could not be injected: its target was not there, or its moment did not come."""


@dataclass(frozen=True)
class FaultInjector:
    """Injects one fault; what really happens is noted with ``record``."""

    world: World
    rng: random.Random
    faults: list[Fault]

    @contextmanager
    def record(self, kind: str, target: str, detail: str = "") -> Iterator[Fault]:
        """Count a fault that happens now and lasts as long as the block.

        NotInjectedError ends the block, and the fault does not count.
        """
        fault = Fault(kind, target, self.world.clock(), detail=detail)
        self.faults.append(fault)
        try:
            yield fault
        except NotInjectedError:
            self.faults.remove(fault)
        finally:
            fault.ended_at = self.world.clock()

    def seconds(self, bounds: tuple[float, float]) -> float:
        return self.rng.uniform(*bounds)

    def kill(self, target: Node | Machine, while_down: Callable[[], None] | None = None) -> None:
        """Kill a program, and have it started again."""
        process = target.process
        starts, ends = process.starts, len(process.exit_codes)
        with self.record(f"{_kind_of(target)} killed", target.name):
            process.disable_restart()
            try:
                require(process.kill())
                require(process.wait_for_end(ends + 1, RESTART_SECONDS))
                if while_down is not None:
                    while_down()
            finally:
                process.enable_restart()
            require(process.wait_for_start(starts + 1, RESTART_SECONDS))

    def recover(self, target: Node | Machine) -> None:
        """Often let a target come back before its next fault: faults need work to disturb."""
        if self.rng.random() < RECOVERIES:
            self._wait_for_machines(*([target] if isinstance(target, Machine) else []))

    def stop(self, target: Node | Machine) -> None:
        """Have a program stand still for some seconds."""
        with self.record(f"{_kind_of(target)} stopped", target.name):
            require(target.process.signal(signal.SIGSTOP))
            time.sleep(self.seconds(STOP_SECONDS))
            target.process.signal(signal.SIGCONT)

    def act_at_failpoint(self, target: Node | Machine, side: Side) -> None:
        """Kill a program, and have its next run killed or stopped in the middle of its work."""
        points = [each for each in Failpoint if each.side == side]
        if not (isinstance(target, Machine) and target.desktop.has_field):
            points = [each for each in points if each is not Failpoint.AFTER_FOUND]
        if side == "machine":
            points += [Failpoint.AFTER_PRESS] * 3
        point = self.rng.choice(points)
        action: Literal["kill", "stop"] = "kill" if self.rng.random() < 0.7 else "stop"
        starts = target.process.starts
        if not self._comes_to_failpoint(target, point, action):
            return
        with self.record(f"{_kind_of(target)} {action} at {point}", target.name):
            if action == "stop":
                time.sleep(self.seconds(STOP_SECONDS))
                target.process.signal(signal.SIGCONT)
            else:
                require(target.process.wait_for_start(starts + 2, RESTART_SECONDS))

    def _comes_to_failpoint(
        self, target: Node | Machine, point: Failpoint, action: Literal["kill", "stop"]
    ) -> bool:
        """Start a program anew with a failpoint; False where it does not come there in time."""
        process, ends = target.process, len(target.process.exit_codes)
        target.next_failpoints = f"{point}={action}@{self.rng.randint(1, 4)}"
        self.kill(target)
        deadline = time.monotonic() + FAILPOINT_SECONDS
        while not (process.is_stopped or len(process.exit_codes) > ends + 1):
            if time.monotonic() > deadline:
                # It must not happen later, when nobody would count it.
                self.kill(target)
                return False
            time.sleep(0.01)
        return True

    def stop_desktop(self, machine: Machine) -> None:
        """Have a compositor or a VNC server stand still for some seconds."""
        with self.record("desktop stopped", machine.name):
            machine.desktop.signal(signal.SIGSTOP)
            try:
                time.sleep(self.seconds(STOP_SECONDS))
            finally:
                machine.desktop.signal(signal.SIGCONT)

    def press_by_hand(self, machine: Machine) -> None:
        """Have somebody at the desk hold a button or a key for a while."""
        what = self.rng.choice(["left", "left", "middle", "right", *self.rng.sample(TYPED_KEYS, 2)])
        with self.record(SOMEBODY_HOLDS, machine.name, what):
            machine.desktop.press(what)
            try:
                time.sleep(self.seconds(HOLD_SECONDS))
            finally:
                machine.desktop.release(what)

    # The link

    def disturb_link(self, machine: Machine) -> None:
        """Do something to a machine's connection at some message."""
        action = self.rng.choice(list(Action))
        message = self.rng.choice(MESSAGES)
        when = self.rng.choice(["before", "after"])
        seconds = self.seconds(DELAY_SECONDS if action is Action.DELAY else AFTER_SECONDS)
        for wanted in (message, None):
            link_fault = LinkFault(
                action, wanted, "after" if when == "after" else "before", seconds
            )
            detail = f"{when} {wanted or 'something'}"
            with self.record(f"link {action}", machine.name, detail) as fault:
                machine.proxy.arm(link_fault)
                is_injected = link_fault.injected.wait(MESSAGE_SECONDS)
                require(is_injected or not machine.proxy.disarm(link_fault))
                fault.began_at = self.world.clock()
            if fault in self.faults:
                return

    # The journal

    def kill_machine(self, machine: Machine) -> None:
        keeps_copy = self.rng.random() < COPIED_JOURNALS
        self.kill(machine, machine.copy_journal if keeps_copy else None)

    def lose_journal(self, machine: Machine) -> None:
        """Delete a machine's journal, or put an earlier copy of it back."""
        to_copy = self.rng.random() < 0.5

        def lose() -> None:
            what = "put back from a copy" if to_copy else "deleted"
            with self.record(f"journal {what}", machine.name) as fault:
                require(machine.lose_journal(to_copy=to_copy))
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
        point = self.rng.choice([*_ASLEEP_AT, None])
        if point is None:
            require(old.process.signal(signal.SIGSTOP))
        else:
            require(self._comes_to_failpoint(old, point, "stop"))
        with self.record("server asleep, replaced, woken", old.name, f"at {point or 'any point'}"):
            try:
                self._start_other_than(old)
                # By then the new node has settled what the old one left open.
                self._wait_for_machines()
                time.sleep(self.seconds(STOP_SECONDS))
            finally:
                old.process.signal(signal.SIGCONT)
            self._retire(old)

    def _start_other_than(self, old: Node) -> None:
        world = self.world
        new = next(node for node in world.nodes if node is not old)
        starts = new.process.starts
        new.process.enable_restart()
        if not new.process.wait_for_start(starts + 1, RESTART_SECONDS):
            new.process.disable_restart()
            new.process.kill()
            raise NotInjectedError
        world.serve_by(new)

    def _wait_for_machines(self, *machines: Machine) -> None:
        """Wait until these machines, or all, have a link; but something else may hold them up."""
        deadline = time.monotonic() + MACHINES_SECONDS
        while not self.world.is_online(machines) and time.monotonic() < deadline:
            time.sleep(0.2)

    def _retire(self, old: Node) -> None:
        """Let a node that has just woken up serve beside the new one for a while, then end it."""
        world, ends = self.world, len(old.process.exit_codes)
        world.serve_by(world.active, old)
        time.sleep(OLD_NODE_SECONDS)
        world.serve_by(world.active)
        old.process.disable_restart()
        old.process.kill()
        require(old.process.wait_for_end(ends + 1, RESTART_SECONDS))

    # MongoDB

    def disturb_mongodb(self) -> None:
        replica_set = self.world.replica_set
        disturb = self.rng.choice(
            [self._step_down, self._step_down, self._kill_member, self._stop_member]
        )
        disturb(replica_set)
        replica_set.wait_until_whole()

    def _step_down(self, replica_set: ReplicaSet) -> None:
        with self.record("MongoDB primary stepped down", "mongodb"):
            require(replica_set.step_down())

    def _kill_member(self, replica_set: ReplicaSet) -> None:
        role, member = self._member(replica_set)
        with self.record(f"MongoDB {role} killed", "mongodb"):
            require(member.process.kill())

    def _stop_member(self, replica_set: ReplicaSet) -> None:
        role, member = self._member(replica_set)
        with self.record(f"MongoDB {role} stopped", "mongodb"):
            require(replica_set.pause(member, self.seconds(STOP_SECONDS)))

    def _member(self, replica_set: ReplicaSet) -> tuple[str, Member]:
        is_primary = self.rng.random() < 0.6
        member = replica_set.primary() if is_primary else replica_set.secondary(self.rng)
        if member is None:
            raise NotInjectedError
        return ("primary" if is_primary else "secondary"), member


def require(is_done: bool) -> None:
    """Raise NotInjectedError unless it is done."""
    if not is_done:
        raise NotInjectedError


def _kind_of(target: Node | Machine) -> str:
    return "server" if isinstance(target, Node) else "machine client"
