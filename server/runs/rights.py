"""Whether a run may go on in the name of whoever began it."""

from server.store.identity.tokens import TokenStore
from server.store.machines.pools import PoolStore
from server.store.runs.documents import StoredRun


class RunRights:
    """Reads again what the token of a run may do: it lasts longer than a request."""

    def __init__(self, tokens: TokenStore, pools: PoolStore) -> None:
        self._tokens = tokens
        self._pools = pools

    async def why_none(self, run: StoredRun) -> str | None:
        """Why a run has to end, as a sentence; None where it may go on.

        Raises StoreUnavailable.
        """
        if not await self._tokens.usable([run.token_id]):
            return f"the token {run.by}, which began it, is not valid any more"
        pool_ids = await self._tokens.pools_of(run.token_id)
        if pool_ids is None or run.machine_id is None:
            return None
        if await self._pools.has_member(run.organization_id, pool_ids, run.machine_id):
            return None
        return f"its machine is in no pool of the token {run.by}, which began it, any more"
