"""Organizations: made and listed."""

from schemas.http.queries import PageQuery
from schemas.resources.organizations import NewOrganization, Organization, OrganizationPage
from schemas.resources.tokens import Scope
from server.web.auditing import record
from server.web.endpoint import Endpoint, endpoint
from server.web.handler import ApiHandler


class OrganizationsHandler(ApiHandler):
    @endpoint(
        Endpoint(
            summary="List organizations",
            description="The caller's own and those that were made from it, newest first.",
            scope=Scope.ORGANIZATIONS_WRITE,
            query=PageQuery,
            answers={200: OrganizationPage},
        )
    )
    async def get(self, query: PageQuery) -> None:
        stored, total = await self.services.organizations.list_made_from(
            self.principal.organization_id, query
        )
        items = [Organization.model_validate(each, from_attributes=True) for each in stored]
        self.answer(
            200, OrganizationPage(items=items, total=total, skip=query.skip, limit=query.limit)
        )

    @endpoint(
        Endpoint(
            summary="Add an organization",
            scope=Scope.ORGANIZATIONS_WRITE,
            body=NewOrganization,
            answers={201: Organization},
        )
    )
    async def post(self, body: NewOrganization) -> None:
        stored = await self.services.organizations.create(
            body.name, parent_id=self.principal.organization_id
        )
        await record(self, "organization.added", stored.id)
        self.answer(201, Organization.model_validate(stored, from_attributes=True))
