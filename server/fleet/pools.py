"""The pools of organizations: what may become of one, and who has to hear of it."""

from collections.abc import Callable, Collection, Mapping, Sequence
from uuid import UUID

from schemas.http import problems
from schemas.http.problems import InvalidRequestError, ProblemError
from schemas.http.queries import PageQuery
from schemas.resources.machine_lists import PoolCount
from schemas.resources.pools import (
    MOST_POOLS,
    NewPool,
    Pool,
    PoolChange,
    PoolPage,
    PoolReference,
    references,
)
from server.errors import AlreadyExists
from server.identity.granting import no_pool
from server.store.machines.pools import PoolStore, StoredPool


class Pools:
    """Every method sees the pools of the organization it is given, and no others.

    ``changed`` is told of every machine of a pool that is called otherwise, or is gone.  Whatever
    names a pool that is not there raises a ``404`` problem.
    """

    def __init__(self, pools: PoolStore, changed: Callable[[UUID, str], None]) -> None:
        self._pools = pools
        self._changed = changed

    async def add(self, organization_id: UUID, new: NewPool, *, by: str) -> Pool:
        """Make a pool without machines.  Raises a ``409`` problem for a name that is taken."""
        if await self._pools.count(organization_id) >= MOST_POOLS:
            raise ProblemError(
                problems.WRONG_STATE, f"an organization has at most {MOST_POOLS} pools"
            )
        try:
            stored = await self._pools.create(
                organization_id,
                new.name,
                new.description,
                by=by,
                offline_after=new.offline_after,
            )
        except AlreadyExists:
            raise _taken(new.name) from None
        return _view(stored, 0)

    async def page(
        self, organization_id: UUID, page: PageQuery, within: Collection[UUID] | None = None
    ) -> PoolPage:
        """One page of the pools, or of those ``within``, by name."""
        stored, total = await self._pools.list(organization_id, page, within)
        counts = await self._pools.counts(organization_id, [each.id for each in stored])
        items = [_view(each, counts.get(each.id, 0)) for each in stored]
        return PoolPage(items=items, total=total, skip=page.skip, limit=page.limit)

    async def get(
        self, organization_id: UUID, pool_id: UUID, within: Collection[UUID] | None = None
    ) -> Pool:
        """One pool; one that is not ``within`` does not exist."""
        if within is not None and pool_id not in within:
            raise _unknown(pool_id)
        return await self._shown(await self._pools.get(organization_id, pool_id), pool_id)

    async def change(self, organization_id: UUID, pool_id: UUID, change: PoolChange) -> Pool:
        """Rename or describe a pool.  Raises a ``409`` problem for a name that is taken."""
        changes = change.model_dump(exclude_unset=True)
        if change.name is None:
            changes.pop("name", None)
        if not changes:
            return await self.get(organization_id, pool_id)
        try:
            stored = await self._pools.change(organization_id, pool_id, changes)
        except AlreadyExists:
            raise _taken(changes["name"]) from None
        if "name" in changes:
            await self._tell(organization_id, pool_id)
        return await self._shown(stored, pool_id)

    async def delete(self, organization_id: UUID, pool_id: UUID) -> Pool:
        """Delete a pool, which is answered as it was; its machines stay."""
        pool = await self.get(organization_id, pool_id)
        machines = await self._pools.machines_in(organization_id, pool_id)
        if not await self._pools.delete(organization_id, pool_id):
            raise _unknown(pool_id)
        for machine_id in machines:
            self._changed(organization_id, machine_id)
        return pool

    async def machines_of(self, organization_id: UUID, pool_ids: Sequence[UUID]) -> set[str]:
        """The machines in any of these pools.  Raises a validation error for one there is not."""
        await self.check(organization_id, pool_ids)
        return await self._pools.members(organization_id, pool_ids)

    async def check(self, organization_id: UUID, pool_ids: Sequence[UUID]) -> Sequence[UUID]:
        """These ids, each once.  Raises a validation error unless there are all of these pools."""
        known = await self._pools.ids_of(organization_id, pool_ids) if pool_ids else {}
        for place, pool_id in enumerate(pool_ids):
            if pool_id not in known:
                raise no_pool(place, pool_id)
        return tuple(dict.fromkeys(pool_ids))

    async def counted(self, organization_id: UUID, counts: Mapping[str, int]) -> list[PoolCount]:
        """So many machines of pools, by their ids in hexadecimal; one that is gone is left out."""
        names = await self._pools.names(organization_id, [UUID(hex=each) for each in counts])
        return [
            PoolCount(id=UUID(hex=each), name=names[UUID(hex=each)], machines=count)
            for each, count in counts.items()
            if UUID(hex=each) in names
        ]

    async def named(
        self,
        organization_id: UUID,
        texts: Collection[str],
        within: Collection[UUID] | None = None,
    ) -> frozenset[UUID]:
        """The pools that have these names or ids.  Raises a validation error where one has not.

        Those that are not ``within`` do not exist.
        """
        ids = {text: each for text in texts if (each := _id(text)) is not None}
        known = await self._pools.ids_of(organization_id, ids.values(), texts)
        found = {text: known.get(ids.get(text, text)) for text in texts}
        for text, pool_id in found.items():
            if pool_id is None or (within is not None and pool_id not in within):
                raise InvalidRequestError.single(
                    ("query", "pool"), f"there is no pool {text}", "no_pool", text
                )
        return frozenset(each for each in found.values() if each is not None)

    async def references(
        self, organization_id: UUID, pool_ids: Collection[UUID]
    ) -> list[PoolReference]:
        """Ids and names of those of these pools that are there, by name."""
        return references(await self._pools.names(organization_id, pool_ids))

    async def _tell(self, organization_id: UUID, pool_id: UUID) -> None:
        for machine_id in await self._pools.machines_in(organization_id, pool_id):
            self._changed(organization_id, machine_id)

    async def _shown(self, stored: StoredPool | None, pool_id: UUID) -> Pool:
        if stored is None:
            raise _unknown(pool_id)
        counts = await self._pools.counts(stored.organization_id, [stored.id])
        return _view(stored, counts.get(stored.id, 0))


def _id(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def _view(stored: StoredPool, machines: int) -> Pool:
    fields = {name: value for name, value in vars(stored).items() if name != "organization_id"}
    return Pool(**fields, machines=machines)


def _unknown(pool_id: UUID) -> ProblemError:
    return ProblemError(problems.NOT_FOUND, f"there is no pool {pool_id}")


def _taken(name: str) -> ProblemError:
    return ProblemError(problems.CONFLICT, f"there is a pool {name!r} already")
