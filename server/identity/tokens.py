"""Tokens: granted by one that allows as much, listed and revoked; a secret is shown once."""

from dataclasses import dataclass
from uuid import UUID

from schemas.http.problems import NOT_FOUND, InvalidRequestError, ProblemError
from schemas.http.queries import PageQuery
from schemas.resources.tokens import CreatedToken, NewToken, Scope, Token, TokenPage
from server.identity.authentication import (
    Principal,
    known_role,
    known_scopes,
    new_secret,
    secret_hash,
)
from server.identity.granting import check_scopes, granted_end
from server.store.identity.organizations import OrganizationStore
from server.store.identity.tokens import StoredToken, TokenStore, new_token
from server.store.machines.machines import MachineStore


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
        self, tokens: TokenStore, organizations: OrganizationStore, machines: MachineStore
    ) -> None:
        self._tokens = tokens
        self._organizations = organizations
        self._machines = machines

    async def page(self, organization_id: UUID, page: PageQuery) -> TokenPage:
        """One page of the tokens that were not revoked."""
        stored, total = await self._tokens.list(organization_id, page)
        items = [token_view(token) for token in stored]
        return TokenPage(items=items, total=total, skip=page.skip, limit=page.limit)

    async def get(self, organization_id: UUID, token_id: UUID) -> Token:
        """A token that was not revoked.  Raises a ``404`` problem."""
        stored = await self._tokens.get(organization_id, token_id)
        if stored is None or stored.revoked_at is not None:
            raise _unknown(token_id)
        return token_view(stored)

    async def grant(self, maker: Principal, new: NewToken) -> CreatedToken:
        """Make a token with what its maker's allows.

        Raises a problem or a validation error where it would allow more, be for an organization
        that was not made from the maker's, or be bound to a machine that is not there.
        """
        organization_id = await self._organization_for(maker, new)
        check_scopes(maker, new)
        new = new.model_copy(update={"expires_at": granted_end(maker, new)})
        if new.machine_id is not None:
            await self._check_machine(organization_id, new.machine_id)
        made = make_token(organization_id, new)
        await self._tokens.insert(made.stored)
        return made.view

    async def revoke(self, organization_id: UUID, token_id: UUID) -> Token:
        """Revoke a token; what it was.  Raises a ``404`` problem."""
        stored = await self._tokens.revoke(organization_id, token_id)
        if stored is None:
            raise _unknown(token_id)
        return token_view(stored)

    async def _organization_for(self, maker: Principal, new: NewToken) -> UUID:
        """Whose token it will be: the maker's organization, or one that was made from it."""
        own = maker.organization_id
        if new.organization_id is None or new.organization_id == own:
            return own
        maker.require(Scope.ORGANIZATIONS_WRITE)
        organization = await self._organizations.get(new.organization_id)
        if organization is None or organization.parent_id != own:
            raise ProblemError(
                NOT_FOUND,
                f"no organization {new.organization_id} was made from yours, and a token for "
                "another one can only be made from there",
            )
        return organization.id

    async def _check_machine(self, organization_id: UUID, machine_id: str) -> None:
        if await self._machines.get(organization_id, machine_id) is None:
            raise InvalidRequestError.single(
                ("body", "machine_id"),
                f"there is no machine {machine_id!r}; add it first",
                "unknown_machine",
                machine_id,
            )


def make_token(organization_id: UUID, new: NewToken) -> MadeToken:
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
    )
    return MadeToken(stored, secret)


def token_view(stored: StoredToken) -> Token:
    """A stored token without its hash."""
    shown = {"role": known_role(stored), "scopes": known_scopes(stored)}
    return Token.model_validate({**vars(stored), **shown})


def _unknown(token_id: UUID) -> ProblemError:
    return ProblemError(NOT_FOUND, f"there is no token {token_id}")
