"""Organizations: the tenants.  Everything else belongs to one, and sees nothing of the others."""

from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from schemas.values.scalars import Name
from schemas.values.times import Time


class NewOrganization(BaseModel):
    """The body of ``POST /v1/organizations``."""

    model_config = ConfigDict(extra="forbid")

    name: Name


class Organization(BaseModel):
    """An organization."""

    id: UUID
    name: str
    created_at: Time
    parent_id: UUID | None = Field(
        description="The organization that it was made from; only tokens of that one, with "
        "organizations:write, make tokens for it."
    )


class OrganizationPage(BaseModel):
    """A page of organizations, newest first."""

    items: list[Organization]
    total: int
    skip: int
    limit: int
