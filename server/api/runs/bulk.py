"""Many runs begun by one request."""

from functools import partial

from schemas.resources.tokens import Scope
from schemas.runs.bulk import BulkRuns, NewRuns
from server.api.runs.places import check_place
from server.web.auditing import record_on_machines
from server.web.changes import REPLAYED, ChangingHandler, CreationHeaders, refusals
from server.web.endpoint import Endpoint

MAX_BYTES = 4 * 1024 * 1024
MAX_VALUES = 50_000


class BulkRunsHandler(ChangingHandler):
    @Endpoint(
        summary="Begin many runs",
        description="Each as if it were begun alone, with an answer of its own: one that cannot be "
        "run, or for which the queue has no room, is refused, and the others begin, unless "
        "all_or_none says otherwise.  Under one Idempotency-Key all of them are begun once.",
        scope=Scope.RUNS_WRITE,
        for_bound=True,
        headers=CreationHeaders,
        body=NewRuns,
        confidential=True,
        answers={200: BulkRuns},
        answer_headers=REPLAYED,
        max_body_bytes=MAX_BYTES,
        max_body_values=MAX_VALUES,
    )
    async def post(self, headers: CreationHeaders, body: NewRuns) -> None:
        check = partial(check_place, self.services.machines, self.principal)
        with refusals("run"):
            begun, is_replayed = await self.services.runs.many.begin(
                self.principal, body, check, self.keyed_request(headers, body)
            )
        self.note_replay(is_replayed)
        if not is_replayed:
            machines = {each.run_id: each.machine_id for each in begun.items if each.run_id}
            await record_on_machines(self, "run.created", machines)
        self.answer(200, begun)
