"""Many machines changed in one request."""

from schemas.resources.bulk import (
    AUDITED,
    LABELLING,
    MOST_MACHINES,
    BulkChange,
    BulkItem,
    BulkResult,
)
from schemas.resources.tokens import Scope
from server.web.auditing import record_machines
from server.web.endpoint import Endpoint
from server.web.handler import ApiHandler

MAX_BYTES = 256 * 1024


class BulkHandler(ApiHandler):
    @Endpoint(
        summary="Change many machines",
        description="Each as if it were changed alone, with an answer of its own; sent again, it "
        "changes nothing more, but that each rotation makes a new token.  Tags and pools need "
        "pools:write as well, and a filter machines:read.",
        scope=Scope.MACHINES_WRITE,
        for_bound=True,
        body=BulkChange,
        answers={200: BulkResult},
        max_body_bytes=MAX_BYTES,
        max_body_values=MOST_MACHINES + 100,
    )
    async def post(self, body: BulkChange) -> None:
        if body.action in LABELLING:
            self.principal.require(Scope.POOLS_WRITE)
        if body.filter is not None:
            self.principal.require(Scope.MACHINES_READ)
        bulk = self.services.machines.bulk
        items: list[BulkItem] = []
        async for some in bulk.run(self.principal, body):
            done = {each.item.machine_id: each.note for each in some if each.item.status == "done"}
            if body.action in AUDITED:
                await record_machines(self, AUDITED[body.action], done)
            items += [each.item for each in some]
        count = sum(each.status == "done" for each in items)
        self.answer(200, BulkResult(items=items, done=count, failed=len(items) - count))
