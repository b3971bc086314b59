"""What the server answers about who may do what, and about how machines are put together."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field


class Answer(BaseModel):
    """Anything that the server answers."""

    # Built at the first use: whoever imports the library needs few of them.
    model_config = ConfigDict(extra="allow", frozen=True, defer_build=True)


class PoolReference(Answer):
    """Which pool, for programs and for people."""

    id: UUID
    name: str


class Pool(Answer):
    """Machines that are looked after together."""

    id: UUID
    name: str
    description: str | None
    machines: int
    """How many are in it."""
    created_at: datetime
    created_by: str


class Token(Answer):
    """A token, without its secret."""

    id: UUID
    name: str
    organization_id: UUID
    user_id: UUID | None
    role: str | None
    scopes: list[str]
    machine_id: str | None
    pool_ids: list[UUID] | None
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None


class CreatedToken(Token):
    """A new token: the only answer with its secret."""

    token: str = Field(repr=False)


class Invitation(Answer):
    """A code with which hosts become machines, without the code."""

    id: UUID
    name: str | None
    machine_id: str | None
    uses: int
    used: int
    """How many have joined with it, or wait for approval."""
    approval: bool
    tags: list[str]
    pools: list[PoolReference]
    created_at: datetime
    created_by: str
    expires_at: datetime


class CreatedInvitation(Invitation):
    """A new invitation: the only answer with its code."""

    code: str = Field(repr=False)


class Join(Answer):
    """A host that came with an invitation."""

    id: UUID
    host: str
    address: str
    state: Literal["waiting", "joined", "refused"]
    machine_id: str | None
    created_at: datetime


class Organization(Answer):
    """A tenant."""

    id: UUID
    name: str
    created_at: datetime
    parent_id: UUID | None


class BulkItem(Answer):
    """What became of one of many machines."""

    machine_id: str
    status: Literal["done", "not_found", "failed"]
    detail: str | None = None
    """What was wrong, for a person."""


class BulkResult(Answer):
    """What became of many machines, each for itself."""

    items: list[BulkItem]
    done: int
    failed: int
    """Those that were not found among them."""


class StateCounts(Answer):
    """How many machines are in each state."""

    online: int
    offline: int
    paused: int
    no_input: int
    not_set_up: int
    """Of those that are offline."""
