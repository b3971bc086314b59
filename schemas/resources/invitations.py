"""Invitations: codes with which machines join, without a token being carried to them."""

from datetime import timedelta
from typing import Annotated, Final, Literal, Self
from uuid import UUID

from pydantic import BaseModel, Field, field_validator, model_validator
from pydantic_core import PydanticCustomError

from schemas.http.queries import Page
from schemas.resources.machines import check_not_reserved
from schemas.resources.pools import PoolIds, PoolReference, Tags
from schemas.values.scalars import Fitting, MachineId, Name, StrictBool
from schemas.values.strict import StrictModel
from schemas.values.times import Time

CODE_PREFIX: Final = "fhj_"
"""The public beginning of every join code, which makes leaks findable."""

MAX_USES: Final = 1000
DEFAULT_LIFETIME: Final = timedelta(hours=1)
LONGEST_LIFETIME: Final = timedelta(days=30)

TokenHash = Annotated[
    str, Fitting("[0-9a-f]{64}", "must be a SHA-256: 64 digits 0 to 9 and a to f")
]
"""The SHA-256 of the token that a joining machine has made for itself."""

JoinState = Literal["waiting", "joined", "refused"]


class NewInvitation(StrictModel):
    """The body of ``POST /v1/invitations``."""

    name: Name | None = Field(None, description="What for, such as Berlin, second floor.")
    machine_id: MachineId | None = Field(
        None,
        description="The one machine that it is for; it is added unless it is there.  Without it "
        "every host that joins becomes a new machine, of the host's name.",
    )
    uses: Annotated[int, Field(strict=True, ge=1, le=MAX_USES)] = Field(
        1, description="How many machines may join with it."
    )
    expires_at: Time | None = Field(
        None, description="At most 30 days from now; left out, it is good for an hour."
    )
    approval: StrictBool = Field(
        False, description="Whether each host waits until somebody lets it in."
    )
    tags: Tags = Field([], description="What each machine that joins is found by.")
    pool_ids: PoolIds = Field([], description="The pools that each machine that joins is put in.")

    @field_validator("machine_id")
    @classmethod
    def _not_an_address(cls, machine_id: str | None) -> str | None:
        return check_not_reserved(machine_id)

    @model_validator(mode="after")
    def _one_machine_joins_once(self) -> Self:
        if self.machine_id is not None and self.uses > 1:
            raise PydanticCustomError(
                "uses_of_one", "an invitation for one machine is used once: leave out uses"
            )
        return self


class Invitation(BaseModel):
    """An invitation as operators see it; the code itself is not kept."""

    id: UUID
    name: str | None
    machine_id: str | None
    uses: int
    used: int = Field(description="How many have joined with it, or wait for approval.")
    approval: bool
    tags: list[str]
    pools: list[PoolReference]
    created_at: Time
    created_by: str = Field(description="The name of the token that made it.")
    expires_at: Time


class CreatedInvitation(Invitation):
    """The only answer that shows the code."""

    code: str


class InvitationPage(Page[Invitation]):
    """A page of invitations that can be used, newest first."""


class Join(BaseModel):
    """A host that has joined, or wants to."""

    id: UUID
    host: str = Field(description="What the host calls itself.")
    address: str = Field(description="Where it came from.")
    state: JoinState
    machine_id: str | None = Field(description="The machine that it has become.")
    created_at: Time


class JoinPage(Page[Join]):
    """A page of the hosts of an invitation, newest first."""


class JoinDecision(StrictModel):
    """The body of ``PATCH /v1/invitations/{invitation_id}/joins/{join_id}``."""

    approved: StrictBool = Field(description="true lets the host in, false refuses it for ever.")
