"""Tokens and their scopes."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Final, Self
from uuid import UUID

from pydantic import BaseModel, FailFast, Field, model_validator
from pydantic_core import PydanticCustomError

from schemas.http.queries import NullableBool, Page, PageQuery
from schemas.values.scalars import MachineId, Name
from schemas.values.strict import StrictModel
from schemas.values.times import Time

TOKEN_PREFIX = "fh_"  # noqa: S105 - the public beginning of every token, which makes leaks findable


MOST_POOLS_OF_TOKEN: Final = 100


class Scope(StrEnum):
    """What a token allows."""

    TRAJECTORIES_READ = "trajectories:read"
    TRAJECTORIES_WRITE = "trajectories:write"
    TRAJECTORIES_APPROVE = "trajectories:approve"
    MACHINES_READ = "machines:read"
    MACHINES_WRITE = "machines:write"
    MACHINES_CONTROL = "machines:control"
    POOLS_WRITE = "pools:write"
    WEBHOOKS_WRITE = "webhooks:write"
    RECORDINGS_WRITE = "recordings:write"
    RUNS_READ = "runs:read"
    RUNS_WRITE = "runs:write"
    HELP_ANSWER = "help:answer"
    INPUT_SEND = "input:send"
    SCREEN_READ = "screen:read"
    CLIPBOARD = "clipboard"
    TOKENS_WRITE = "tokens:write"
    ORGANIZATIONS_WRITE = "organizations:write"
    AUDIT_READ = "audit:read"
    METRICS_READ = "metrics:read"
    MACHINE_CONNECT = "machine:connect"


ADMINISTRATOR_SCOPES = tuple(scope for scope in Scope if scope is not Scope.MACHINE_CONNECT)
"""Every scope of a person who runs the service; connecting is for machines."""


class Role(StrEnum):
    """Who a token is for: a set of scopes with a name."""

    VIEWER = "viewer"
    OPERATOR = "operator"
    AGENT = "agent"
    REVIEWER = "reviewer"
    ADMINISTRATOR = "administrator"


_LOOKING: Final = (
    *(Scope.MACHINES_READ, Scope.SCREEN_READ, Scope.TRAJECTORIES_READ),
    Scope.RUNS_READ,
)

ROLE_SCOPES: Final[Mapping[Role, tuple[Scope, ...]]] = {
    Role.VIEWER: _LOOKING,
    # All that the console can use, so that nobody has to come back for one more scope.
    Role.OPERATOR: (
        *_LOOKING,
        Scope.INPUT_SEND,
        Scope.MACHINES_CONTROL,
        Scope.HELP_ANSWER,
        Scope.RUNS_WRITE,
        Scope.MACHINES_WRITE,
        Scope.POOLS_WRITE,
        Scope.CLIPBOARD,
        Scope.TRAJECTORIES_WRITE,
        Scope.TRAJECTORIES_APPROVE,
        Scope.RECORDINGS_WRITE,
        Scope.AUDIT_READ,
    ),
    Role.AGENT: (
        *(*_LOOKING, Scope.INPUT_SEND, Scope.CLIPBOARD),
        *(Scope.TRAJECTORIES_WRITE, Scope.RECORDINGS_WRITE, Scope.RUNS_WRITE),
    ),
    Role.REVIEWER: (
        Scope.MACHINES_READ,
        Scope.TRAJECTORIES_READ,
        Scope.TRAJECTORIES_WRITE,
        Scope.TRAJECTORIES_APPROVE,
    ),
    Role.ADMINISTRATOR: ADMINISTRATOR_SCOPES,
}
"""What each role allows."""


def _told_roles() -> str:
    return "; ".join(f"{role}: {', '.join(scopes)}" for role, scopes in ROLE_SCOPES.items())


class NewToken(StrictModel):
    """The body of ``POST /v1/tokens``: with scopes, or with a role, which stands for several."""

    name: Name
    scopes: Annotated[list[Scope] | None, FailFast()] = Field(
        None,
        min_length=1,
        max_length=len(Scope),
        description="What it allows; needed unless there is a role.",
    )
    role: Role | None = Field(
        None, description=f"In place of scopes, the role that it has them of.  {_told_roles()}."
    )
    organization_id: UUID | None = Field(
        None,
        description="Another organization, which was made from the caller's own; needs the scope "
        "organizations:write.",
    )
    user_id: UUID | None = None
    machine_id: MachineId | None = Field(
        None, description="The machine that machine:connect is bound to."
    )
    pool_ids: Annotated[list[UUID] | None, FailFast()] = Field(
        None,
        min_length=1,
        max_length=MOST_POOLS_OF_TOKEN,
        description="Binds it to these pools: other machines do not exist for it.  By default "
        "it is bound as the token that makes it.",
    )
    expires_at: Time | None = Field(
        None,
        description="Not later than the end of the token that makes it, which is the default.",
    )

    @property
    def allowed(self) -> tuple[Scope, ...]:
        """The scopes that it will have, each once."""
        return ROLE_SCOPES[self.role] if self.role else tuple(dict.fromkeys(self.scopes or ()))

    @model_validator(mode="after")
    def _has_scopes_or_role(self) -> Self:
        if self.scopes is None and self.role is None:
            raise PydanticCustomError("scopes_missing", "a token needs scopes or a role")
        if self.scopes is not None and self.role is not None:
            raise PydanticCustomError(
                "scopes_and_role", "a token has either scopes or a role: leave one of them out"
            )
        return self

    @model_validator(mode="after")
    def _machine_fits_scopes(self) -> Self:
        connects = Scope.MACHINE_CONNECT in self.allowed
        if connects and self.machine_id is None:
            raise PydanticCustomError(
                "machine_missing", "the scope machine:connect needs a machine_id"
            )
        if not connects and self.machine_id is not None:
            raise PydanticCustomError(
                "scope_missing", "a machine_id goes with the scope machine:connect only"
            )
        if connects and self.pool_ids is not None:
            raise PydanticCustomError(
                "machine_and_pools", "a machine's own token is bound to that machine, not to pools"
            )
        return self


class Token(BaseModel):
    """A token as its organization sees it; the secret itself is not kept."""

    id: UUID
    name: str
    organization_id: UUID
    user_id: UUID | None
    role: Role | None = Field(
        description="The role that it was made with; null where its scopes were named one by one."
    )
    scopes: list[Scope]
    machine_id: str | None
    pool_ids: list[UUID] | None = Field(
        description="The pools that it is bound to, also those that are deleted by now; null where "
        "it is bound to none."
    )
    created_at: Time
    expires_at: Time | None
    last_used_at: Time | None


class CreatedToken(Token):
    """The only answer that shows a token's secret."""

    token: str


class TokenQuery(PageQuery):
    """Which tokens are wanted."""

    of_machines: NullableBool = Field(
        None,
        description="true: those of machines alone; false: those of people and programs; left "
        "out: all.",
    )


class TokenPage(Page[Token]):
    """A page of tokens."""
