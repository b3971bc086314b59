"""The audit, to be read: who did what, to what and when."""

from collections.abc import AsyncGenerator

from schemas.http import problems
from schemas.resources.audit import CSV_COLUMNS, AuditFilter, AuditPage, AuditQuery, csv_line_of
from schemas.resources.tokens import Scope
from schemas.values.csv_lines import csv_line
from server.dispatch.recorder import audit_item
from server.web.endpoint import Endpoint
from server.web.handler import ApiHandler
from server.web.streaming import StreamingHandler


class AuditHandler(ApiHandler):
    @Endpoint(
        summary="List the audit",
        description="Every change and every input of the organization, and who looked at which "
        "screen or read which clipboard, newest first; inputs follow within about a second of "
        "their end.",
        scope=Scope.AUDIT_READ,
        for_bound=True,
        query=AuditQuery,
        answers={200: AuditPage},
    )
    async def get(self, query: AuditQuery) -> None:
        reached = await self.services.machines.reach.machines(self.principal)
        stored, total = await self.services.audit.list(self.organization_id, query, reached)
        items = [audit_item(entry) for entry in stored]
        self.answer(200, AuditPage(items=items, total=total, skip=query.skip, limit=query.limit))


class AuditExportHandler(StreamingHandler):
    @Endpoint(
        summary="Export the audit",
        description="Comma-separated values (RFC 4180) in UTF-8, with a head row, newest first: "
        "all that the query finds.  A text that a spreadsheet would take for a formula has a ' "
        "before it.",
        scope=Scope.AUDIT_READ,
        for_bound=True,
        query=AuditFilter,
        answers={200: None},
        problems=(problems.TOO_MANY_STREAMS,),
        media_type="text/csv",
    )
    async def get(self, query: AuditFilter) -> None:
        self.set_header("Content-Type", "text/csv; charset=utf-8; header=present")
        self.set_header("Content-Disposition", 'attachment; filename="audit.csv"')
        await self.stream(self._lines(query))

    async def _lines(self, query: AuditFilter) -> AsyncGenerator[bytes, None]:
        yield csv_line(CSV_COLUMNS).encode()
        reached = await self.services.machines.reach.machines(self.principal)
        async for entry in self.services.audit.exported(self.organization_id, query, reached):
            yield csv_line_of(audit_item(entry).model_dump(mode="json")).encode()
