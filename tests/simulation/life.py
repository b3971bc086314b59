"""One seed: two nodes or three, a machine or two, some callers, and all that goes wrong."""

import gc
import logging
import traceback
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from uuid import UUID

from machine_client.journal.journal import KEPT_SECONDS
from schemas.inputs.actions import AnyBody, InputAction
from schemas.programs.failpoints import Failpoint
from server.dispatch.forwarding.membership import STATE_SECONDS
from tests.answers import answer_of
from tests.simulation.bus import Exchange
from tests.simulation.callers import Callers, KeyHistory
from tests.simulation.clocks import Clocks
from tests.simulation.desktop import Desktop, Plan
from tests.simulation.faults import FAULTS_END, LONGEST_AFTERMATH, Faults
from tests.simulation.inputs import (
    MOST_INPUTS,
    mark_of,
    random_actions,
    random_input,
    steps_of,
)
from tests.simulation.machine import Machine
from tests.simulation.mongo import Mongo
from tests.simulation.network import Proxy
from tests.simulation.node import Node
from tests.simulation.onlookers import LATER_SECONDS, ONLOOKERS, PRIVATE_LATER
from tests.simulation.runs import FAILPOINTS, new_run
from tests.simulation.sights import Shown, by_element, with_sights
from tests.simulation.verdict import Verdict
from tests.simulation.world import World

ORGANIZATION = UUID("00000000-0000-4000-8000-0000000000a1")

FINAL_WITHIN = 120.0
"""Seconds after the last fault within which everything must be final."""

AFTERWARDS = 3.0
"""Seconds at the end in which nothing may happen any more that should not."""

OFTEN = 3
"""How often a person takes control, where that is to be seen."""

BY_HAND, BY_HAND_OFTEN = 0.2, 0.7
"""How many of those who take control work by hand, which takes as long as two lives without."""

WITH_SEVERAL, OF_SEVERAL = 0.25, 0.6
"""In how many lives several actions are sent as one input, and how many of the inputs those are."""

WITH_RUN = 0.05
"""In how many lives there is a run."""

WITH_PRIVACY = 0.05
"""In how many lives somebody takes control privately, and others look on."""

WITH_SIGHTS = 0.3
"""In how many lives inputs name elements, and wait for texts where they are several."""

KILLED_IN_A_STEP, TAKEN_FROM_A_RUN, OFF_FOR_DAYS = 0.3, 0.25, 0.5
"""How often a node is killed at a failpoint of a run's step, how often a person takes the machine
of a run, and how often all is off for days in the middle of a step."""

JOURNAL_DAYS = KEPT_SECONDS / 86_400

STOPPED = 0.4
"""In how many of these lives a machine client is told to stop."""

LINKS_KNOWN_WITHIN = STATE_SECONDS + 5.0
"""Seconds after the faults within which the database knows each link that is live."""


@dataclass
class Life:
    """How a seed ended."""

    seed: int
    violations: list[str]
    trace_lines: list[str]
    faults: Counter[str]
    facts: Counter[str]
    seconds: float = 0.0
    histories: list[KeyHistory] = field(default_factory=list)


class _Complaints(logging.Handler):
    """What the code logs as an error is one."""

    def __init__(self, world: World) -> None:
        super().__init__(logging.ERROR)
        self._world = world

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        self._world.violated(f"logged as an error: {record.getMessage()} {error!r}")


def live(
    seed: int,
    clocks: Clocks,
    *,
    tracing: bool = False,
    always_repeats: bool = False,
    often_taken: bool = False,
    always_several: bool = False,
    sights: bool | None = None,
    runs: bool | None = None,
    privacy: bool | None = None,
) -> Life:
    """Run one seed from its beginning to its verdict.

    With ``always_repeats`` there is a proxy that repeats inputs, as in one life of ten otherwise.
    With ``often_taken`` there are more inputs, and a person who takes control again and again, and
    not once in one life of ten.  With ``always_several`` there are several actions as one input.
    ``sights`` is whether inputs name elements, and wait for texts, ``runs`` whether there is a
    run, and ``privacy`` whether control is taken privately; else that is left to the dice.
    """
    world = World(seed, tracing=tracing)
    clocks.world = world
    complaints = _Complaints(world)
    loggers = [logging.getLogger(name) for name in ("server", "machine_client")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.addHandler(complaints)
        logger.propagate = False
        logger.setLevel(logging.ERROR)
    try:
        run = _Run(
            world,
            clocks,
            always_repeats=always_repeats,
            often_taken=often_taken,
            always_several=always_several,
            has_run=world.runs.random() < WITH_RUN if runs is None else runs,
            sights=world.sights.random() < WITH_SIGHTS if sights is None else sights,
            has_privacy=world.looks.random() < WITH_PRIVACY if privacy is None else privacy,
        )
        run.to_the_end()
    except Exception:  # noqa: BLE001  whatever it is, the seed's number must be told with it
        world.violated(traceback.format_exc())
        run = None
    finally:
        world.end()
        for logger, level in zip(loggers, levels, strict=True):
            logger.removeHandler(complaints)
            logger.propagate = True
            logger.setLevel(level)
    histories = [] if run is None else run.histories
    return Life(
        seed,
        world.violations,
        world.trace_lines or [],
        world.faults,
        world.facts,
        world.now,
        histories,
    )


class _Run:
    def __init__(
        self,
        world: World,
        clocks: Clocks,
        *,
        always_repeats: bool,
        often_taken: bool,
        always_several: bool,
        has_run: bool,
        sights: bool,
        has_privacy: bool,
    ) -> None:
        self.world = world
        random = world.random
        heartbeat = world.between(2, 6)
        repeats = world.chance(0.1) or always_repeats
        machine_ids = ["desk-1"] if world.chance(0.75) else ["desk-1", "desk-2"]
        self.mongo = Mongo(world, machine_ids, ORGANIZATION)
        self.exchange = Exchange(world)
        self.nodes = [
            Node(
                world,
                name,
                self.mongo,
                self.exchange,
                ORGANIZATION,
                heartbeat_seconds=heartbeat,
            )
            for name in ("north", "south", "west")[: 3 if world.chance(0.25) else 2]
        ]
        self.desktop = Desktop(world)
        self.machines = [
            Machine(
                world,
                machine_id,
                self.nodes,
                self.desktop,
                heartbeat_seconds=heartbeat,
                proxy=Proxy(world) if repeats else None,
            )
            for machine_id in machine_ids
        ]
        clocks.passed = self._passed
        self.verdict = Verdict(
            world, self.mongo, self.nodes, {each.machine_id: each for each in self.machines}
        )
        self.verdict.by_hand = self.desktop.by_hand
        self.faults = Faults(
            world,
            self.nodes,
            self.machines,
            self.mongo,
            self.exchange,
            heartbeat_seconds=heartbeat,
        )
        self.callers = Callers(
            world,
            self.nodes,
            self.desktop,
            losing=random.choice((0.0, 0.0, 0.2)),
            by_hand=BY_HAND_OFTEN if often_taken else BY_HAND,
        )
        self._repeats_forwards = world.chance(0.2)
        if self._repeats_forwards:
            self.faults.repeat_all_on_the_bus()
        if world.chance(0.7 if self._repeats_forwards else 0.3):
            paused, seconds = random.choice(machine_ids), world.between(0.5, 4)
            self.callers.start(partial(self.callers.pause, paused, seconds), world.between(0, 10))
        for _ in range(OFTEN if often_taken else world.chance(0.1)):
            worked, seconds = random.choice(machine_ids), world.between(0.5, 6)
            work = partial(self.callers.work_by_hand, worked, seconds)
            self.callers.start(work, world.between(0, 10))
        self._has_sights = sights
        self._sends_several = world.actions.random() < WITH_SEVERAL or always_several
        if self._sends_several and world.actions.random() < STOPPED:
            stopped = world.actions.choice(machine_ids)
            world.outside.call_later(
                world.actions.uniform(0.2, FAULTS_END), self.faults.stop_client, stopped
            )
        self._begin_run(machine_ids, has_run=has_run and not often_taken)
        if has_privacy and not often_taken:
            self._have_onlookers(world.looks.choice(machine_ids))
        inputs = MOST_INPUTS if often_taken else random.randint(2, 4)
        self.histories = [self._history(number) for number in range(inputs)]

    def _begin_run(self, machine_ids: list[str], *, has_run: bool) -> None:
        """Have a run wait for its turn, and its nodes killed in the middle of a step."""
        if not has_run:
            return
        world, dice = self.world, self.world.runs
        run = world.run_of_life = new_run(
            world, self.mongo, self.desktop, ORGANIZATION, dice.choice(machine_ids)
        )
        self.callers.start(partial(self.callers.look_after, run), dice.uniform(0, 5))
        for node in self.nodes:
            if dice.random() < KILLED_IN_A_STEP:
                point, passes = dice.choice(FAILPOINTS), dice.randint(1, 3)
                world.outside.call_later(dice.uniform(0, FAULTS_END), node.kill_at, point, passes)
        if dice.random() < TAKEN_FROM_A_RUN:
            work = partial(self.callers.work_by_hand, run.machine_id, dice.uniform(0.5, 6))
            self.callers.start(work, dice.uniform(0, FAULTS_END))

    def _have_onlookers(self, machine_id: str) -> None:
        """Have somebody take control privately, and others look at the machine all the time."""
        dice = self.world.looks
        after = dice.uniform(0, LATER_SECONDS) if dice.random() < PRIVATE_LATER else 0.0
        work = partial(self.callers.work_by_hand, machine_id, dice.uniform(1, 4))
        self.callers.start(partial(work, private_after=after), dice.uniform(0, FAULTS_END))
        for _ in range(ONLOOKERS):
            look = partial(self.callers.look_on, machine_id, FAULTS_END)
            self.callers.start(look, dice.uniform(0, 1))

    def _passed(self, point: Failpoint) -> None:
        """Whoever's turn it is passes a failpoint."""
        process = self.world.current
        for node in self.nodes:
            if node.process is process:
                node.passed(point)
                return
        for machine in self.machines:
            if machine.client.process is process:
                machine.client.passed(point)
                return

    def _history(self, number: int) -> KeyHistory:
        """A key, or an input without one, and whoever sends it when."""
        world, random = self.world, self.world.random
        machine_id = random.choice(self.machines).machine_id
        is_keyed = world.chance(0.4 if self._repeats_forwards else 0.85)
        marks = [1 + 10 * number]
        if is_keyed and world.chance(0.15):
            marks.append(2 + 10 * number)  # the same key with another body
        are_several = self._sends_several and world.actions.random() < OF_SEVERAL
        body_of = self._actions if are_several else self._body
        bodies = {mark: body_of(mark, is_keyed=is_keyed) for mark in marks}
        timeout = random.choice((3.0, 8.0, 20.0))
        if not is_keyed:
            history = KeyHistory(None, machine_id, bodies, timeout)
            self.callers.start(
                partial(self.callers.send_once, history, marks[0]), world.between(0, 12)
            )
            return history
        history = KeyHistory.of_key(ORGANIZATION, f"key-{number}", machine_id, bodies, timeout)
        begins = world.between(0, 10)
        for mark in marks:
            self._pursue(history, mark, begins)
        if world.chance(0.3):
            self._pursue(history, marks[0], begins)
        return history

    def _pursue(self, history: KeyHistory, mark: int, begins: float) -> None:
        again = self.world.random.randint(0, 2)
        after = begins + (0 if self.world.chance(0.5) else self.world.between(0, 1))
        self.callers.start(partial(self.callers.pursue, history, mark, again), after)

    def _actions(self, mark: int, *, is_keyed: bool) -> AnyBody:
        """Several actions, each of which has its luck."""
        dice = self.world.actions
        body = random_actions(mark, dice, is_keyed=is_keyed)
        shown: dict[int, Shown] = {}
        if self._has_sights:
            body = with_sights(body, self.world.sights, self.desktop.texts, shown)
        after = 0.0
        for action in body.actions:
            if isinstance(action, InputAction):
                plan = Plan(steps_of(action), is_keyed=is_keyed, after=after, is_of_several=True)
                self.desktop.plans[mark_of(action)] = plan
                plan.element = shown.get(mark_of(action))
                plan.refused = dice.random() < 0.02
                plan.gap = dice.choice((0.0, 0.01, 0.01, 0.3))
                if dice.random() < 0.05:
                    plan.fails_after = dice.randrange(len(plan.steps))
            after += action.own_seconds
        return body

    def _body(self, mark: int, *, is_keyed: bool) -> AnyBody:
        world, random = self.world, self.world.random
        body, shown = random_input(mark, random), None
        if self._has_sights:
            body, shown = by_element(body, world.sights)
        plan = Plan(steps_of(body), is_keyed=is_keyed, element=shown)
        self.desktop.plans[mark] = plan
        luck = random.random()
        if luck < 0.06:
            plan.refused = True
        elif luck < 0.4:
            plan.gap = random.choice((0.01, 0.2, 0.6))
            if world.chance(0.2):
                plan.fails_after = random.randrange(len(plan.steps))
        return body

    def to_the_end(self) -> None:
        """Let everything happen, then look at it."""
        world = self.world
        limit = FAULTS_END + LONGEST_AFTERMATH + FINAL_WITHIN
        world.run(limit, self._is_over)
        self._must_be_done("final")
        if world.violations:
            return
        self._check()
        if self._has_run_for_days(limit):
            return
        if world.chance(0.25):
            self._live_again(limit)
        if world.chance(0.1) and not world.violations:
            self._remove_machines(limit)

    def _has_run_for_days(self, limit: float) -> bool:
        """Let a run that is halted wait for days, and go on; whether there was any.

        The ledger has forgotten by then how its inputs ended, and after 9 days the journal, too.
        Sometimes all is off in the middle of a step, and that for days again.
        """
        world, run, dice = self.world, self.world.run_of_life, self.world.runs
        if run is None or world.violations:
            return False
        if run.stored.ended_at is not None:
            run.check(run.stored)
            return False
        world.facts["runs: halted for days"] += 1
        self._move_clocks()
        run.waits_days = False
        self.callers.start(partial(self.callers.look_after, run), dice.uniform(0, 2))
        if dice.random() < OFF_FOR_DAYS:
            self._turn_all_off(limit)
        world.run(world.now + limit, self._is_over)
        self._must_be_done("final after days")
        if not world.violations:
            world.run(world.now + AFTERWARDS, self._has_failed)
            run.check(run.stored)
            self.verdict.check_left_pressed()
        return True

    def _turn_all_off(self, limit: float) -> None:
        """Have all that runs end when a step is under way, and begin again days later."""
        world, dice = self.world, self.world.runs
        begun = world.now
        until = begun + dice.uniform(0.5, 6)
        world.run(until, lambda: self._is_over() or self._is_trying(begun))
        world.facts["runs: off for days in the middle of a step"] += self._is_trying(begun)
        self._kill_all()
        world.run(world.now + LONGEST_AFTERMATH, self._has_failed)
        # With what had ended before, and was to begin again meanwhile.
        self._kill_all()
        self._move_clocks()
        for node in self.nodes:
            node.start()
        for machine in self.machines:
            machine.start()

    def _kill_all(self) -> None:
        for node in self.nodes:
            if not node.process.is_dead:
                node.kill(silently=False)
        for machine in self.machines:
            machine.kill()

    def _is_trying(self, since: float) -> bool:
        """Whether a step's input was stored, and was not done so far as anybody knows."""
        attempt = self.world.run_of_life.stored.attempt
        return attempt is not None and not attempt.is_done and self.world.now > since + 0.3

    def _move_clocks(self) -> None:
        """Let 25 hours pass, or 9 days, in which nothing happens."""
        days = self.world.runs.choice((25 / 24, 9.0))
        self.world.moved += days * 86_400
        for command_id in list(self.mongo.commands.records):
            self.mongo.expire(command_id)
        for machine in self.machines if days > JOURNAL_DAYS else ():
            machine.disk.forget()

    def _is_over(self) -> bool:
        return not self.callers.left or bool(self.world.violations)

    def _must_be_done(self, what: str) -> None:
        if not self.world.violations and self.callers.left:
            self.world.violated(f"not everything became {what} in time")

    def _check(self) -> None:
        """Whatever was to happen afterwards has happened; then nothing may be wrong."""
        world = self.world
        world.run(max(world.now, world.calm_at) + AFTERWARDS, self._has_failed)
        if self.verdict.links_unknown():
            world.facts["links stated again"] += 1
            world.run(world.now + LINKS_KNOWN_WITHIN, self._all_links_are_known)
            world.violations += self.verdict.links_unknown()
        for history in self.histories:
            self.verdict.check_answers(history)
            self.verdict.check_happened(history, self.desktop)
            self.callers.must_not_have_happened(history)
        for work in self.callers.hands:
            work.check()
        self.verdict.check_left_open()
        self.verdict.check_left_pressed()

    def _all_links_are_known(self) -> bool:
        return self._has_failed() or not self.verdict.links_unknown()

    def _has_failed(self) -> bool:
        return bool(self.world.violations)

    def _live_again(self, limit: float) -> None:
        """Days later the ledger has forgotten the keys; the journal has not."""
        world = self.world
        lossless = {each.machine_id for each in self.machines if each.replaced_at < 0}
        are_killed = world.chance(0.5)
        for machine in self.machines:
            machine.keeps_its_journal = True
        for node in self.nodes if are_killed else ():
            if world.chance(0.5):
                node.kill_at(world.random.choice((Failpoint.AFTER_SENT, Failpoint.AFTER_BYTES)), 1)
        for history in self.histories:
            command_id = history.command_id
            if history.key is None or command_id is None or history.machine_id not in lossless:
                continue
            record = self.mongo.commands.records.get(command_id)
            if record is None or (answer := answer_of(record)) is None:
                continue
            world.facts["keys used again when they had expired"] += 1
            self.mongo.expire(command_id)
            history.earlier.append((answer.status, answer.body))
            history.answers.clear()
            history.answered_bodies.clear()
            history.timeout = world.random.choice((0.3, history.timeout))
            self._pursue(history, next(iter(history.bodies)), 0.0)
        for machine in self.machines:
            connection = machine.client.connection
            if connection is not None and world.chance(0.3):
                connection.stall(connection.machine, world.between(0.2, 1.5))
        world.run(world.now + limit, self._is_over)
        self._must_be_done("final again")
        if not world.violations:
            self._check()

    def _remove_machines(self, limit: float) -> None:
        """What was answered stays the answer when the machine is no more."""
        world = self.world
        for machine in self.machines:
            machine.is_removed = True
            machine.kill()
            self.mongo.remove_machine(machine.machine_id)
        world.run(world.now + 1, self._has_failed)
        for history in self.histories:
            if history.key is not None and history.answers:
                world.facts["keys used again when their machine was removed"] += 1
                self._pursue(history, next(iter(history.bodies)), 0.0)
        world.run(world.now + limit, self._is_over)
        self._must_be_done("final once more")
        if not world.violations:
            self._check()


def forget_garbage() -> None:
    """Put what there is now beyond the collector's reach, and have it come seldom."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)
