"""Whether what lasts longer than a request may go on in the name of whoever began it."""

from collections.abc import Collection, Mapping
from typing import Literal
from uuid import UUID

from server.store.identity.tokens import TokenStore
from server.store.machines.pools import PoolStore

WhyNoRight = Literal["token", "pools"]
"""The token is not valid any more, or the machine is in no pool of it any more."""

Begun = tuple[UUID, UUID, str | None]
"""An organization, its token that began something, and the machine of that, if it has one yet."""


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
        begun = (organization_id, token_id, machine_id)
        return (await self.over_among([begun])).get(begun)

    async def over_among(self, begun: Collection[Begun]) -> Mapping[Begun, WhyNoRight]:
        """Of these those that have to end, and why; each token is asked about once.

        Raises StoreUnavailable.
        """
        if not begun:
            return {}
        pools = await self._tokens.pools_of_usable({token_id for _, token_id, _ in begun})
        over: dict[Begun, WhyNoRight] = {each: "token" for each in begun if each[1] not in pools}
        machines: dict[tuple[UUID, UUID], set[str]] = {}
        for organization_id, token_id, machine_id in begun:
            if pools.get(token_id) is not None and machine_id is not None:
                machines.setdefault((organization_id, token_id), set()).add(machine_id)
        for (organization_id, token_id), those in machines.items():
            of_token = pools[token_id] or ()
            left = those - await self._pools.members(organization_id, of_token, those)
            over |= {(organization_id, token_id, machine_id): "pools" for machine_id in left}
        return over
