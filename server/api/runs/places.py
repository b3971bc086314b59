"""Where a run may be begun."""

from schemas.http.problems import InvalidRequestError
from schemas.runs.requests import NewRun
from server.identity.authentication import Principal
from server.services import Machines


async def check_place(machines: Machines, principal: Principal, new: NewRun) -> None:
    """Raise a problem unless there is a machine that the caller reaches, now or in a pool."""
    if new.machine_id is not None:
        await machines.fleet.check(principal.organization_id, new.machine_id)
        await machines.reach.check(principal, new.machine_id)
        return
    pool_ids = new.pool_ids or []
    for place, pool_id in enumerate(pool_ids):
        if principal.pools is not None and pool_id not in principal.pools:
            raise InvalidRequestError.single(
                ("body", "pool_ids", str(place)), f"there is no pool {pool_id}", "no_pool"
            )
    if not await machines.pools.machines_of(principal.organization_id, pool_ids):
        raise InvalidRequestError.single(
            ("body", "pool_ids"), "no machine is in any of these pools", "pools_empty"
        )
