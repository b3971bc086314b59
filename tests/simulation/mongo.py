"""The database that all nodes share: its delays, its faults, and what it has of machines."""

from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, TypeVar
from uuid import UUID

from server.store.audit import AuditStore
from server.store.commands import CommandRecord
from server.store.errors import AlreadyExists, NotFound, StoreUnavailable
from server.store.machines import ClientSummary, Machine, MachineStore
from tests.simulation.stores import Perform, StoredCommands
from tests.simulation.world import Process, World

T = TypeVar("T")

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


class Mongo:
    """The one database that all nodes share, and its faults.

    ``pending`` counts operations on their way, those that are late included.
    """

    def __init__(self, world: World, machine_ids: list[str], organization_id: UUID) -> None:
        self.world = world
        self.commands = StoredCommands()
        self.machines = {
            machine_id: _new_machine(organization_id, machine_id) for machine_id in machine_ids
        }
        self.failure_rates = FailureRates()
        self.is_out = False
        self.newest_pause = 0
        self.pending = 0
        self._past: dict[UUID, deque[tuple[float, CommandRecord | None]]] = {}
        self._listener = self.commands.on_change
        self.commands.on_change = self._changed

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

        def perform(step: Callable[[], Any], /) -> Awaitable[Any]:
            return self._perform(process, step)

        return perform

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
        world, failure_rates = self.world, self.failure_rates
        answered = process.create_future()
        self.pending += 1
        luck = 1.0 if not failure_rates.bad else world.random.random()
        if self.is_out or luck < failure_rates.bad:
            self._fail(process, answered, step, luck)
            return answered
        outside = world.outside

        def arrive() -> None:
            try:
                result, error = step(), None
            except (AlreadyExists, NotFound) as problem:
                result, error = None, problem
            outside.call_later(world.between(0.001, 0.03), answer, result, error)

        def answer(result: Any, error: Any) -> None:
            self.pending -= 1
            process.call_soon(_settle, answered, result, error)

        outside.call_later(world.between(0.001, 0.03), arrive)
        return answered

    def _fail(
        self, process: Process, answered: Any, step: Callable[[], object], luck: float
    ) -> None:
        world, failure_rates, outside = self.world, self.failure_rates, self.world.outside
        patience = world.between(*SLOW)
        happens_after: float | None = None
        kind = "refused"
        if luck < failure_rates.ambiguous:
            kind, happens_after = "ambiguous", world.between(0, patience)
        elif luck < failure_rates.ambiguous + failure_rates.late:
            kind, happens_after = "late", patience + world.between(*LATE)
        world.faults[f"write {kind}"] += 1

        def happen() -> None:
            try:
                step()
            except (AlreadyExists, NotFound):
                world.trace("a write that was given up is too late")
            self.pending -= 1

        def give_up() -> None:
            process.call_soon(_settle, answered, None, StoreUnavailable("simulated"))

        world.calm_at = max(world.calm_at, world.now + patience + (happens_after or 0))
        outside.call_later(patience, give_up)
        if happens_after is None:
            self.pending -= 1
        else:
            outside.call_later(happens_after, happen)


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


class SimulatedMachineStore(MachineStore):
    """What links and commands need to know of machines."""

    def __init__(self, mongo: Mongo, perform: Perform) -> None:
        self._mongo = mongo
        self._perform = perform

    async def get(self, organization_id: UUID, machine_id: str) -> Machine | None:
        return await self._perform(lambda: self._mongo.machines.get(machine_id))

    async def pause(self, machine_id: str, paused: bool, change: int) -> None:
        """Pause or resume a machine, unless a later change has been made by now."""

        def write() -> None:
            machine = self._mongo.machines.get(machine_id)
            if machine is not None and change >= self._mongo.newest_pause:
                self._mongo.newest_pause = change
                self._mongo.machines[machine_id] = replace(machine, paused=paused)

        await self._perform(write)

    async def begin_link(
        self, organization_id: UUID, machine_id: str, client: ClientSummary
    ) -> Machine:
        def begin() -> Machine:
            machine = self._mongo.machines.get(machine_id)
            if machine is None:
                raise NotFound("It was removed.")
            begun = replace(machine, epoch=machine.epoch + 1, client=client, reason=None)
            self._mongo.machines[machine_id] = begun
            return begun

        return await self._perform(begin)

    async def end_link(
        self, organization_id: UUID, machine_id: str, epoch: int, reason: str
    ) -> bool:
        def end() -> bool:
            machine = self._mongo.machines.get(machine_id)
            if machine is None or machine.epoch != epoch:
                return False
            self._mongo.machines[machine_id] = replace(machine, reason=reason)
            return True

        return await self._perform(end)


class SimulatedAuditStore(AuditStore):
    """An audit that nobody reads: what ends in a simulation is looked up in the ledger."""

    def __init__(self) -> None:
        """There is nothing to keep."""
