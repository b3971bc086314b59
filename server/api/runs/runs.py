"""Runs: begun, listed, looked at, cancelled, continued, begun once more."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from uuid import UUID

from pydantic import BaseModel, ValidationError

from schemas.http import problems
from schemas.http.problems import InvalidRequestError, ProblemError
from schemas.resources.tokens import Scope
from schemas.resources.trajectories import MAX_TRAJECTORY_BYTES
from schemas.runs.requests import ContinuedRun, NewRun, RetriedRun, RunListQuery
from schemas.runs.runs import Run, RunPage, RunWithSteps
from schemas.values.validation_errors import entries_of
from server.api.machines.asking import AskingHandler
from server.api.runs.places import check_place
from server.api.trajectories.answering import editor_of, tell_changed
from server.web.auditing import record
from server.web.changes import REPLAYED, ChangingHandler, CreationHeaders, refusals
from server.web.endpoint import Endpoint


class RunPath(BaseModel):
    """Names a run."""

    run_id: UUID


@contextmanager
def values_refused(subject: str) -> Iterator[None]:
    """Turn what is refused about a run, or its values, into problems; no value is repeated."""
    try:
        with refusals(subject):
            yield
    except ValidationError as error:
        raise InvalidRequestError(entries_of(error.errors(include_input=False), "body")) from None


class OneRunHandler(ChangingHandler, AskingHandler):
    """What the handlers of one run share."""

    async def found(self, run_id: UUID) -> RunWithSteps:
        """The run, where the caller reaches its machine.  Raises ProblemError."""
        with refusals(f"run {run_id}"):
            found = await self.services.runs.runs.get(self.organization_id, run_id)
        if not await self._is_within(found):
            raise ProblemError(problems.NOT_FOUND, f"there is no run {run_id}")
        return found

    async def _is_within(self, run: Run) -> bool:
        pools = self.principal.pools
        if pools is None:
            return True
        if run.machine_id is None:
            return not pools.isdisjoint(run.pool_ids or ())
        return await self.services.machines.reach.has(self.principal, run.machine_id)


class RunsHandler(OneRunHandler):
    @Endpoint(
        summary="List runs",
        description="Those that wait, those that run and those that have ended, newest first; the "
        "last are kept for 90 days.",
        scope=Scope.RUNS_READ,
        for_bound=True,
        query=RunListQuery,
        answers={200: RunPage},
    )
    async def get(self, query: RunListQuery) -> None:
        within = await self.services.machines.reach.machines(self.principal)
        runs = self.services.runs.runs
        page = await runs.page(self.organization_id, query, within, self.principal.pools)
        self.answer(200, page)

    @Endpoint(
        summary="Begin a run",
        description="Runs the main trajectory of a workflow, or one trajectory, whose content was "
        "approved in a review.  It waits for its turn: one run at a time works at a machine.  "
        "Inputs of others are refused meanwhile; a person may take control, which halts it.",
        scope=Scope.RUNS_WRITE,
        for_bound=True,
        headers=CreationHeaders,
        body=NewRun,
        confidential=True,
        answers={201: RunWithSteps},
        problems=(problems.NOT_FOUND, problems.WRONG_STATE),
        answer_headers={"Location": "Where the run is.", **REPLAYED},
    )
    async def post(self, headers: CreationHeaders, body: NewRun) -> None:
        check = partial(check_place, self.services.machines, self.principal)
        with values_refused("run"):
            made, is_replayed = await self.services.runs.runs.begin(
                self.principal, body, check, self.keyed_request(headers, body)
            )
        self.note_replay(is_replayed)
        if not is_replayed:
            await record(self, "run.created", made.id, machine_id=made.machine_id)
        self.set_header("Location", f"/v1/runs/{made.id}")
        self.answer(201, made)


class RunHandler(OneRunHandler):
    @Endpoint(
        summary="Get a run",
        description="With what became of each step that is behind it.",
        scope=Scope.RUNS_READ,
        for_bound=True,
        path=RunPath,
        answers={200: RunWithSteps},
        problems=(problems.NOT_FOUND,),
    )
    async def get(self, path: RunPath) -> None:
        self.answer(200, await self.found(path.run_id))


class CancelRunHandler(OneRunHandler):
    @Endpoint(
        summary="Cancel a run",
        description="One that waits or is halted without a machine ends at once; else what it does "
        "on its machine is interrupted, and what is held there released.",
        scope=Scope.RUNS_WRITE,
        for_bound=True,
        path=RunPath,
        answers={200: RunWithSteps},
        problems=(problems.NOT_FOUND, problems.WRONG_STATE),
    )
    async def post(self, path: RunPath) -> None:
        before = await self.found(path.run_id)
        with refusals(f"run {before.id}"):
            cancelled = await self.services.runs.runs.cancel(self.organization_id, before.id)
        if before.ended_at is None:
            await record(self, "run.cancelled", before.id, machine_id=before.machine_id)
        self.answer(200, cancelled)


class ContinueRunHandler(OneRunHandler):
    @Endpoint(
        summary="Have a halted run go on",
        description="At the step that it is at, at a later one, or behind it with skip.  Its place "
        "is looked for and checked again; what is done is never done again.  Of two who do "
        "this at once one is refused, and so is what was decided about an earlier halt "
        "(halted_at).  A repair (place, element or by_hand) is kept as a new "
        "version of the trajectory, proposal_id, which nobody has approved.",
        scope=Scope.RUNS_WRITE,
        for_bound=True,
        path=RunPath,
        body=ContinuedRun,
        body_required=False,
        answers={200: RunWithSteps},
        problems=(
            *(problems.NOT_FOUND, problems.WRONG_STATE, problems.TOO_LARGE),
            *(problems.MACHINE_UNAVAILABLE, problems.NO_ELEMENTS, problems.MACHINE_BUSY),
        ),
    )
    async def post(self, path: RunPath, body: ContinuedRun) -> None:
        if body.is_repair:
            self.principal.require(Scope.INPUT_SEND)
            self.principal.require(Scope.TRAJECTORIES_WRITE)
        before = await self.found(path.run_id)
        with refusals(f"run {before.id}", MAX_TRAJECTORY_BYTES):
            resumed, proposed = await self.services.runs.runs.resume(
                self.organization_id, editor_of(self), before.id, body
            )
        note = _note(body)
        await record(self, "run.continued", before.id, machine_id=before.machine_id, note=note)
        if proposed is not None:
            note = f"a repair of step {before.step} in run {before.id}"
            if proposed.id == before.proposal_id:
                await tell_changed(self, proposed, "changed", "trajectory.edited", note=note)
            else:
                await tell_changed(self, proposed, "created", "trajectory.duplicated", note=note)
        self.answer(200, resumed)


def _note(how: ContinuedRun) -> str | None:
    """What the audit says of how a run goes on."""
    if how.at_step is not None:
        return f"at step {how.at_step}"
    if how.points:
        return "pointed at"
    if how.by_hand is not None:
        return "done by hand"
    return "skip" if how.skip else None


class RetryRunHandler(OneRunHandler):
    @Endpoint(
        summary="Begin a run once more",
        description="A new run with the same content, values and machines as one that has ended.",
        scope=Scope.RUNS_WRITE,
        for_bound=True,
        path=RunPath,
        headers=CreationHeaders,
        body=RetriedRun,
        body_required=False,
        confidential=True,
        answers={201: RunWithSteps},
        problems=(problems.NOT_FOUND, problems.WRONG_STATE),
        answer_headers={"Location": "Where the new run is.", **REPLAYED},
    )
    async def post(self, path: RunPath, headers: CreationHeaders, body: RetriedRun) -> None:
        before = await self.found(path.run_id)
        check = partial(check_place, self.services.machines, self.principal)
        with values_refused(f"run {before.id}"):
            made, is_replayed = await self.services.runs.runs.retry(
                self.principal, before.id, body, check, self.keyed_request(headers, body)
            )
        self.note_replay(is_replayed)
        if not is_replayed:
            note = f"retry of {before.id}"
            await record(self, "run.created", made.id, machine_id=made.machine_id, note=note)
        self.set_header("Location", f"/v1/runs/{made.id}")
        self.answer(201, made)
