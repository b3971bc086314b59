"""Which machines a token reaches: all of its organization, or those of the pools it is bound to.

Membership is read for each request, and again by what lasts, so that a machine which leaves a pool
is gone at once.  For a token without pools nothing is read.
"""

from collections.abc import Collection

from schemas.http.problems import NOT_FOUND, ProblemError
from server.dispatch.refusals import unknown_machine
from server.identity.authentication import Principal
from server.store.machines.pools import PoolStore


class MachineReach:
    """What exists for whom; what does not is answered as what nobody has."""

    def __init__(self, pools: PoolStore) -> None:
        self._pools = pools

    async def check(self, principal: Principal, machine_id: str) -> None:
        """Raise a ``404`` problem unless the machine is in a pool of the token, if it has any."""
        if not await self.has(principal, machine_id):
            raise ProblemError(NOT_FOUND, unknown_machine(machine_id).detail)

    async def has(self, principal: Principal, machine_id: str) -> bool:
        """Whether the token reaches a machine."""
        if principal.pools is None:
            return True
        return await self._pools.has_member(principal.organization_id, principal.pools, machine_id)

    async def machines(
        self, principal: Principal, among: Collection[str] | None = None
    ) -> set[str] | None:
        """The ids of the machines it reaches, or of those of ``among``; None is all there are."""
        if principal.pools is None:
            return None
        return await self._pools.members(principal.organization_id, principal.pools, among)
