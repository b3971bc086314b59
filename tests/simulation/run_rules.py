"""The rules of runs, which can be taken out; see `tests.simulation.test_rules`."""

from datetime import timedelta
from typing import Any

import pytest

from schemas.steps.step import Step
from server.runs import runs
from server.runs.asking import Machine
from server.runs.executor import RunExecutor
from server.runs.finding import Found, Halt
from server.runs.stepping import Stepping
from server.runs.trying import Came, StepTrying
from server.store.runs.documents import StoredRun
from tests.simulation.controls import SimulatedControlStore
from tests.simulation.runs import SimulatedRun


def try_again_what_was_left_open(patch: pytest.MonkeyPatch) -> None:
    """Nobody asks what became of a try whose node was killed."""

    async def never(_self: StepTrying, _run: StoredRun) -> Came:
        return Came.NEVER

    patch.setattr(StepTrying, "settled", never)


def forget_on_a_halt_what_was_under_way(patch: pytest.MonkeyPatch) -> None:
    """A person who has a run go on ends the try that was under way."""
    resumed = runs._resumed

    def forgotten(*asked: Any) -> dict[str, Any]:
        return {"attempt": None, **resumed(*asked)}

    patch.setattr(runs, "_resumed", forgotten)


def believe_that_a_ledger_never_forgets(patch: pytest.MonkeyPatch) -> None:
    """What the ledger knows nothing of has never happened, however long ago that was."""
    init = StepTrying.__init__

    def never_forgets(self: StepTrying, *parts: Any) -> None:
        dispatcher, sender, _ = parts
        init(self, dispatcher, sender, timedelta(days=1000))

    patch.setattr(StepTrying, "__init__", never_forgets)


def go_on_without_the_target(patch: pytest.MonkeyPatch) -> None:
    """A step is done where it was, whatever is there now."""

    find = SimulatedRun.find

    async def found(self: SimulatedRun, machine: Machine, step: Step, *scale: Any) -> Found | Halt:
        found = await find(self, machine, step, *scale)
        return Found(dict(step.body), "none needed") if isinstance(found, Halt) else found

    patch.setattr(SimulatedRun, "find", found)


def end_whichever_lease_there_is(patch: pytest.MonkeyPatch) -> None:
    """A write that gives the machine back, and comes late, ends what was taken again since."""
    end = SimulatedControlStore.end

    async def of_any_time(self: SimulatedControlStore, *lease: Any) -> bool:
        return await end(self, *lease[:3])

    patch.setattr(SimulatedControlStore, "end", of_any_time)


def take_any_word_for_one_about_this_halt(patch: pytest.MonkeyPatch) -> None:
    """What somebody decided about a halt is done at whichever the run has come to."""
    resume: Any = runs.Runs.resume

    async def resumed(self: runs.Runs, *asked: Any) -> Any:
        *others, how = asked
        return await resume(self, *others, how.model_copy(update={"halted_at": None}))

    patch.setattr(runs.Runs, "resume", resumed)


def leave_what_a_node_left(patch: pytest.MonkeyPatch) -> None:
    """No other node goes on with the run of one that was killed."""

    async def nothing(_self: RunExecutor) -> None:
        """Nobody is looked for."""

    patch.setattr(RunExecutor, "_claim_abandoned", nothing)


def call_done_what_was_only_sent(patch: pytest.MonkeyPatch) -> None:
    """A step counts as done once its input was on its way."""

    async def done(self: Stepping, _came: Came) -> None:
        self._ours(await self._tools.turns.write(self.run, **{"attempt.is_done": True}))

    patch.setattr(Stepping, "_note", done)
