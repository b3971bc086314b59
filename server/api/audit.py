"""The audit, to be read: who did what, to what and when."""

from schemas.resources.audit import AuditPage, AuditQuery
from schemas.resources.tokens import Scope
from server.dispatch.recorder import audit_item
from server.web.endpoint import Endpoint
from server.web.handler import ApiHandler


class AuditHandler(ApiHandler):
    @Endpoint(
        summary="List the audit",
        description="Every change and every input of the organization, newest first; inputs "
        "follow within about a second of their end.",
        scope=Scope.AUDIT_READ,
        query=AuditQuery,
        answers={200: AuditPage},
    )
    async def get(self, query: AuditQuery) -> None:
        stored, total = await self.services.audit.list(self.organization_id, query)
        items = [audit_item(entry) for entry in stored]
        self.answer(200, AuditPage(items=items, total=total, skip=query.skip, limit=query.limit))
