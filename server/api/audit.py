"""The audit, to be read: who did what, to what and when."""

from schemas.resources import audit as views
from schemas.resources.audit import AuditPage, AuditQuery
from schemas.resources.tokens import Scope
from server.dispatch.recorder import command_item
from server.store.audit import AuditEntry
from server.web.endpoint import Endpoint, endpoint
from server.web.handler import ApiHandler


class AuditHandler(ApiHandler):
    @endpoint(
        Endpoint(
            summary="List the audit",
            description="Every change and every input of the organization, newest first; inputs "
            "follow within about a second of their end.",
            scope=Scope.AUDIT_READ,
            query=AuditQuery,
            answers={200: AuditPage},
        )
    )
    async def get(self, query: AuditQuery) -> None:
        stored, total = await self.services.audit.list(self.principal.organization_id, query)
        items = [_view(entry) for entry in stored]
        self.answer(200, AuditPage(items=items, total=total, skip=query.skip, limit=query.limit))


def _view(entry: AuditEntry) -> views.AuditEntry:
    item = command_item(entry)
    return views.AuditEntry(
        id=entry.id.hex(),
        created_at=entry.created_at,
        action=entry.action,
        token_id=entry.token_id,
        token_name=entry.token_name,
        target=entry.target if item is None else str(item.command_id),
        machine_id=entry.machine_id,
        request_id=entry.request_id,
        note=entry.note,
        command=item,
    )
