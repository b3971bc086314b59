"""Two nodes with machines that do one run after another, and what came of all that was killed."""

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

from tests.batches import Violation
from tests.faults.history import Clock
from tests.faults.world import START_SECONDS, World
from tests.processes import ServedApi, until
from tests.run_kills.desk import HEARTBEAT, Desk
from tests.run_kills.judge import Broken, judged
from tests.run_kills.orders import ACTS, approved
from tests.run_kills.person import HIDDEN, Followed, Person
from tests.run_kills.victims import Victim

SETTINGS: Final = {
    "heartbeat": HEARTBEAT,
    "input_timeout": "8",
    "authors_may_approve": "true",
}

START_SECONDS_OF_EACH: Final = 4.0
"""For each machine beside that, as all of them start at once."""


@dataclass(frozen=True)
class Kill:
    """A kill; ``desk`` is whose, of what every machine has of its own."""

    victim: Victim
    at: float
    desk: str | None = None

    def met(self, run: Followed) -> bool:
        """Whether it hit this run, which has ended, in the middle of a step."""
        return self.desk in (None, run.desk) and run.is_in_a_step_at(self.at)


@dataclass
class RunKills:
    """What came of it."""

    kills: list[Kill] = field(default_factory=list)
    runs: list[Followed] = field(default_factory=list)
    wrong: list[Violation] = field(default_factory=list)
    seconds: float = 0.0

    def met(self) -> list[Kill]:
        """The kills that hit at least one run in the middle of a step."""
        return [kill for kill in self.kills if any(kill.met(run) for run in self.runs)]

    def table(self) -> str:
        """All of it, as plain text."""
        met = self.met()
        hits = sum(kill.met(run) for kill in met for run in self.runs)
        reasons = Counter(halt.reason for run in self.runs for halt in run.halts)
        tries = [step["attempts"] for run in self.runs for step in run.view["steps"]]
        broken = Counter(str(each.broken) for each in self.wrong)
        rows: list[tuple[str, int]] = [
            *sorted((f"killed: {victim}", n) for victim, n in _counted(self.kills).items()),
            ("kills", len(self.kills)),
            ("kills within a step", len(met)),
            ("steps that were hit", hits),
            ("runs", len(self.runs)),
            ("steps", len(tries)),
            ("steps that were tried more than once", sum(each > 1 for each in tries)),
            *sorted((f"halted: {reason}", n) for reason, n in reasons.items()),
            ("halted steps that were continued", reasons.total()),
            *((str(each), broken[each]) for each in Broken),
            ("promises broken", len(self.wrong)),
            ("seconds", round(self.seconds)),
        ]
        width = max(len(name) for name, _ in rows)
        return "\n".join(f"{name:{width}} {count:7}" for name, count in rows)


def _counted(kills: Sequence[Kill]) -> Counter[Victim]:
    return Counter(kill.victim for kill in kills)


@contextmanager
def bench(directory: Path, machines: int, **settings: str) -> Iterator[tuple[World, list[Desk]]]:
    """Two nodes, a replica set, NATS, and machines with forms, all of them at work.

    ``settings`` are the nodes', beside `SETTINGS` or in their place.
    """
    with ExitStack() as stack:
        running = World.of_nodes(directory, Clock(), 2, members=3, **{**SETTINGS, **settings})
        world = stack.enter_context(running)
        names = [f"desk-{number}" for number in range(machines)]
        desks = [
            stack.enter_context(
                Desk.placed(
                    name, directory / "desks", world, heartbeat=settings.get("heartbeat", HEARTBEAT)
                )
            )
            for name in names
        ]
        api = ServedApi(world.active.server.url, world.token)
        stack.callback(api.close)
        for desk in desks:
            desk.token = api.add_machine(desk.name)
            desk.client.start()
        seconds = START_SECONDS + START_SECONDS_OF_EACH * machines
        for desk in desks:
            until(partial(_is_shown, api, desk.name), f"{desk.name} is ready", seconds)
        yield world, desks


def _is_shown(api: ServedApi, machine: str) -> bool:
    answer = api.call("GET", f"/v1/computer/{machine}/elements?window=Orders")
    return answer.status == 200 and len(answer.json["items"]) > len(ACTS)


@contextmanager
def at_work(
    world: World, desks: Sequence[Desk], came: RunKills, *, hidden: float = HIDDEN
) -> Iterator[list[Person]]:
    """People begin runs on all desks for the time of the block; then all that is broken is known.

    ``hidden`` is the part of the runs that are halted in any case.
    """
    began = time.monotonic()
    api = ServedApi(world.active.server.url, world.token)
    trajectory = approved(api, desks[0].name)
    api.close()
    people = [Person(desk, trajectory, world.ports, world.token, hidden) for desk in desks]
    for person in people:
        person.start()
    try:
        yield people
    finally:
        for person in people:
            person.finish()
    came.runs = [run for person in people for run in person.runs]
    came.wrong = [each for run in came.runs for each in judged(run, ACTS)]
    came.wrong += [
        Violation(Broken.LOST, f"of {each.desk.name}: {each.failure!r}")
        for each in people
        if each.failure is not None
    ]
    came.wrong += _left_asked(world)
    came.seconds = time.monotonic() - began


def _left_asked(world: World) -> Iterator[Violation]:
    """What people are still asked, though every run has ended."""
    until(lambda: all(node.is_awake for node in world.nodes), "both nodes are there")
    api = ServedApi(world.active.server.url, world.token)
    for each in api.call("GET", "/v1/help?state=open").json["items"]:
        yield Violation(Broken.ASKED, str(each))
    api.close()
