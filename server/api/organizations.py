"""Organizations: made and listed."""

from schemas.http.queries import PageQuery
from schemas.resources.organizations import NewOrganization, Organization, OrganizationPage
from schemas.resources.tokens import Scope
from server.web.auditing import record
from server.web.endpoint import Endpoint
from server.web.handler import ApiHandler


class OrganizationsHandler(ApiHandler):
    @Endpoint(
        summary="List organizations",
        description="The caller's own and those that were made from it, newest first.",
        scope=Scope.ORGANIZATIONS_WRITE,
        query=PageQuery,
        answers={200: OrganizationPage},
    )
    async def get(self, query: PageQuery) -> None:
        organizations = self.services.access.organizations
        self.answer(200, await organizations.page(self.organization_id, query))

    @Endpoint(
        summary="Add an organization",
        scope=Scope.ORGANIZATIONS_WRITE,
        body=NewOrganization,
        answers={201: Organization},
    )
    async def post(self, body: NewOrganization) -> None:
        organizations = self.services.access.organizations
        added = await organizations.add(self.organization_id, body)
        await record(self, "organization.added", added.id, target_name=added.name)
        self.answer(201, added)
