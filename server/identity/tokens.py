"""Tokens: granted by one that allows as much, listed and revoked; a secret is shown once."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from uuid import UUID

from schemas.http.problems import FORBIDDEN, NOT_FOUND, InvalidRequestError, ProblemError
from schemas.resources.tokens import CreatedToken, NewToken, Scope, Token, TokenPage, TokenQuery
from server.identity.authentication import (
    Principal,
    known_role,
    known_scopes,
    new_secret,
    secret_hash,
)
from server.identity.granting import (
    check_scopes,
    granted_end,
    granted_pools,
    makers_by,
    no_pool,
)
from server.store.identity.organizations import OrganizationStore
from server.store.identity.tokens import StoredToken, TokenStore, new_token
from server.store.machines.machines import MachineStore
from server.store.machines.pools import PoolStore


@dataclass(frozen=True)
class MadeToken:
    """A token that is not stored yet, and its secret, which is shown this once."""

    stored: StoredToken
    secret: str

    @property
    def view(self) -> CreatedToken:
        """What whoever makes it is shown."""
        return CreatedToken(**dict(token_view(self.stored)), token=self.secret)


class Tokens:
    """The tokens of organizations."""

    def __init__(
        self,
        tokens: TokenStore,
        organizations: OrganizationStore,
        machines: MachineStore,
        pools: PoolStore,
    ) -> None:
        self._tokens = tokens
        self._organizations = organizations
        self._machines = machines
        self._pools = pools

    async def page(self, asker: Principal, page: TokenQuery) -> TokenPage:
        """One page of the tokens that were not revoked, and reach no further than the asker's."""
        stored, total = await self._tokens.list(
            asker.organization_id, page, asker.pools, of_machines=page.of_machines
        )
        items = [token_view(token) for token in stored]
        return TokenPage(items=items, total=total, skip=page.skip, limit=page.limit)

    async def get(self, asker: Principal, token_id: UUID) -> Token:
        """A token that was not revoked.  Raises a ``404`` problem."""
        stored = await self._tokens.get(asker.organization_id, token_id)
        if stored is None or stored.revoked_at is not None or not _is_within(stored, asker):
            raise _unknown(token_id)
        return token_view(stored)

    async def grant(self, maker: Principal, new: NewToken) -> CreatedToken:
        """Make a token with what its maker's allows.

        Raises a problem or a validation error where it would allow more, reach further, be for an
        organization that was not made from the maker's, or be bound to a machine or to pools that
        are not there.
        """
        organization_id = await self._organization_for(maker, new)
        check_scopes(maker, new)
        end, pool_ids = granted_end(maker, new), granted_pools(maker, new)
        new = new.model_copy(update={"expires_at": end, "pool_ids": pool_ids})
        if new.machine_id is not None:
            await self._check_machine(organization_id, new.machine_id, maker)
        if new.pool_ids is not None and maker.pools is None:
            await self._check_pools(organization_id, new.pool_ids)
        made = make_token(organization_id, new, makers_by(maker))
        await self._tokens.insert(made.stored)
        return made.view

    async def revoke(self, asker: Principal, token_id: UUID) -> Token:
        """Revoke a token; what it was.  Raises a ``404`` problem."""
        if asker.pools is not None:
            await self.get(asker, token_id)
        stored = await self._tokens.revoke(asker.organization_id, token_id)
        if stored is None:
            raise _unknown(token_id)
        return token_view(stored)

    async def _organization_for(self, maker: Principal, new: NewToken) -> UUID:
        """Whose token it will be: the maker's organization, or one that was made from it."""
        own = maker.organization_id
        if new.organization_id is None or new.organization_id == own:
            return own
        if maker.pools is not None:
            raise ProblemError(
                FORBIDDEN, "your token is bound to pools, which no other organization has"
            )
        maker.require(Scope.ORGANIZATIONS_WRITE)
        organization = await self._organizations.get(new.organization_id)
        if organization is None or organization.parent_id != own:
            raise ProblemError(
                NOT_FOUND,
                f"no organization {new.organization_id} was made from yours, and a token for "
                "another one can only be made from there",
            )
        return organization.id

    async def _check_pools(self, organization_id: UUID, pool_ids: Sequence[UUID]) -> None:
        known = await self._pools.ids_of(organization_id, pool_ids)
        for place, pool_id in enumerate(pool_ids):
            if pool_id not in known:
                raise no_pool(place, pool_id)

    async def _check_machine(
        self, organization_id: UUID, machine_id: str, maker: Principal
    ) -> None:
        stored = await self._machines.get(organization_id, machine_id)
        is_within = maker.pools is None or (
            stored is not None and not maker.pools.isdisjoint(stored.labels.pools)
        )
        if stored is None or not is_within:
            raise InvalidRequestError.single(
                ("body", "machine_id"),
                f"there is no machine {machine_id!r}; add it first",
                "unknown_machine",
                machine_id,
            )


def make_token(organization_id: UUID, new: NewToken, makers: Collection[UUID] = ()) -> MadeToken:
    """A token with a secret of its own; whoever asks for it has been checked."""
    secret = new_secret()
    stored = new_token(
        organization_id,
        new.name,
        secret_hash(secret),
        new.allowed,
        role=new.role,
        user_id=new.user_id,
        machine_id=new.machine_id,
        expires_at=new.expires_at,
        pool_ids=new.pool_ids,
        makers=makers,
    )
    return MadeToken(stored, secret)


def token_view(stored: StoredToken) -> Token:
    """A stored token without its hash."""
    shown = {"role": known_role(stored), "scopes": known_scopes(stored)}
    return Token.model_validate({**vars(stored), **shown})


def _is_within(stored: StoredToken, asker: Principal) -> bool:
    """Whether a token reaches no further than the asker's, which therefore sees it."""
    if asker.pools is None:
        return True
    return stored.pool_ids is not None and asker.pools.issuperset(stored.pool_ids)


def _unknown(token_id: UUID) -> ProblemError:
    return ProblemError(NOT_FOUND, f"there is no token {token_id}")
