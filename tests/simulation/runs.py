"""Runs in the simulation: the real executor on each node, and a person who looks after them."""

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from types import SimpleNamespace
from typing import Any, Final, cast
from uuid import UUID

from schemas.inputs.bodies import AnyInput
from schemas.programs.failpoints import Failpoint
from schemas.runs.requests import ContinuedRun
from schemas.runs.runs import Halted
from schemas.steps.step import Expectation, Step
from server.dispatch.control import MachineControl
from server.dispatch.dispatcher import Dispatcher
from server.fleet.lasting_rights import LastingRights
from server.runs.answering import ParkedAnswers
from server.runs.asking import Machine
from server.runs.course import CourseParts
from server.runs.ending import RunEnding
from server.runs.executor import RunExecutor
from server.runs.finding import Before, Found, Halt, Verified
from server.runs.halting import RunHalts
from server.runs.runs import Runs
from server.runs.stops import Halting
from server.runs.trying import input_body
from server.runs.unattended import UnattendedRuns
from server.store.runs.documents import StoredRun, run_document, stored_run
from server.store.runs.runs import RunStore
from server.store.runs.turns import RunTurns
from server.store.runs.writes import RunWrites
from server.tasks import Tasks
from server.trajectories.running import RunContent, RunContents
from tests.simulation.controls import AllTokens
from tests.simulation.desktop import Desktop, Happened, Plan
from tests.simulation.inputs import MOST_INPUTS, mark_of, random_input, steps_of
from tests.simulation.mongo import Mongo, SimulatedMachineStore
from tests.simulation.stored_runs import RunsDatabase
from tests.simulation.world import Process, World

CONTENT_HASH: Final = bytes(32)
"""Of what was approved, which nobody changes."""

FIRST_MARK: Final = 10 * (MOST_INPUTS - 1)
"""Of a run's steps: no other input has its ten."""

MOST_STEPS: Final = 5
MISSING, UNSEEN = 0.15, 0.1
"""How often the target of a step is not there, and how often what it leads to does not come."""

REMEMBERS: Final = timedelta(hours=24)
"""How long the ledger knows how an input ended."""

FAILPOINTS: Final = (
    *(Failpoint.BEFORE_ATTEMPT, Failpoint.AFTER_ATTEMPT),
    *(Failpoint.AFTER_SENT, Failpoint.BEFORE_STEP_DONE, Failpoint.AFTER_STEP_DONE),
)


@dataclass
class SimulatedRun:
    """One run, what its screen shows by turns, and what was seen of it."""

    world: World
    mongo: Mongo
    run_id: UUID
    machine_id: str
    steps: tuple[Step, ...]
    desktop: Desktop
    waits_days: bool
    mismatched: set[int] = field(default_factory=set)
    """The marks of those whose target was not there when it was looked for last."""

    @property
    def stored(self) -> StoredRun:
        """The run as it is stored, which nobody in it can see at once."""
        return stored_run(self.mongo.runs[self.run_id])

    @property
    def marks(self) -> list[int]:
        """Of its steps, in their order."""
        return [FIRST_MARK + 2 * number for number in range(len(self.steps))]

    async def find(self, machine: Machine, step: Step, *_: object) -> Found | Halt:
        """Stands in for `server.runs.finding.find`."""
        mark = mark_of(cast("AnyInput", input_body(step.operation, step.body)))
        await asyncio.sleep(self.world.runs.uniform(0.01, 0.4))
        if self.world.runs.random() < MISSING:
            self.mismatched.add(mark)
            self.world.facts["runs: a target is not there"] += 1
            return Halt("missing", "nothing is like it")
        self.mismatched.discard(mark)
        return Found(dict(step.body), "none needed")

    async def expected(self, machine: Machine, step: Step, before: Before) -> Verified | Halt:
        """Stands in for `server.runs.finding.expected`."""
        await asyncio.sleep(self.world.runs.uniform(0.01, 0.4))
        if self.world.runs.random() < UNSEEN:
            return Halt("not_seen", "what was to come did not")
        return Verified(0)

    def begins(self, mark: int) -> None:
        """A step's input begins on the desktop."""
        if mark in self.mismatched:
            self.world.violated(f"step {mark} is done, and its target was not there")

    def happened(self, step: int) -> Happened:
        """What was seen of the step of this number."""
        return self.desktop.happened(self.marks[step - 1])

    @property
    def is_left_alone(self) -> bool:
        """Whether it is halted, and keeps neither a node nor a machine."""
        document = self.mongo.runs[self.run_id]
        return document["halted"] is not None and document["lease"] is None

    def answer(self, run: StoredRun) -> ContinuedRun:
        """What somebody says who looks at the screen of a halted run."""
        halted = run.halted
        assert halted is not None
        if halted.reason == "taken_over" and self.machine_id not in self.world.wanted:
            self.world.violated("a run halts as somebody has taken its machine, and nobody has")
        return ContinuedRun(halted_at=halted.at, **self._decision(run, halted))

    def _decision(self, run: StoredRun, halted: Halted) -> dict[str, Any]:
        dice = self.world.runs
        if halted.is_unknown:
            self.world.facts["runs: nobody knew, and a person looked"] += 1
            is_done = self.happened(run.step).begun > 0
            return {"skip": True} if is_done else {"at_step": run.step}
        if halted.reason == "input_refused":
            self.world.facts["runs: an input was refused"] += 1
            return {"skip": dice.random() < 0.5}
        if dice.random() < 0.2 and run.step < run.step_count:
            return {"at_step": run.step + 1}
        return {"skip": dice.random() < 0.2}

    def check(self, run: StoredRun) -> None:
        """What the run says of its steps is what the desktop saw."""
        world = self.world
        world.facts[f"runs: {run.status}"] += 1
        if run.status == "success" and len(run.steps) != len(self.steps):
            world.violated(f"run succeeded with {len(run.steps)} of {len(self.steps)} steps")
        if run.status not in ("success", "cancelled"):
            world.violated(f"run ended as {run.status}: {run.error}")
        for result in run.steps:
            happened = self.happened(result.number)
            if result.status == "done" and happened.ended != 1:
                world.violated(f"step {result.number} is called done, and was ended {happened}")
            if result.status == "skipped" and result.attempts == 0 and happened.begun:
                world.violated(f"step {result.number} was skipped untried, and was begun")


def new_id(world: World) -> UUID:
    """One that takes nothing from the dice of lives without runs."""
    return UUID(int=world.runs.getrandbits(128))


def new_run(
    world: World, mongo: Mongo, desktop: Desktop, organization_id: UUID, machine_id: str
) -> SimulatedRun:
    """A run of some steps that waits for its turn on a machine."""
    dice = world.runs
    steps = []
    for number in range(dice.randint(2, MOST_STEPS)):
        mark = FIRST_MARK + 2 * number
        body = random_input(mark, dice)
        plan = desktop.plans[mark] = Plan(steps_of(body))
        plan.gap = dice.choice((0.01, 0.01, 0.3))
        plan.refused = dice.random() < 0.05
        if dice.random() < 0.05:
            plan.fails_after = dice.randrange(len(plan.steps))
        expect = Expectation.model_validate({"any": [{"still": 0.5}]})
        steps.append(
            Step(
                operation=body.input_name,
                body=body.model_dump(exclude_none=True),
                expect=expect if dice.random() < 0.5 else None,
            )
        )
    stored = StoredRun(
        id=new_id(world),
        organization_id=organization_id,
        workflow_id=new_id(world),
        trajectory_id=new_id(world),
        content_hash=CONTENT_HASH,
        machine_id=machine_id,
        pool_ids=None,
        priority=5,
        halt_timeout=dice.choice((0, 3, 30)),
        input_values={},
        step_count=len(steps),
        by="whoever began it",
        token_id=new_id(world),
        user_id=None,
        created_at=mongo.clock(),
        reservation=str(new_id(world)),
    )
    mongo.runs[stored.id] = run_document(stored)
    return SimulatedRun(
        world, mongo, stored.id, machine_id, tuple(steps), desktop, waits_days=dice.random() < 0.5
    )


class _Contents(RunContents):
    """The steps of the one run that there is."""

    def __init__(self, world: World) -> None:
        self._world = world

    async def of(self, organization_id: UUID, trajectory_id: UUID) -> RunContent:
        trajectory = cast("Any", SimpleNamespace(content_hash=CONTENT_HASH))
        assert self._world.run_of_life is not None
        return RunContent(trajectory, self._world.run_of_life.steps, {})


class _Halts(RunHalts):
    """Nobody is asked: whoever looks after the run sees that it is halted."""

    async def _asked(self, run: StoredRun, why: Halting) -> UUID | None:
        return None

    async def answered_among(self, help_ids: Collection[UUID]) -> set[UUID]:
        return set()

    async def withdraw_all(self, run: StoredRun) -> None:
        """Nobody was."""

    async def _picture(self, run: StoredRun, why: Halting) -> str | None:
        return None


class _Transactions:
    """Those of a run's end, which are one write."""

    def __init__(self, database: RunsDatabase) -> None:
        self._writes = RunWrites(cast("Any", database), cast("Any", None))

    async def run(self, work: Any) -> Any:
        return await work(SimpleNamespace(runs=self._writes))


class _NoOutbox:
    async def insert_in(self, session: object, deliveries: Sequence[object]) -> None:
        """There are none."""


async def _no_deliveries(_run: StoredRun) -> Sequence[Any]:
    return ()


async def _nobody_is_asked(_run: StoredRun) -> None:
    """So nothing is to be withdrawn."""


class RunsOfNode:
    """What a node does with runs."""

    def __init__(
        self,
        mongo: Mongo,
        process: Process,
        machines: SimulatedMachineStore,
        dispatcher: Dispatcher,
        control: MachineControl,
        background: Tasks,
    ) -> None:
        database: Any = RunsDatabase(mongo, mongo.perform_for(process))
        pools = cast("Any", None)
        transactions, outbox = cast("Any", _Transactions(database)), cast("Any", _NoOutbox())
        ending = RunEnding(transactions, outbox, _no_deliveries, _nobody_is_asked, lambda *_: None)
        halts, store = _Halts(dispatcher, cast("Any", None), cast("Any", None)), RunStore(database)
        answers = ParkedAnswers(store, transactions, halts, ending)
        parts = CourseParts(
            turns=RunTurns(database, new_id(mongo.world)),
            contents=_Contents(mongo.world),
            control=control,
            dispatcher=dispatcher,
            pictures=cast("Any", None),
            halts=halts,
            ending=ending,
            answers=answers,
            rights=LastingRights(AllTokens(), pools),
            sealing=cast("Any", None),
            ledger_remembers=REMEMBERS,
            background=background,
        )
        unattended = UnattendedRuns(store, machines, parts.rights, answers, ending)
        self.executor = RunExecutor(parts, unattended, machines, pools, background)
        self.runs = Runs(
            *(store, parts.contents, transactions, ending),
            *(cast("Any", None), cast("Any", None), answers, self.executor.wake),
        )
