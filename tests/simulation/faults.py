"""What goes wrong in a seed, and when.

Every fault ends by itself, so that afterwards all must become final.
"""

from collections.abc import Callable
from uuid import UUID

from machine_client.journal.journal import EntryState
from schemas.inputs.outcomes import results_of
from schemas.programs.failpoints import Failpoint
from server.store.commands import CommandState
from tests.simulation.bus import BusRates, Exchange
from tests.simulation.disk import Copy, Disk, empty
from tests.simulation.machine import Machine
from tests.simulation.mongo import FailureRates, Mongo
from tests.simulation.network import Connection
from tests.simulation.node import Node
from tests.simulation.world import World

FAULTS_END = 14.0
"""When the last fault begins, in seconds."""

SERVERS = [point for point in Failpoint if point.side == "server"]

LEFT_OUT = "restores left out: the copy cannot be told from the journal of an open command"

LONGEST_AFTERMATH = 16.0
"""How long a fault can last: an outage, and a write after it that comes late."""


def is_of_several_that_ran_on(command_id: UUID, copy: Copy, disk: Disk) -> bool:
    """Whether a copy says of several actions how far they were, and they went further."""
    entry = copy.entries[command_id]
    is_intent = entry.state is EntryState.INTENT and results_of(entry.outcome) is not None
    return is_intent and disk.entries.get(command_id) != entry


class Faults:
    """Injects faults into all parts of a seed."""

    def __init__(
        self,
        world: World,
        nodes: list[Node],
        machines: list[Machine],
        mongo: Mongo,
        exchange: Exchange,
        *,
        heartbeat_seconds: float,
    ) -> None:
        self.world = world
        self._nodes = nodes
        self._machines = machines
        self._mongo = mongo
        self._exchange = exchange
        self._heartbeat = heartbeat_seconds
        self.pauses = False
        kinds: list[Callable[[], None]] = [
            self._cut_link,
            self._cut_link,
            self._stall_link,
            self._kill_client,
            self._kill_client,
            self._kill_client,
            self._kill_node,
            self._kill_node_at_a_failpoint,
            self._kill_node_at_a_failpoint,
            self._pause_node,
            self._pause_machine,
            self._somebody_holds,
            self._somebody_holds,
            self._failing_operations,
            self._failing_operations,
            self._outage,
            self._stale_reads,
            self._bad_bus,
            self._bad_bus,
            self._bad_bus,
            self._bus_away_from_a_node,
            self._bus_away,
            self._reboot,
            self._copy_and_restore,
            self._copy_and_restore,
            self._restore_two_branches,
            self._new_journal,
        ]
        for _ in range(world.random.randint(1, 8)):
            inject = world.random.choice(kinds)
            world.outside.call_later(world.between(0.2, FAULTS_END), inject)

    def _record(self, kind: str, *facts: object) -> None:
        self.world.faults[kind] += 1
        self.world.trace("FAULT", kind, *facts)

    # Links.

    def _connection(self) -> Connection | None:
        machine = self.world.random.choice(self._machines)
        return machine.client.connection

    def _cut_link(self) -> None:
        connection, world = self._connection(), self.world
        if connection is None:
            return
        self._record("link cut", connection.number)
        connection.cut()
        connection.break_for(connection.machine, world.between(0, 2 * self._heartbeat))
        if world.chance(0.5):
            connection.break_for(connection.node, world.between(0, self._heartbeat))

    def _stall_link(self) -> None:
        connection, world = self._connection(), self.world
        if connection is None:
            return
        side = connection.node if world.chance(0.5) else connection.machine
        seconds = world.between(0.2, 2.5 * self._heartbeat)
        self._record("link stalled", connection.number, seconds)
        connection.stall(side, seconds)
        if seconds > self._heartbeat:
            # The client's own ping goes unanswered.
            connection.break_for_unanswered_ping(
                world.between(self._heartbeat, 2 * self._heartbeat)
            )

    # Machines.

    def _machine(self) -> Machine:
        return self.world.random.choice(self._machines)

    def _restart(self, machine: Machine) -> None:
        self.world.restart(machine.start, 4)

    def _now_or_at_a_step(self, machine: Machine, inject: Callable[[], None]) -> None:
        """Inject now, or where it may hurt: at a write of the journal or at an event."""
        if self.world.chance(0.5):
            inject()
        elif machine.is_running:
            machine.call_at_step(self.world.random.randint(1, 25), inject)

    def _kill_client(self) -> None:
        machine = self._machine()

        def inject() -> None:
            if machine.is_running:
                self._record("client killed", machine.machine_id)
                machine.kill(silently=self.world.chance(0.3))
                self._restart(machine)

        self._now_or_at_a_step(machine, inject)

    def stop_client(self, machine_id: str) -> None:
        """Have a machine client end as when it is told to."""
        machine = next(each for each in self._machines if each.machine_id == machine_id)
        if machine.is_running:
            self._record("client told to stop", machine_id)
            machine.client.stop()

    def _reboot(self) -> None:
        machine = self._machine()

        def inject() -> None:
            if machine.may_lose_its_journal:
                self._record("machine rebooted", machine.machine_id)
                machine.reboot()
                self._restart(machine)

        self._now_or_at_a_step(machine, inject)

    def _new_journal(self) -> None:
        machine = self._machine()

        def inject() -> None:
            if machine.may_lose_its_journal:
                self._record("journal deleted", machine.machine_id)
                machine.replace_journal(empty())
                self._restart(machine)

        self._now_or_at_a_step(machine, inject)

    def _copy_and_restore(self) -> None:
        machine = self._machine()
        copy = machine.disk.copy()

        def inject() -> None:
            self._restore(machine, copy)

        self.world.aftermath(self.world.between(0.1, 8), self._now_or_at_a_step, machine, inject)

    def _restore_two_branches(self) -> None:
        """Put a copy back, and later one of the journal that was given up for it."""
        machine, world = self._machine(), self.world
        first = machine.disk.copy()
        until_first, until_second = world.between(0.1, 4), world.between(0.1, 6)

        def restore_first() -> None:
            second = machine.disk.copy()
            self._restore(machine, first)
            world.aftermath(until_second, self._now_or_at_a_step, machine, restore_second(second))

        def restore_second(copy: Copy) -> Callable[[], None]:
            return lambda: self._restore(machine, copy)

        world.aftermath(until_first, self._now_or_at_a_step, machine, restore_first)

    def _restore(self, machine: Machine, copy: Copy) -> None:
        if not machine.may_lose_its_journal:
            return
        if self._is_in_the_window(machine, copy):
            self.world.facts[LEFT_OUT] += 1
            return
        self._record("journal restored", machine.machine_id, copy.sequence)
        machine.replace_journal(copy)
        self._restart(machine)

    def _is_in_the_window(self, machine: Machine, copy: Copy) -> bool:
        """Whether the copy lacks a command whose SENT the server noted with the copy's own number.

        The server sees the journal's number with every message of the machine.  A copy that is
        made after the last one before a command is SENT has the number and the mark that the
        record says, and nothing can tell it from the journal of a machine that the command never
        reached.  Nor can a copy that was made while several actions ran be told from the journal of
        a machine whose client was killed just then.
        """
        return any(
            record.machine_id == machine.machine_id
            and record.state is CommandState.SENT
            and (
                record.command_id not in copy.entries
                or is_of_several_that_ran_on(record.command_id, copy, machine.disk)
            )
            and record.journal_sequence <= copy.sequence
            and record.journal_id == copy.journal_id
            and record.journal_mark in copy.entries
            for record in self._mongo.commands.records.values()
        )

    def _pause_machine(self) -> None:
        machine = self._machine()
        seconds = self.world.between(0.2, 10)
        self._record("client stopped and woken", machine.machine_id, seconds)
        self.pauses = True
        process = machine.client.process
        process.pause()
        self.world.aftermath(seconds, process.wake)

    def _somebody_holds(self) -> None:
        """A person has something pressed for a while."""
        machine, world = self._machine(), self.world
        what = world.random.choice(("left", "left", "right", "z"))
        x_server = machine.x_server
        if x_server.press_as_person(what):
            machine.visits += 1
            self._record("somebody holds something", machine.machine_id, what)
            world.aftermath(world.between(0.5, 8), x_server.release_as_person, what)

    # Nodes.

    def _node(self) -> Node:
        return self.world.random.choice(self._nodes)

    def _kill_node(self) -> None:
        node = self._node()
        if not node.process.is_dead:
            self._record("node killed", node.name)
            node.kill(silently=self.world.chance(0.3))
            self.world.restart(node.start, 4)

    def _kill_node_at_a_failpoint(self) -> None:
        random = self.world.random
        self._node().kill_at(random.choice(SERVERS), random.randint(1, 3))

    def _pause_node(self) -> None:
        node, world = self._node(), self.world
        seconds = world.between(0.2, 12)
        self._record("node stopped and woken", node.name, seconds)
        process = node.process
        process.pause()
        self.world.aftermath(seconds, process.wake)
        for connection in list(node.connections):
            ping = world.between(self._heartbeat, 2 * self._heartbeat)
            if ping < seconds:
                connection.break_for_unanswered_ping(ping)

    # The bus.

    def _bad_bus(self) -> None:
        random, rates = self.world.random, self._exchange.rates
        seconds = self.world.between(1, 8)
        rates.lost = random.choice((0.0, 0.2, 0.6))
        rates.late = random.choice((0.0, 0.2, 0.6))
        rates.repeated = random.choice((0.0, 0.5, 1.0))
        rates.refused = rates.lost
        self._record("bad bus", seconds)
        self.world.aftermath(seconds, self._bus_is_good)

    def repeat_all_on_the_bus(self) -> None:
        """Have whatever crosses the bus come twice, from the beginning."""
        self._record("bus that repeats")
        self._exchange.rates = BusRates(repeated=1.0)
        self.world.aftermath(FAULTS_END, self._bus_is_good)

    def _bus_is_good(self) -> None:
        self._exchange.rates = BusRates()

    def _bus_away_from_a_node(self) -> None:
        node, seconds = self._node(), self.world.between(0.1, 6)
        self._record("bus away from a node", node.name, seconds)
        node.process.call_soon(node.bus.go_away)
        self.world.aftermath(seconds, node.process.call_soon, node.bus.come_back)

    def _bus_away(self) -> None:
        seconds = self.world.between(0.1, 6)
        self._record("bus away", seconds)
        self._exchange.is_out = True
        for node in self._nodes:
            node.process.call_soon(node.bus.go_away)
        self.world.aftermath(seconds, self._bus_is_back)

    def _bus_is_back(self) -> None:
        self._exchange.is_out = False
        for node in self._nodes:
            after = self.world.between(0, 1)
            self.world.aftermath(after, node.process.call_soon, node.bus.come_back)

    # The database.

    def _failing_operations(self) -> None:
        random, mongo = self.world.random, self._mongo
        seconds = self.world.between(1, 6)
        mongo.failure_rates.refused, mongo.failure_rates.ambiguous, mongo.failure_rates.late = (
            random.choice((0.0, 0.2, 0.5)),
            random.choice((0.0, 0.2, 0.5)),
            random.choice((0.0, 0.2)),
        )
        self._record("failing operations of the database", seconds)
        self.world.aftermath(seconds, self._clear_up)

    def _clear_up(self) -> None:
        self._mongo.failure_rates = FailureRates(stale=self._mongo.failure_rates.stale)

    def _outage(self) -> None:
        seconds = self.world.between(0.5, 6)
        self._record("no primary", seconds)
        self._mongo.is_out = True
        self.world.aftermath(seconds, self._primary_is_back)

    def _primary_is_back(self) -> None:
        self._mongo.is_out = False

    def _stale_reads(self) -> None:
        self._record("stale reads")
        self._mongo.failure_rates.stale = 0.5
        self.world.aftermath(self.world.between(1, 5), self._reads_are_fresh)

    def _reads_are_fresh(self) -> None:
        self._mongo.failure_rates.stale = 0.0
