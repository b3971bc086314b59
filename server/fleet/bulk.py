"""One change of many machines: each as if it were changed alone, and with an answer of its own."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from schemas.http.problems import InvalidRequestError
from schemas.resources.bulk import MOST_MACHINES, BulkAction, BulkChange, BulkItem, BulkStatus
from schemas.resources.machines import MachineChange
from schemas.resources.pools import tags_note
from server.dispatch.questions.question import RefusalKind
from server.dispatch.refusals import RefusedError, unknown_machine
from server.errors import StoreUnavailable, TooLarge
from server.fleet.fleet import Fleet
from server.fleet.lists.lists import MachineLists
from server.fleet.pauses import check_end
from server.fleet.pools import Pools
from server.fleet.reach import Reach
from server.fleet.rotations import Rotations
from server.identity.authentication import Principal
from server.store.machines.documents import NO_LABELS, Labels

AT_ONCE: Final = 20
"""Machines that are changed at the same time, and recorded together."""

_Change = Callable[[str], Awaitable[str | None]]
"""Changes the machine of this id, and answers what the audit notes of that."""


@dataclass(frozen=True)
class Changed:
    """What became of one machine, and what the audit notes of that."""

    item: BulkItem
    note: str | None = None


class Bulk:
    """Changes machines of the organization of whoever asks, and no others."""

    def __init__(
        self,
        fleet: Fleet,
        rotations: Rotations,
        lists: MachineLists,
        pools: Pools,
        reach: Reach,
    ) -> None:
        self._fleet = fleet
        self._rotations = rotations
        self._lists = lists
        self._pools = pools
        self._reach = reach

    async def run(
        self, principal: Principal, wanted: BulkChange
    ) -> AsyncGenerator[Sequence[Changed], None]:
        """Change the machines that a token reaches, some at once, and say what became of those.

        Raises a validation error before anything is changed.
        """
        change = await self._change(principal, wanted)
        machine_ids = await self._machines(principal, wanted)
        for begin in range(0, len(machine_ids), AT_ONCE):
            some = machine_ids[begin : begin + AT_ONCE]
            reached = await self._reach.machines(principal, some)
            yield await asyncio.gather(*(_changed(each, change, reached) for each in some))

    async def _machines(self, principal: Principal, wanted: BulkChange) -> Sequence[str]:
        if wanted.filter is None:
            return tuple(dict.fromkeys(wanted.machine_ids or ()))
        listed = await self._lists.find(
            principal.organization_id, wanted.filter, within=principal.pools
        )
        found = listed.ids
        if len(found) > MOST_MACHINES:
            raise InvalidRequestError.single(
                ("body", "filter"),
                f"finds {len(found)} machines, and at most {MOST_MACHINES} are changed at once: "
                "narrow it",
                "too_many_machines",
            )
        return found

    async def _change(self, principal: Principal, wanted: BulkChange) -> _Change:
        organization_id, by = principal.organization_id, principal.token_name
        if wanted.action in ("pause", "resume"):
            check_end(wanted.pause_until)
            return self._pausing(organization_id, wanted, by)
        if wanted.action == "remove":
            return self._removing(organization_id)
        if wanted.action == "rotate":
            return self._rotating(organization_id, by)
        if wanted.pool_id is not None:
            return await self._pooling(principal, wanted.pool_id, wanted.action)
        labels = Labels(tags=wanted.tags or ())
        add, remove = (labels, NO_LABELS) if wanted.action == "tag" else (NO_LABELS, labels)

        async def tag(machine_id: str) -> str:
            stored = await self._fleet.label(organization_id, machine_id, add, remove)
            return tags_note(stored.labels.tags)

        return tag

    def _pausing(self, organization_id: UUID, wanted: BulkChange, by: str) -> _Change:
        change = MachineChange(
            paused=wanted.action == "pause",
            pause_reason=wanted.pause_reason,
            pause_until=wanted.pause_until,
        )

        async def pause(machine_id: str) -> str | None:
            await self._fleet.change(organization_id, machine_id, change, by=by)
            return wanted.pause_reason

        return pause

    def _removing(self, organization_id: UUID) -> _Change:
        async def remove(machine_id: str) -> None:
            await self._fleet.remove(organization_id, machine_id)

        return remove

    def _rotating(self, organization_id: UUID, by: str) -> _Change:
        async def rotate(machine_id: str) -> None:
            await self._rotations.begin(organization_id, machine_id, by=by)

        return rotate

    async def _pooling(self, principal: Principal, pool_id: UUID, action: BulkAction) -> _Change:
        organization_id = principal.organization_id
        references = await self._pools.references(organization_id, [pool_id])
        if not references or (principal.pools is not None and pool_id not in principal.pools):
            raise InvalidRequestError.single(
                ("body", "pool_id"), f"there is no pool {pool_id}", "no_pool", str(pool_id)
            )
        labels = Labels(pools=[pool_id])
        add, remove = (labels, NO_LABELS) if action == "add_to_pool" else (NO_LABELS, labels)

        async def put(machine_id: str) -> str:
            await self._fleet.label(organization_id, machine_id, add, remove)
            return references[0].name

        return put


async def _changed(machine_id: str, change: _Change, reached: Collection[str] | None) -> Changed:
    try:
        if reached is not None and machine_id not in reached:
            raise RefusedError(unknown_machine(machine_id))  # noqa: TRY301  as where none has it
        note = await change(machine_id)
    except RefusedError as error:
        is_unknown = error.refusal.kind is RefusalKind.UNKNOWN_MACHINE
        status: BulkStatus = "not_found" if is_unknown else "failed"
        detail = error.refusal.detail
    except (StoreUnavailable, TooLarge) as error:
        status, detail = "failed", str(error)
    else:
        return Changed(BulkItem(machine_id=machine_id, status="done"), note)
    return Changed(BulkItem(machine_id=machine_id, status=status, detail=detail))
