"""Organizations: the tenants.  Everything else belongs to one, and sees nothing of the others."""

from uuid import UUID

from pydantic import BaseModel, Field

from schemas.http.queries import Page
from schemas.values.scalars import Name
from schemas.values.strict import StrictModel
from schemas.values.times import Time


class NewOrganization(StrictModel):
    """The body of ``POST /v1/organizations``."""

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


class OrganizationPage(Page[Organization]):
    """A page of organizations, newest first."""
