"""Organizations: each is made from another one, and sees those that were made from it."""

from uuid import UUID

from schemas.http.queries import PageQuery
from schemas.resources.organizations import NewOrganization, Organization, OrganizationPage
from server.store.identity.organizations import OrganizationStore


class Organizations:
    """The organizations of an installation."""

    def __init__(self, organizations: OrganizationStore) -> None:
        self._organizations = organizations

    async def page(self, organization_id: UUID, page: PageQuery) -> OrganizationPage:
        """One page of an organization and those that were made from it."""
        stored, total = await self._organizations.list_made_from(organization_id, page)
        items = [Organization.model_validate(each, from_attributes=True) for each in stored]
        return OrganizationPage(items=items, total=total, skip=page.skip, limit=page.limit)

    async def add(self, parent_id: UUID, new: NewOrganization) -> Organization:
        """Make an organization from another one."""
        stored = await self._organizations.create(new.name, parent_id=parent_id)
        return Organization.model_validate(stored, from_attributes=True)
