"""What a token reaches: the machines of its organization or of the pools that it is bound to, and
what was recorded on them.

Membership is read for each request, and again by what lasts, so that a machine which leaves a pool
is gone at once.  For a token without pools nothing is read.
"""

from collections.abc import Collection
from uuid import UUID

from schemas.http.problems import NOT_FOUND, ProblemError
from server.dispatch.refusals import unknown_machine
from server.errors import NotFound
from server.identity.authentication import Principal
from server.store.machines.pools import PoolStore
from server.store.trajectories.pictures import PictureStore
from server.store.trajectories.store import TrajectoryStore


class Reach:
    """What exists for whom; what does not is answered as what nobody has."""

    def __init__(
        self, pools: PoolStore, trajectories: TrajectoryStore, pictures: PictureStore
    ) -> None:
        self._pools = pools
        self._trajectories = trajectories
        self._pictures = pictures

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

    async def check_trajectory(self, principal: Principal, trajectory_id: UUID) -> None:
        """Raise NotFound for one that was recorded on a machine out of reach.

        Nothing is read for a token that reaches all there is, even of one that nobody has.
        """
        if principal.pools is None:
            return
        machine_id = await self._trajectories.machine_of(principal.organization_id, trajectory_id)
        if machine_id is not None and not await self.has(principal, machine_id):
            raise NotFound("There is no such trajectory.")

    async def has_picture(self, principal: Principal, picture_id: str) -> bool:
        """False for a picture that only recordings of machines out of reach have."""
        if principal.pools is None:
            return True
        machine_ids = await self._pictures.machines_of(principal.organization_id, picture_id)
        return machine_ids is None or bool(await self.machines(principal, machine_ids))
