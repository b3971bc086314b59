"""Control leases as the simulation has them: `server.store.machines.controls`, in memory."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from uuid import UUID

from server.store.audit import AuditEntry, AuditStore
from server.store.identity.sessions import SessionStore
from server.store.identity.tokens import TokenStore
from server.store.machines.controls import (
    LEASE_SECONDS,
    ControlStore,
    HeldMachine,
    KeptTo,
    NewControl,
    StoredControl,
)
from server.store.machines.documents import Machine
from tests.simulation.mongo import Mongo
from tests.simulation.world import Process

LEASE = timedelta(seconds=LEASE_SECONDS)


class SimulatedControlStore(ControlStore):
    """The same atomic steps as the real one's.

    ``looks`` counts how often a node has looked whom machines take inputs from, and acted on it.
    """

    def __init__(self, mongo: Mongo, process: Process) -> None:
        self._mongo, self._world = mongo, process.world
        self._perform = mongo.perform_for(process)
        self._perform_quietly = mongo.perform_quietly_for(process)
        self.looks = 0
        self._has_looked = False

    async def take(
        self, organization_id: UUID, machine_id: str, new: NewControl, *, take_over: bool
    ) -> tuple[StoredControl, int] | None:
        def step() -> tuple[StoredControl, int] | None:
            machine = self._mongo.machines.get(machine_id)
            if machine is None:
                return None
            control = machine.control
            if (
                control is None
                or control.lease_hash == new.lease_hash
                or take_over
                or not self._is_in_force(control)
            ):
                if control is not None and control.lease_hash != new.lease_hash:
                    # Whoever had it has it no more, even by a write that comes long after it was
                    # given up.
                    self._world.controlled.pop(machine_id, None)
                control = StoredControl(
                    new.lease_hash,
                    *(new.by, new.token_id, new.session_hash),
                    since=self._now(),
                    expires_at=self._now() + LEASE,
                    private_since=self._now() if new.private else None,
                    is_run=new.is_run,
                    yields=new.yields,
                )
                self._put(machine, control)
            return control, machine.epoch

        return await self._perform(step)

    async def confirm(
        self, organization_id: UUID, machine_id: str, lease_hash: str, since: datetime
    ) -> None:
        def step() -> None:
            machine = self._with(machine_id, lease_hash)
            control = machine.control if machine is not None else None
            if machine is not None and control is not None and control.since == since:
                self._put(machine, replace(control, is_confirmed=True))

        await self._perform(step)

    async def renew(
        self, organization_id: UUID, machine_id: str, lease_hash: str
    ) -> StoredControl | None:
        def step() -> StoredControl | None:
            machine = self._with(machine_id, lease_hash)
            if machine is None or machine.control is None or not self._is_in_force(machine.control):
                return None
            control = replace(machine.control, expires_at=self._now() + LEASE)
            self._put(machine, control)
            return control

        return await self._perform(step)

    async def make_private(
        self, organization_id: UUID, machine_id: str, lease_hash: str, *, private: bool
    ) -> tuple[StoredControl, int, bool] | None:
        def step() -> tuple[StoredControl, int, bool] | None:
            machine = self._with(machine_id, lease_hash)
            if machine is None or machine.control is None or not self._is_in_force(machine.control):
                return None
            before = machine.control.private_since
            since = (before or self._now()) if private else None
            control = replace(machine.control, private_since=since)
            self._put(machine, control)
            return control, machine.epoch, (before is not None) != private

        return await self._perform(step)

    async def open_hand(
        self, organization_id: UUID, machine_id: str, lease_hash: str, hand: UUID
    ) -> bool:
        def step() -> bool:
            machine = self._with(machine_id, lease_hash)
            if machine is None or machine.control is None or not self._is_in_force(machine.control):
                return False
            self._put(machine, replace(machine.control, hand=hand))
            return True

        return await self._perform(step)

    async def end(
        self,
        organization_id: UUID,
        machine_id: str,
        lease_hash: str,
        since: datetime | None = None,
    ) -> bool:
        def step() -> bool:
            machine = self._with(machine_id, lease_hash)
            control = machine.control if machine is not None else None
            if since is not None and control is not None and control.since != since:
                return False
            return self._unset(machine_id, lease_hash, is_over=False)

        return await self._perform(step)

    async def end_if_over(self, organization_id: UUID, machine_id: str, lease_hash: str) -> bool:
        return await self._perform(lambda: self._unset(machine_id, lease_hash, is_over=True))

    async def all(self) -> list[HeldMachine]:
        def step() -> list[HeldMachine]:
            return [
                HeldMachine(
                    machine.organization_id,
                    machine.machine_id,
                    machine.control,
                    not self._is_in_force(machine.control),
                )
                for machine in self._mongo.machines.values()
                if machine.control is not None
            ]

        return await self._perform_quietly(step)

    async def restricted_of(self, node_id: UUID) -> dict[tuple[UUID, str], KeptTo]:
        # Whoever looks again is through with what the last look brought.
        self.looks += self._has_looked
        self._has_looked = False

        def look() -> dict[tuple[UUID, str], KeptTo]:
            return {
                (machine.organization_id, machine.machine_id): _kept_to(machine)
                for machine in self._mongo.machines.values()
                if (machine.paused or machine.control)
                and machine.link
                and machine.link.node_id == node_id
            }

        restricted = await self._perform_quietly(look)
        self._has_looked = True
        return restricted

    def _now(self) -> datetime:
        """MongoDB's own clock."""
        return self._mongo.clock()

    def _is_in_force(self, control: StoredControl) -> bool:
        return control.expires_at > self._now()

    def _with(self, machine_id: str, lease_hash: str) -> Machine | None:
        machine = self._mongo.machines.get(machine_id)
        has_it = (
            machine is not None and machine.control and machine.control.lease_hash == lease_hash
        )
        return machine if has_it else None

    def _unset(self, machine_id: str, lease_hash: str, *, is_over: bool) -> bool:
        machine = self._with(machine_id, lease_hash)
        if machine is None or machine.control is None:
            return False
        if is_over and self._is_in_force(machine.control):
            return False
        self._put(machine, None)
        return True

    def _put(self, machine: Machine, control: StoredControl | None) -> None:
        self._mongo.machines[machine.machine_id] = replace(machine, control=control)


def _kept_to(machine: Machine) -> KeptTo:
    control = machine.control
    if control is None:
        return KeptTo(machine.paused, None, private=False)
    return KeptTo(machine.paused, control.lease_hash, control.private_since is not None)


class AllTokens(TokenStore):
    """Every token stays good."""

    def __init__(self) -> None:
        pass

    async def pools_of_usable(self, token_ids: Iterable[UUID]) -> Mapping[UUID, list[UUID] | None]:
        return dict.fromkeys(token_ids)


class NoSessions(SessionStore):
    """Nobody is signed in."""

    def __init__(self) -> None:
        pass


class NoAudit(AuditStore):
    """Nobody reads it."""

    def __init__(self) -> None:
        pass

    async def add(self, entry: AuditEntry) -> None:
        pass

    async def add_inputs(self, entries: Sequence[AuditEntry]) -> None:
        pass

    async def put_stretches(self, entries: Sequence[AuditEntry]) -> None:
        pass
