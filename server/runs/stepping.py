"""One step of a run: found, checked, tried, and seen to have come true."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, TypeVar

from schemas.programs.failpoints import Failpoint, reached
from schemas.runs.runs import RunStatus, StepResult
from schemas.steps.step import Pause, Step
from server.dispatch.questions.control import FindLink
from server.dispatch.questions.question import Refusal, RefusalKind
from server.runs.asking import Machine
from server.runs.finding import Before, Found, Halt, Verified, as_before, expected, find, typed_in
from server.runs.hold import RunHold
from server.runs.stops import Ending, Halting, Lost, Unavailable
from server.runs.trying import Came, StepTrying, input_body, new_attempt
from server.runs.values import filled
from server.store.runs.documents import StoredRun
from server.store.runs.turns import RunTurns
from server.store.times import now

T = TypeVar("T")

MOST_TRIES: Final = 5
"""In a row, of which each surely never happened; then a person is asked."""

WAIT_SECONDS: Final = 180.0
"""For a machine that does nothing at the moment, such as one whose link was lost."""

AGAIN_SECONDS: Final = 0.5

_CHECKS: Final[RunStatus] = "running_checks"
_WITHOUT_INPUT: Final = ("wait", "wait_for")


@dataclass(frozen=True)
class StepTools:
    """What a step is done with."""

    machine: Machine
    hold: RunHold
    trying: StepTrying
    turns: RunTurns
    values: Mapping[str, str]


class Stepping:
    """Does ``steps`` of a run on this node, one by one; ``run`` is how far that has come."""

    def __init__(self, tools: StepTools, run: StoredRun, steps: Sequence[Step]) -> None:
        self._tools = tools
        self._steps = steps
        self._scale: float | None = None
        self._is_hold_doubtful = True
        self.run = run

    @property
    def _step(self) -> Step:
        """The one that the run is at."""
        return self._steps[self.run.step - 1]

    async def do(self) -> None:
        """Bring the run behind the step that it is at.

        Raises Halting, Ending, Lost, and StoreUnavailable where that is to be tried again.
        """
        began_at, before, step = now(), Before(), self._step
        await self._resolve()
        if step.operation in _WITHOUT_INPUT or self.run.attempt is not None:
            await self._patiently(self._hold)
        if step.operation == "wait":
            await asyncio.sleep(Pause.model_validate(step.body).seconds)
        elif step.operation not in _WITHOUT_INPUT and self.run.attempt is None:
            before = await self._tried()
        verified = await self._verified(before)
        run = self.run
        attempt = run.attempt
        result = StepResult(
            number=run.step,
            status="done",
            attempts=run.tries,
            command_id=attempt.command_id if attempt else None,
            how=attempt.how if attempt else None,
            score=attempt.score if attempt else None,
            verified=verified,
            began_at=attempt.began_at if attempt else began_at,
            ended_at=now(),
        )
        self._ours(await self._tools.turns.past(run, result))
        reached(Failpoint.AFTER_STEP)

    async def _resolve(self) -> None:
        """Find out what became of a try that was left open, such as by a node that was killed."""
        attempt = self.run.attempt
        if attempt is None or attempt.is_done:
            return
        if attempt.step == self.run.step:
            await self._note(await self._tools.trying.settled(self.run))
            return
        # Somebody has it go on behind that step: whatever became of it, it must not come later.
        with suppress(Halting):
            await self._tools.trying.settled(self.run)
        self._ours(await self._tools.turns.write(self.run, attempt=None))

    async def _note(self, came: Came) -> None:
        """Store what became of the newest try: it was done, or there may be another."""
        turns = self._tools.turns
        if came is Came.NEVER:
            self._is_hold_doubtful = True
            self._ours(await turns.write(self.run, attempt=None))
            return
        reached(Failpoint.BEFORE_STEP_DONE)
        checks = {} if self._step.expect is None else {"status": _CHECKS}
        self._ours(await turns.write(self.run, **{"attempt.is_done": True}, **checks))
        reached(Failpoint.AFTER_STEP_DONE)

    async def _tried(self) -> Before:
        """Have the step's input done; what the screen showed right before."""
        for _ in range(MOST_TRIES):
            before = await self._patiently(self._try)
            if self.run.is_done_at_step:
                return before
        raise Halting("not_carried_out", f"{MOST_TRIES} tries never reached the machine")

    async def _try(self) -> Before:
        tools, step = self._tools, self._step
        await self._hold()
        found = await self._found()
        # Its texts have the values from here on, and nothing keeps it.
        try:
            body = filled(step.model_copy(update={"body": found.body}), tools.values)
        except ValueError as error:
            raise Ending("error", str(error)) from None
        before = await as_before(tools.machine, step)
        await self._hold()
        command = tools.trying.command(self.run, input_body(step.operation, body))
        reached(Failpoint.BEFORE_ATTEMPT)
        attempt = new_attempt(self.run, command, found)
        self._ours(await tools.turns.attempt(self.run, attempt))
        reached(Failpoint.AFTER_ATTEMPT)
        await self._note(await tools.trying.sent(self.run, command))
        return before

    async def _hold(self) -> None:
        """Have the machine; where it was there just now, and nothing speaks against it, as then."""
        if self._is_hold_doubtful or not self._tools.hold.was_kept_just_now:
            await self._tools.hold.take()
            self._is_hold_doubtful = False

    async def _patiently(self, work: Callable[[], Awaitable[T]]) -> T:
        """What work comes to, begun again for as long as the machine does nothing at the moment."""
        clock = asyncio.get_running_loop().time
        give_up_at = clock() + WAIT_SECONDS
        while True:
            try:
                await self._check_link()
                return await work()
            except Unavailable as error:
                self._is_hold_doubtful = True
                await self._resolve()
                if clock() >= give_up_at:
                    raise Halting("machine_unavailable", str(error)) from None
            await asyncio.sleep(AGAIN_SECONDS)

    async def _check_link(self) -> None:
        """Raise Unavailable where the machine is not connected at the moment."""
        machine = self._tools.machine
        question = FindLink(organization_id=machine.organization_id, machine_id=machine.machine_id)
        reply = await machine.ask(question)
        if isinstance(reply, Refusal):
            if reply.kind is RefusalKind.UNKNOWN_MACHINE:
                raise Ending("error", "its machine was removed")
            raise Unavailable(reply.detail)

    async def _found(self) -> Found:
        before = self._steps[: self.run.step - 1]
        found = await find(self._tools.machine, self._step, self._scale, typed_in(before))
        if isinstance(found, Halt):
            await self._check_seen(found)
            # Whoever has taken the machine meanwhile is why it is not as it was.
            await self._tools.hold.take()
            raise Halting.of(found)
        self._scale = found.scale or self._scale
        return found

    async def _verified(self, before: Before) -> str | None:
        """How what the step leads to was seen; None where it expects nothing."""
        if self._step.expect is None and self._step.operation != "wait_for":
            return None
        if self.run.status != _CHECKS:
            self._ours(await self._tools.turns.write(self.run, status=_CHECKS))
        reached(Failpoint.IN_CHECKS)
        seen = await self._patiently(lambda: self._seen(before))
        return None if seen.matched is None else f"condition {seen.matched + 1}"

    async def _seen(self, before: Before) -> Verified:
        seen = await expected(self._tools.machine, self._step, before)
        if isinstance(seen, Halt):
            await self._check_seen(seen)
            raise Halting.of(seen, is_done=self.run.is_done_at_step)
        return seen

    async def _check_seen(self, halt: Halt) -> None:
        """Raise Unavailable where nobody could look, as the machine's link was just lost."""
        if halt.is_away:
            # By now it may be back on another node, where nothing of this was asked.
            raise Unavailable(halt.why)
        if halt.reason == "cannot_look":
            await self._check_link()

    def _ours(self, run: StoredRun | None) -> None:
        if run is None:
            raise Lost
        self.run = run
