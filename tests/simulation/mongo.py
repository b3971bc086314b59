"""The database that all nodes share: its delays, its faults, and what it has of machines."""

import heapq
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any, TypeVar
from uuid import UUID

from server.errors import AlreadyExists, NotFound, StoreUnavailable
from server.store.audit import AuditStore
from server.store.commands import CommandRecord
from server.store.machines.documents import ClientSummary, LinkFacts, Machine
from server.store.machines.machines import MachineStore
from server.store.mongodb.documents import Document
from server.store.presence import NodeRecord, NodeStore
from server.store.times import now
from tests.simulation.clocks import FIRST_MOMENT
from tests.simulation.stores import Perform, StoredCommands
from tests.simulation.world import Process, World

T = TypeVar("T")

QUICK = (0.001, 0.03)
"""Seconds that an operation takes on its way to the database, and its answer on the way back."""

SLOW = (0.2, 2.0)
"""Seconds until an operation that fails is given up."""

LATE = (0.5, 8.0)
"""Seconds after that until a write that was given up happens after all, where it does."""

STALE_SECONDS = 5.0
"""How far back a primary may look that does not know yet that it was voted out."""


@dataclass
class FailureRates:
    """How often an operation of the database goes wrong, each as a probability."""

    refused: float = 0.0
    """It fails, and nothing happens."""
    ambiguous: float = 0.0
    """It happens, and fails."""
    late: float = 0.0
    """It fails, and happens seconds later."""
    stale: float = 0.0
    """A read of a single document brings what was there seconds ago."""

    @property
    def bad(self) -> float:
        """How often an operation fails."""
        return self.refused + self.ambiguous + self.late


class _Quiet:
    """A step that is carried out when it arrives, or later if nobody can tell the difference."""

    __slots__ = ("result", "step")

    def __init__(self, step: Callable[[], object]) -> None:
        self.step = step
        self.result: object = None


class Mongo:
    """The one database that all nodes share, and its faults."""

    def __init__(self, world: World, machine_ids: list[str], organization_id: UUID) -> None:
        self.world = world
        self.commands = StoredCommands()
        self.machines = {
            machine_id: _new_machine(organization_id, machine_id) for machine_id in machine_ids
        }
        self.nodes: dict[UUID, NodeRecord] = {}
        self.runs: dict[UUID, Document] = {}
        self.failure_rates = FailureRates()
        self.is_out = False
        self.newest_pause = 0
        self._past: dict[UUID, deque[tuple[float, CommandRecord | None]]] = {}
        self._quiet: list[tuple[float, int, _Quiet]] = []
        """A heap of the quiet steps, by when they arrive."""
        self._listener = self.commands.on_change
        self.commands.on_change = self._changed

    def clock(self) -> datetime:
        """Its own clock, which no node's is exactly."""
        return datetime.fromtimestamp(FIRST_MOMENT + self.world.now + self.world.moved, UTC)

    def listen(
        self, listener: Callable[[CommandRecord | None, CommandRecord | None], None]
    ) -> None:
        """Tell of every change of the ledger."""
        self._listener = listener

    def read(self, command_id: UUID) -> CommandRecord | None:
        """A document, as some primary knows it."""
        past = self._past.get(command_id)
        world = self.world
        if past and self.failure_rates.stale and world.chance(self.failure_rates.stale):
            moment = world.now - world.between(0, STALE_SECONDS)
            world.facts["stale reads"] += 1
            # What was there before the first change after that moment.
            return next(
                (record for changed_at, record in past if changed_at > moment),
                self.commands.records.get(command_id),
            )
        return self.commands.records.get(command_id)

    def perform_for(self, process: Process) -> Perform:
        """The way to the database from this process."""
        return partial(self._perform, process)

    def perform_quietly_for(self, process: Process) -> Perform:
        """The same way, for what happens all the time and is an event less.

        For steps that look at machines or nodes, or change nodes: nobody sees when such a step
        happens, but by its answer and by later steps.  They ask no clock, and raise nothing.
        """
        return partial(self._perform_quietly, process)

    def remove_machine(self, machine_id: str) -> None:
        """Delete a machine."""
        self._do_what_has_arrived()
        del self.machines[machine_id]

    def expire(self, command_id: UUID) -> None:
        """Delete a record whose lifetime is over, and what is remembered of it."""
        self.commands.delete(command_id)
        self._past.pop(command_id, None)

    def _changed(self, before: CommandRecord | None, after: CommandRecord | None) -> None:
        changed = before or after
        if changed is not None:
            past = self._past.setdefault(changed.command_id, deque(maxlen=8))
            past.append((self.world.now, before))
        self._listener(before, after)

    def _perform(self, process: Process, step: Callable[[], T]) -> Awaitable[T]:
        answered = process.create_future()
        if not self._has_failed(process, answered, step):
            delay = self.world.between(*QUICK)
            self.world.outside.call_later(delay, self._arrive, process, answered, step)
        return answered

    def _perform_quietly(self, process: Process, step: Callable[[], T]) -> Awaitable[T]:
        answered, world = process.create_future(), self.world
        if not self._has_failed(process, answered, step):
            # As `world.between`, which is not called: this is what happens most.
            (shortest, longest), roll = QUICK, world.random.random
            quiet, arrives = _Quiet(step), world.now + shortest + (longest - shortest) * roll()
            heapq.heappush(self._quiet, (arrives, world.next_turn(), quiet))
            answers = arrives + shortest + (longest - shortest) * roll()
            process.call_at(answers, self._settle_quiet, answered, quiet)
        return answered

    def _settle_quiet(self, answered: Any, quiet: _Quiet) -> None:
        self._do_what_has_arrived()
        _settle(answered, quiet.result, None)

    def _do_what_has_arrived(self) -> None:
        """Catch up with the quiet steps that came before now."""
        waiting, now = self._quiet, self.world.now
        while waiting and waiting[0][0] <= now:
            quiet = heapq.heappop(waiting)[2]
            quiet.result = quiet.step()

    def _arrive(self, process: Process, answered: Any, step: Callable[[], object]) -> None:
        self._do_what_has_arrived()
        try:
            result, error = step(), None
        except (AlreadyExists, NotFound) as problem:
            result, error = None, problem
        process.call_later(self.world.between(*QUICK), _settle, answered, result, error)

    def _has_failed(self, process: Process, answered: Any, step: Callable[[], object]) -> bool:
        """Roll the dice: whether an operation goes wrong, as is seen to then."""
        bad = self.failure_rates.bad
        luck = 1.0 if not bad else self.world.random.random()
        if self.is_out or luck < bad:
            self._fail(process, answered, step, luck)
            return True
        return False

    def _fail(
        self, process: Process, answered: Any, step: Callable[[], object], luck: float
    ) -> None:
        world, failure_rates = self.world, self.failure_rates
        patience = world.between(*SLOW)
        happens_after: float | None = None
        kind = "refused"
        if luck < failure_rates.ambiguous:
            kind, happens_after = "ambiguous", world.between(0, patience)
        elif luck < failure_rates.ambiguous + failure_rates.late:
            kind, happens_after = "late", patience + world.between(*LATE)
        world.faults[f"write {kind}"] += 1

        def happen() -> None:
            self._do_what_has_arrived()
            try:
                step()
            except (AlreadyExists, NotFound):
                world.trace("a write that was given up is too late")

        world.calm_at = max(world.calm_at, world.now + patience + (happens_after or 0))
        process.call_later(patience, _settle, answered, None, StoreUnavailable("simulated"))
        if happens_after is not None:
            world.outside.call_later(happens_after, happen)


def _settle(answered: Any, result: object, error: Exception | None) -> None:
    if answered.done():
        return
    if error is None:
        answered.set_result(result)
    else:
        answered.set_exception(error)


def _new_machine(organization_id: UUID, machine_id: str) -> Machine:
    moment = datetime.fromtimestamp(0, UTC)
    return Machine(
        organization_id=organization_id,
        machine_id=machine_id,
        name=machine_id,
        paused=False,
        paused_since=None,
        created_at=moment,
        epoch=0,
        connected_at=None,
        disconnected_at=None,
        state_since=moment,
        reason=None,
        client=None,
    )


def _ended(machine: Machine, reason: str) -> Machine:
    return replace(machine, reason=reason, disconnected_at=now())


class SimulatedMachineStore(MachineStore):
    """What links and commands need to know of machines."""

    def __init__(self, mongo: Mongo, process: Process) -> None:
        self._mongo = mongo
        self._perform = mongo.perform_for(process)
        self._perform_quietly = mongo.perform_quietly_for(process)

    async def some(self, organization_id: UUID, machine_ids: Sequence[str]) -> list[Machine]:
        machines = self._mongo.machines
        return await self._perform(lambda: [machines[each] for each in machine_ids])

    async def get(self, organization_id: UUID, machine_id: str) -> Machine | None:
        return await self._perform(lambda: self._mongo.machines.get(machine_id))

    async def get_together(self, organization_id: UUID, machine_id: str) -> Machine | None:
        return await self.get(organization_id, machine_id)

    async def pause(self, machine_id: str, paused: bool, change: int) -> None:
        """Pause or resume a machine, unless a later change has been made by now."""

        def write() -> None:
            machine = self._mongo.machines.get(machine_id)
            if machine is not None and change >= self._mongo.newest_pause:
                self._mongo.newest_pause = change
                self._mongo.machines[machine_id] = replace(machine, paused=paused)

        await self._perform(write)

    async def begin_link(
        self, organization_id: UUID, machine_id: str, client: ClientSummary, link: LinkFacts
    ) -> Machine:
        def begin() -> Machine:
            machine = self._mongo.machines.get(machine_id)
            if machine is None:
                raise NotFound("It was removed.")
            earlier = None if machine.link is None else machine.link.node_id
            begun = replace(
                machine,
                epoch=machine.epoch + 1,
                client=client,
                reason=None,
                connected_at=now(),
                disconnected_at=None,
                link=replace(link, earlier_node_id=earlier),
            )
            self._mongo.machines[machine_id] = begun
            return begun

        return await self._perform(begin)

    async def end_link(
        self, organization_id: UUID, machine_id: str, epoch: int, reason: str
    ) -> None:
        def end() -> None:
            machine = self._mongo.machines.get(machine_id)
            if machine is None or machine.epoch != epoch or machine.disconnected_at is not None:
                return
            self._mongo.machines[machine_id] = _ended(machine, reason)

        await self._perform(end)

    async def count_linked_to(self, node_id: UUID) -> tuple[int, int]:
        linked = await self.linked_to(node_id)
        return len(linked), sum(linked.values())

    async def linked_to(self, node_id: UUID) -> dict[tuple[UUID, str], int]:
        def look() -> dict[tuple[UUID, str], int]:
            return {
                (machine.organization_id, machine.machine_id): machine.epoch
                for machine in self._mongo.machines.values()
                if machine.disconnected_at is None
                and machine.link is not None
                and machine.link.node_id == node_id
            }

        return await self._perform_quietly(look)

    async def link_again(
        self, organization_id: UUID, machine_id: str, epoch: int, node_id: UUID
    ) -> bool:
        def again() -> bool:
            machine = self._mongo.machines.get(machine_id)
            if machine is None or machine.link is None:
                return False
            if (machine.epoch, machine.link.node_id) != (epoch, node_id):
                return False
            if machine.disconnected_at is not None:
                linked = replace(machine, reason=None, disconnected_at=None)
                self._mongo.machines[machine_id] = linked
            return True

        return await self._perform(again)

    async def end_links_of(self, node_id: UUID, reason: str) -> list[tuple[UUID, str]]:
        def linked() -> list[tuple[UUID, str]]:
            return [
                (machine.organization_id, machine.machine_id)
                for machine in self._mongo.machines.values()
                if machine.disconnected_at is None
                and machine.link is not None
                and machine.link.node_id == node_id
            ]

        def end() -> None:
            for _, machine_id in linked():
                machine = self._mongo.machines[machine_id]
                self._mongo.machines[machine_id] = _ended(machine, reason)

        found = await self._perform(linked)
        await self._perform(end)
        return found


class SimulatedNodeStore(NodeStore):
    """Which nodes say that they are alive."""

    def __init__(self, mongo: Mongo, process: Process) -> None:
        self._stored = mongo.nodes
        self._perform = mongo.perform_quietly_for(process)

    async def beat(self, node_id: UUID, name: str, group: str | None) -> bool:
        def count() -> bool:
            known = self._stored.get(node_id)
            beats = 1 if known is None else known.beats + 1
            self._stored[node_id] = NodeRecord(node_id, name, group, beats)
            return known is not None

        return await self._perform(count)

    async def list(self) -> list[NodeRecord]:
        return await self._perform(lambda: [*self._stored.values()])

    async def forget(self, node_id: UUID, beats: int | None = None) -> None:
        def delete() -> None:
            known = self._stored.get(node_id)
            if known is not None and beats in (None, known.beats):
                del self._stored[node_id]

        await self._perform(delete)


class SimulatedAuditStore(AuditStore):
    """An audit that nobody reads: what ends in a simulation is looked up in the ledger."""

    def __init__(self) -> None:
        """There is nothing to keep."""
