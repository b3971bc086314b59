"""Kills at random moments, in the middle of steps that several machines' runs are at.

Runs are begun on every machine of two nodes, one after another, and people continue those that are
halted.  What is killed is started again at once.  Only a kill counts that met a run in a step.
"""

import random
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

from tests.faults.world import World
from tests.processes import until
from tests.run_kills.bench import Kill, RunKills, at_work
from tests.run_kills.desk import Desk
from tests.run_kills.judge import judged
from tests.run_kills.orders import ACTS
from tests.run_kills.person import Person
from tests.run_kills.victims import OWN, WEIGHTS, Victim, is_up, process_of

PROGRESS_EVERY: Final = 25
MEET_SECONDS: Final = 120.0
"""For a victim to be up and in use."""


def struck(
    number: int,
    seed: int,
    world: World,
    desks: Sequence[Desk],
    say: Callable[[str], None] = print,
) -> RunKills:
    """Kill until so many kills have met a run in a step; what came of it."""
    came = RunKills()
    # Whoever interrupts it is told what came of it until then.
    with at_work(world, desks, came) as people, suppress(KeyboardInterrupt):
        _strike_all(number, _Striker(random.Random(seed), world, people), people, came, say)
    return came


class _Striker:
    """Chooses victims and moments.

    Whoever was struck rests until it has gone on: a machine's own until its run has, what all use
    until half of the runs have.
    """

    def __init__(self, rng: random.Random, world: World, people: Sequence[Person]) -> None:
        self._rng, self._world, self._people = rng, world, people
        self._struck_at: dict[str, object] = {}
        """Where each machine's run was when it was struck, and when something that all use was."""
        self._shared_at: dict[str, object] = {}

    def strike(self) -> Kill | None:
        """Kill somebody, once that meets a run in a step; None where it had just ended itself."""
        (victim,) = self._rng.choices([*WEIGHTS], [*WEIGHTS.values()])
        until(lambda: self._those_it_meets(victim), f"{victim} is at work", MEET_SECONDS)
        time.sleep(self._rng.uniform(0, 0.4))
        person = self._rng.choice(self._those_it_meets(victim) or self._people)
        if not process_of(victim, self._world, person.desk, self._rng).kill():
            return None
        is_own = victim in OWN
        for each in [person] if is_own else self._people:
            places = self._struck_at if is_own else self._shared_at
            places[each.desk.name] = each.place
        return Kill(victim, time.time(), person.desk.name if is_own else None)

    def _those_it_meets(self, victim: Victim) -> list[Person]:
        """Those whose run is in a step and uses it now, once that has gone on since the last."""
        if any(each.failure for each in self._people):
            return [*self._people]
        at_work = [each for each in self._people if each.is_in_a_step]
        if victim in OWN:
            return [
                each
                for each in at_work
                if is_up(victim, self._world, each.desk)
                and self._struck_at.get(each.desk.name) != each.place
            ]
        gone_on = sum(self._shared_at.get(each.desk.name) != each.place for each in self._people)
        has_rested = 2 * gone_on >= len(self._people)
        is_at_work = has_rested and is_up(victim, self._world, self._people[0].desk)
        return at_work if is_at_work and all(node.is_awake for node in self._world.nodes) else []


def _strike_all(
    number: int,
    striker: _Striker,
    people: Sequence[Person],
    came: RunKills,
    say: Callable[[str], None],
) -> None:
    """Strike until so many kills have met a run in a step."""
    while not any(person.failure for person in people):
        if (kill := striker.strike()) is not None:
            came.kills.append(kill)
        if len(came.kills) % PROGRESS_EVERY == 0 or len(came.kills) >= number:
            came.runs = [run for each in people for run in each.runs]
            wrong = [each for run in came.runs for each in judged(run, ACTS)]
            met = len(came.met())
            say(f"{met} of {len(came.kills)} kills, {len(came.runs)} runs, {len(wrong)} broken")
            if met >= number:
                return
