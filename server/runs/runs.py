"""Runs as the API offers them: each method is one operation, with its rules."""

from collections.abc import Awaitable, Callable, Collection
from dataclasses import replace
from typing import Any, Final
from uuid import UUID

from schemas.runs.requests import ContinuedRun, NewRun, RetriedRun, RunListQuery
from schemas.runs.runs import RunPage, RunWithSteps, StepResult
from schemas.steps.reviews import Editor
from server.errors import NotFound, WrongState
from server.identity.authentication import Principal
from server.runs.answering import ParkedAnswers
from server.runs.beginning import Check, RunBeginning
from server.runs.ending import RunEnding
from server.runs.repairing.repairs import OTHERS_WERE_FASTER, RunRepairs
from server.runs.views import run_view, whole_view
from server.store.idempotency import KeyedRequest
from server.store.runs.documents import StoredRun
from server.store.runs.runs import RunStore
from server.store.times import now
from server.store.trajectories.documents import StoredTrajectory
from server.store.transactions import Result, Transaction, Transactions
from server.trajectories.running import RunContents

CANCEL: Final = "cancel"
"""What a node is to do that works at a run."""


class Runs:
    """Every method sees the runs of the organization it is given, and no others.

    ``woken`` is called where a run may have got its turn, or has something to do.  Whatever names a
    run that is not there raises NotFound.
    """

    def __init__(
        self,
        store: RunStore,
        contents: RunContents,
        transactions: Transactions,
        ending: RunEnding,
        beginning: RunBeginning,
        repairs: RunRepairs,
        answers: ParkedAnswers,
        woken: Callable[[], None],
    ) -> None:
        self._store = store
        self._contents = contents
        self._transactions = transactions
        self._ending = ending
        self._beginning = beginning
        self._repairs = repairs
        self._answers = answers
        self._woken = woken

    async def begin(
        self, principal: Principal, new: NewRun, check: Check, request: KeyedRequest | None
    ) -> tuple[RunWithSteps, bool]:
        """Let a run wait for its turn; under an idempotency key once: whether it was before.

        Raises a validation error for what cannot be run, or not with these values.
        """

        async def make() -> StoredRun:
            await check(new)
            content = await self._beginning.content(principal, new)
            return await self._beginning.made(principal, new, content)

        return await self._once(request, make)

    async def retry(
        self,
        principal: Principal,
        run_id: UUID,
        how: RetriedRun,
        check: Check,
        request: KeyedRequest | None,
    ) -> tuple[RunWithSteps, bool]:
        """Begin a run that has ended once more, with the same content, values and machines."""
        before = await self._run(principal.organization_id, run_id)
        return await self._once(request, lambda: self._made_again(principal, before, how, check))

    async def _made_again(
        self, principal: Principal, before: StoredRun, how: RetriedRun, check: Check
    ) -> StoredRun:
        if before.ended_at is None:
            raise WrongState("it has not ended: wait for its end, or cancel it first")
        content = await self._contents.as_before(before.organization_id, before.trajectory_id)
        if content.trajectory.content_hash != before.content_hash:
            raise WrongState("the trajectory has another content by now: begin a new run of it")
        machine_id = None if before.pool_ids else before.machine_id
        again = NewRun(
            trajectory_id=before.trajectory_id,
            machine_id=machine_id,
            pool_ids=before.pool_ids,
            input_values=before.input_values,
            sensitive_input_values=how.sensitive_input_values,
            priority=before.priority,
            halt_timeout=before.halt_timeout,
        )
        await check(again)
        made = await self._beginning.made(principal, again, content)
        return replace(made, retry_of=before.id)

    async def page(
        self,
        organization_id: UUID,
        query: RunListQuery,
        machine_ids: Collection[str] | None,
        pool_ids: Collection[UUID] | None,
    ) -> RunPage:
        """One page, newest first; on these machines and for these pools, where they are given."""
        found, total = await self._store.list(organization_id, query, machine_ids, pool_ids or ())
        items = [run_view(each) for each in found]
        return RunPage(items=items, total=total, skip=query.skip, limit=query.limit)

    async def get(self, organization_id: UUID, run_id: UUID) -> RunWithSteps:
        """One of them."""
        return whole_view(await self._run(organization_id, run_id))

    async def cancel(self, organization_id: UUID, run_id: UUID) -> RunWithSteps:
        """End a run: at once where nobody works at it, else as soon as its node can.

        Raises WrongState where it has ended.
        """
        run = await self._run(organization_id, run_id)
        if run.status != "cancelled":
            await self._cancel(run)
            self._woken()
        return await self.get(organization_id, run_id)

    async def _cancel(self, run: StoredRun) -> None:
        if await self._ending.end(run, None, "cancelled") is not None:
            return
        if await self._store.want(run, CANCEL) is not None:
            # Its node may have left it right before, and nobody would see what is wanted.
            await self._ending.end(run, None, "cancelled")
            return
        latest = await self._run(run.organization_id, run.id)
        if latest.ended_at is not None:
            raise WrongState(f"it has ended already: {latest.status}")

    async def resume(
        self, organization_id: UUID, by: Editor, run_id: UUID, how: ContinuedRun
    ) -> tuple[RunWithSteps, StoredTrajectory | None]:
        """Let a halted run go on; with what a repair proposes, where it is one.

        Raises WrongState where it is not halted, or not any more by the halt that was answered, or
        somebody else was faster; for a repair also where nothing comes of that, and RefusedError.
        """
        run = await self._run(organization_id, run_id)
        if run.halted is None:
            raise WrongState("it is not halted, or goes on already")
        if how.halted_at not in (None, run.halted.at):
            raise WrongState(
                f"it has gone on since, and is halted anew at step {run.halted.step}: read it again"
            )
        changes, proposed = _resumed(run, how), None
        if how.is_repair:
            resumed, proposed = await self._repairs.resume(run, how, by, changes)
        else:
            resumed = await self._transactions.run(lambda writes: _go_on(writes, run, changes))
        self._ending.tell(resumed)
        self._woken()
        return whole_view(resumed), proposed

    async def answered(self, organization_id: UUID, run_id: UUID) -> None:
        """People have answered what a halted run has asked: it goes on, or ends."""
        await self._answers.apply(organization_id, run_id)
        self._woken()

    async def _once(
        self, request: KeyedRequest | None, make: Callable[[], Awaitable[StoredRun]]
    ) -> tuple[RunWithSteps, bool]:
        """Store what is made, once under a key: a retry gets that answer, whatever is so now."""
        made: list[StoredRun] = []

        async def work(transaction: Transaction) -> Result:
            made[:] = [await make()]
            if (refusal := (await transaction.runs.insert(made))[0]) is not None:
                raise WrongState(refusal)
            return {"body": whole_view(made[0]).model_dump_json()}

        result, is_replayed = await self._transactions.run_once(request, work)
        if not is_replayed:
            self._beginning.stored(made)
        return RunWithSteps.model_validate_json(result["body"]), is_replayed

    async def _run(self, organization_id: UUID, run_id: UUID) -> StoredRun:
        run = await self._store.get(organization_id, run_id)
        if run is None:
            raise NotFound("There is no such run.")
        return run


async def _go_on(transaction: Transaction, run: StoredRun, changes: dict[str, Any]) -> StoredRun:
    if (resumed := await transaction.runs.resume(run, changes)) is None:
        raise WrongState(OTHERS_WERE_FASTER)
    return resumed


def _resumed(run: StoredRun, how: ContinuedRun) -> dict[str, Any]:
    """The fields of a run that goes on as somebody said.  Raises WrongState where it cannot."""
    halted = run.halted
    assert halted is not None  # noqa: S101  its caller has looked
    target = run.step + 1 if how.skip else how.at_step or run.step
    if target < run.step or (halted.is_done and how.at_step == run.step):
        raise WrongState(
            f"it is at step {run.step}, and what is done is never done again: go on behind it"
        )
    if target > run.step_count and not how.skip:
        raise WrongState(f"it has {run.step_count} steps, and none with the number {target}")
    if halted.is_unknown and not how.skip and how.at_step is None and not how.points:
        raise WrongState(
            f"nobody knows whether step {run.step} was done: look, and then give skip where it "
            f"was, or at_step {run.step} where it is to be done"
        )
    if target == run.step:
        # Any other try stands: what is done is only looked at again, and of what was under way the
        # machine says first what became of it.
        return {"attempt": None} if halted.is_try_over else {}
    skipped = [_skipped(run, number) for number in range(run.step, target)]
    steps = [dict(each) for each in (*run.steps, *skipped)]
    changes: dict[str, Any] = {"step": target, "tries": 0, "steps": steps}
    if not run.is_attempt_open:
        changes["attempt"] = None
    return changes


def _skipped(run: StoredRun, number: int) -> StepResult:
    """A step that somebody has decided about; one whose input was done says so."""
    attempt, moment = run.attempt, now()
    is_done = run.is_done_at_step and number == run.step
    return StepResult(
        number=number,
        status="done" if is_done else "skipped",
        attempts=run.tries if number == run.step else 0,
        command_id=attempt.command_id if is_done and attempt else None,
        began_at=attempt.began_at if is_done and attempt else moment,
        ended_at=moment,
    )
