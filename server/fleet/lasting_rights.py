"""Whether what lasts longer than a request may go on in the name of whoever began it."""

from typing import Literal
from uuid import UUID

from server.store.identity.tokens import TokenStore
from server.store.machines.pools import PoolStore

WhyNoRight = Literal["token", "pools"]
"""The token is not valid any more, or the machine is in no pool of it any more."""


class LastingRights:
    """Reads again what a token may do."""

    def __init__(self, tokens: TokenStore, pools: PoolStore) -> None:
        self._tokens = tokens
        self._pools = pools

    async def why_over(
        self, organization_id: UUID, token_id: UUID, machine_id: str | None
    ) -> WhyNoRight | None:
        """Why something has to end, which may not have a machine yet; None where it may go on.

        Raises StoreUnavailable.
        """
        if not await self._tokens.usable([token_id]):
            return "token"
        pool_ids = await self._tokens.pools_of(token_id)
        if pool_ids is None or machine_id is None:
            return None
        if await self._pools.has_member(organization_id, pool_ids, machine_id):
            return None
        return "pools"
