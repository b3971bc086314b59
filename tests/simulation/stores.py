"""MongoDB as the simulation has it: the ledger and the machines in memory, behind a bad network.

Each operation of the real stores is the same single atomic steps here; between a step and its
answer anything may happen.  `tests/server/store/test_commands.py` holds both ledgers to one
contract.
"""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime
from typing import Protocol, TypeVar
from uuid import UUID

from schemas.inputs.outcomes import Outcome
from server.errors import AlreadyExists, StoreUnavailable
from server.store.commands import CommandRecord, CommandState, CommandStore

T = TypeVar("T")

Listener = Callable[[CommandRecord | None, CommandRecord | None], None]
"""Is told what was there and what is there now; None is no document."""


class Perform(Protocol):
    """Carries an atomic step to the database, and brings what it returned or raised.

    Raises StoreUnavailable, which says nothing of whether the step was carried out.
    """

    def __call__(self, step: Callable[[], T], /) -> Awaitable[T]:
        """Do this there."""


async def at_once(step: Callable[[], T], /) -> T:
    """A network without delays and faults."""
    return step()


class StoredCommands:
    """The documents of the ledger.

    ``on_change`` is told what was there and what is there now, at every write.
    """

    def __init__(self) -> None:
        self.records: dict[UUID, CommandRecord] = {}
        self.on_change: Listener = _ignore

    def put(self, record: CommandRecord) -> None:
        """Put a document in the place of what is there."""
        before = self.records.get(record.command_id)
        self.records[record.command_id] = record
        self.on_change(before, record)

    def delete(self, command_id: UUID) -> None:
        """Delete a document that is there."""
        self.on_change(self.records.pop(command_id), None)


def _ignore(_before: CommandRecord | None, _after: CommandRecord | None) -> None:
    """Nobody listens."""


class SimulatedCommandStore(CommandStore):
    """The ledger's operations on stored commands, each step carried there by ``perform``.

    ``read`` finds a document the way a majority read does: perhaps not its newest state.
    """

    def __init__(
        self,
        stored: StoredCommands,
        perform: Perform,
        read: Callable[[UUID], CommandRecord | None] | None = None,
    ) -> None:
        self._stored = stored
        self._perform = perform
        self._read = read or stored.records.get

    async def claim(self, record: CommandRecord) -> CommandRecord:
        def insert() -> None:
            if record.command_id in self._stored.records:
                raise AlreadyExists("There is one.")
            self._stored.put(record)

        try:
            await self._perform(insert)
        except AlreadyExists:
            standing = await self.find(record.command_id)
            if standing is None:
                raise StoreUnavailable("The command is just being claimed.") from None
            return standing
        return record

    async def mark_sent(self, record: CommandRecord) -> bool:
        return await self._put_in_place(record, record.attempt)

    async def take_over(self, abandoned: CommandRecord, record: CommandRecord) -> bool:
        return await self._put_in_place(record, abandoned.attempt)

    async def find(self, command_id: UUID) -> CommandRecord | None:
        return await self._perform(lambda: self._read(command_id))

    async def finish(
        self, record: CommandRecord, state: CommandState, outcome: Outcome, final_at: datetime
    ) -> bool:
        if record.state.is_final or not state.is_final:
            raise ValueError(f"{record.state} cannot become {state}")

        def update() -> bool:
            standing = self._stored.records.get(record.command_id)
            if standing is None or not standing.is_of(record):
                return False
            final = replace(standing, state=state, outcome=outcome, final_at=final_at)
            self._stored.put(final)
            return True

        return await self._perform(update)

    async def forget(self, command_id: UUID, attempt: UUID) -> bool:
        def delete() -> bool:
            standing = self._stored.records.get(command_id)
            if standing is None or standing.attempt != attempt or standing.state.is_final:
                return False
            self._stored.delete(command_id)
            return True

        return await self._perform(delete)

    async def unresolved(
        self, organization_id: UUID, machine_id: str, epoch: int
    ) -> list[CommandRecord]:
        def look() -> list[CommandRecord]:
            return sorted(
                (
                    record
                    for record in self._stored.records.values()
                    if record.organization_id == organization_id
                    and record.machine_id == machine_id
                    and record.state is CommandState.SENT
                    and record.epoch < epoch
                ),
                key=lambda record: record.accepted_at,
            )

        return await self._perform(look)

    async def _put_in_place(self, record: CommandRecord, claim: UUID) -> bool:
        def put() -> bool:
            standing = self._stored.records.get(record.command_id)
            if (
                standing is None
                or standing.attempt != claim
                or standing.state is not CommandState.CLAIMED
            ):
                return False
            self._stored.put(record)
            return True

        if await self._perform(put):
            return True
        found = await self.find(record.command_id)
        return found is not None and found.is_of(record)
