"""Pools: made, listed, changed, deleted."""

from uuid import UUID

from pydantic import BaseModel

from schemas.http import problems
from schemas.http.queries import PageQuery
from schemas.resources.pools import NewPool, Pool, PoolChange, PoolPage
from schemas.resources.tokens import Scope
from server.web.auditing import record
from server.web.endpoint import Endpoint
from server.web.handler import ApiHandler


class PoolPath(BaseModel):
    """Names a pool."""

    pool_id: UUID


class PoolsHandler(ApiHandler):
    @Endpoint(
        summary="List pools",
        scope=Scope.MACHINES_READ,
        for_bound=True,
        query=PageQuery,
        answers={200: PoolPage},
    )
    async def get(self, query: PageQuery) -> None:
        pools, within = self.services.machines.pools, self.principal.pools
        self.answer(200, await pools.page(self.organization_id, query, within))

    @Endpoint(
        summary="Make a pool",
        description="Machines are put in it by POST /v1/machines/bulk, or as they join.",
        scope=Scope.POOLS_WRITE,
        body=NewPool,
        answers={201: Pool},
        problems=(problems.CONFLICT, problems.WRONG_STATE),
    )
    async def post(self, body: NewPool) -> None:
        pools = self.services.machines.pools
        made = await pools.add(self.organization_id, body, by=self.principal.token_name)
        await record(self, "pool.created", made.id, target_name=made.name)
        self.answer(201, made)


class PoolHandler(ApiHandler):
    @Endpoint(
        summary="Get a pool",
        scope=Scope.MACHINES_READ,
        for_bound=True,
        path=PoolPath,
        answers={200: Pool},
        problems=(problems.NOT_FOUND,),
    )
    async def get(self, path: PoolPath) -> None:
        pools, within = self.services.machines.pools, self.principal.pools
        self.answer(200, await pools.get(self.organization_id, path.pool_id, within))

    @Endpoint(
        summary="Rename or describe a pool, or change its delay",
        scope=Scope.POOLS_WRITE,
        path=PoolPath,
        body=PoolChange,
        answers={200: Pool},
        problems=(problems.NOT_FOUND, problems.CONFLICT),
    )
    async def patch(self, path: PoolPath, body: PoolChange) -> None:
        pools = self.services.machines.pools
        changed = await pools.change(self.organization_id, path.pool_id, body)
        await record(self, "pool.changed", changed.id, target_name=changed.name)
        self.answer(200, changed)

    @Endpoint(
        summary="Delete a pool",
        description="Its machines stay.",
        scope=Scope.POOLS_WRITE,
        path=PoolPath,
        answers={204: None},
        problems=(problems.NOT_FOUND,),
    )
    async def delete(self, path: PoolPath) -> None:
        pools = self.services.machines.pools
        deleted = await pools.delete(self.organization_id, path.pool_id)
        await record(self, "pool.deleted", deleted.id, target_name=deleted.name)
        self.answer(204)
