"""Tokens and their scopes."""

from enum import StrEnum
from typing import Annotated, Self
from uuid import UUID

from pydantic import BaseModel, FailFast, Field, model_validator
from pydantic_core import PydanticCustomError

from schemas.http.queries import Page
from schemas.values.scalars import MachineId, Name
from schemas.values.strict import StrictModel
from schemas.values.times import Time

TOKEN_PREFIX = "fh_"  # noqa: S105 - the public beginning of every token, which makes leaks findable


class Scope(StrEnum):
    """What a token allows."""

    TRAJECTORIES_READ = "trajectories:read"
    TRAJECTORIES_WRITE = "trajectories:write"
    MACHINES_READ = "machines:read"
    MACHINES_WRITE = "machines:write"
    MACHINES_CONTROL = "machines:control"
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


class NewToken(StrictModel):
    """The body of ``POST /v1/tokens``."""

    name: Name
    scopes: Annotated[list[Scope], FailFast()] = Field(min_length=1, max_length=len(Scope))
    organization_id: UUID | None = Field(
        None,
        description="Another organization, which was made from the caller's own; needs the scope "
        "organizations:write.",
    )
    user_id: UUID | None = None
    machine_id: MachineId | None = Field(
        None, description="The machine that machine:connect is bound to."
    )
    expires_at: Time | None = Field(
        None,
        description="Not later than the end of the token that makes it, which is the default.",
    )

    @model_validator(mode="after")
    def _machine_fits_scopes(self) -> Self:
        connects = Scope.MACHINE_CONNECT in self.scopes
        if connects and self.machine_id is None:
            raise PydanticCustomError(
                "machine_missing", "the scope machine:connect needs a machine_id"
            )
        if not connects and self.machine_id is not None:
            raise PydanticCustomError(
                "scope_missing", "a machine_id goes with the scope machine:connect only"
            )
        return self


class Token(BaseModel):
    """A token as its organization sees it; the secret itself is not kept."""

    id: UUID
    name: str
    organization_id: UUID
    user_id: UUID | None
    scopes: list[Scope]
    machine_id: str | None
    created_at: Time
    expires_at: Time | None
    last_used_at: Time | None


class CreatedToken(Token):
    """The only answer that shows a token's secret."""

    token: str


class TokenPage(Page[Token]):
    """A page of tokens."""
