"""Kills at each point of a step's way: whoever passes it stands still, and a victim is killed.

Every program is armed with all points at once.  Where it stops it says so; a victim is killed, and
what was stopped goes on.
"""

import random
import signal
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import cycle
from typing import Final

from schemas.programs.failpoints import Failpoint, Side
from tests.faults.supervised_process import SupervisedProcess
from tests.faults.world import World
from tests.processes import until
from tests.run_kills.bench import Kill, RunKills, at_work
from tests.run_kills.desk import Desk, point_of
from tests.run_kills.person import Person
from tests.run_kills.victims import OWN, Victim, is_up, process_of

OTHERS: Final = (
    *(Failpoint.AFTER_PRESS, Failpoint.AFTER_ACTION, Failpoint.AFTER_ACTION_DONE),
    *(Failpoint.BEFORE_BEGUN, Failpoint.AFTER_BEGUN, Failpoint.AFTER_CLAIM),
)
"""Passed by several actions in one request, by others than clicks and keys, or without a link."""

POINTS: Final = tuple(point for point in Failpoint if point not in OTHERS)
EACH_PASSED_BY: Final = 3
"""So many points of one pass; the next are those of the pass after it."""

LINK_LOST_SECONDS: Final = 3.0
"""For which a machine client stands still where its input's events are done: its link is lost, and
the next one asks what became of that, which alone brings it to BEFORE_REPORT."""

LOOK_SECONDS: Final = 0.02
UP_SECONDS: Final = 4.0
TABLE_SECONDS: Final = 600.0
"""Without a kill, after which the cells of a turn are given up."""

Cell = tuple[Failpoint, Victim]


def whole_table(victims: Iterable[Victim] = Victim) -> list[Cell]:
    """Every one of these victims at every point."""
    return [(point, victim) for victim in victims for point in POINTS]


def table_struck(
    cells: Sequence[Cell], world: World, desk: Desk, say: Callable[[str], None] = print
) -> tuple[RunKills, list[Cell]]:
    """Kill in each of these cells; what came of it, and the cells that were never come to."""
    came, left = RunKills(), [*cells]
    waiting = deque(cells)
    # Whoever interrupts it is told what came of it until then.
    with at_work(world, [desk], came, hidden=1.0) as people, suppress(KeyboardInterrupt):
        while waiting and people[0].failure is None:
            # Each point once, whoever is killed there: the others wait for their turn.
            turn: dict[Failpoint, Victim] = {}
            for _ in range(len(waiting)):
                point, victim = waiting.popleft()
                if point in turn:
                    waiting.append((point, victim))
                else:
                    turn[point] = victim
            table = _Table(turn, world, desk)
            table.arm_all()
            for cell, kill in table.kills(people[0]):
                came.kills.append(kill)
                left.remove(cell)
                say(f"{kill.victim} killed at {cell[0]}, {len(left)} cells are left")
    return came, left


class _Table:
    """The cells that are left, and the programs that are armed for them."""

    def __init__(self, left: dict[Failpoint, Victim], world: World, desk: Desk) -> None:
        self.left = left
        self._world, self._desk = world, desk
        self._leaving, self._rng = cycle(world.nodes), random.Random(0)

    def arm_all(self) -> None:
        """Start every program again with all points of its side."""
        self._arm()
        nodes = [node.process for node in self._world.nodes]
        for each in (*nodes, self._desk.client):
            starts = each.starts
            each.kill()
            assert each.wait_for_start(starts + 1, TABLE_SECONDS), each.name

    def kills(self, person: Person) -> Iterator[tuple[Cell, Kill]]:
        """Kill in one cell after another, as their points are passed."""
        give_up_at = time.monotonic() + TABLE_SECONDS
        while self.left and person.failure is None and time.monotonic() < give_up_at:
            time.sleep(LOOK_SECONDS)
            for process, point in self._stopped():
                victim = self.left.pop(point, None)
                if victim is not None:
                    yield (point, victim), self._kill(victim, process, point)
                    give_up_at = time.monotonic() + TABLE_SECONDS
                    if point is Failpoint.AFTER_EVENTS:
                        time.sleep(LINK_LOST_SECONDS)
                process.signal(signal.SIGCONT)
            if [*self.left] == [Failpoint.BEFORE_HANDOVER]:
                self._have_a_node_leave()

    def _kill(self, victim: Victim, stopped: SupervisedProcess, point: Failpoint) -> Kill:
        """Kill one of a kind; of the nodes the one that stands still, if one does."""
        desk, world = self._desk, self._world
        # A member that is still away takes seconds; what stands still keeps its lease meanwhile.
        with suppress(AssertionError):
            until(lambda: is_up(victim, world, desk), f"{victim} is up", UP_SECONDS)
        process = process_of(victim, world, desk, self._rng)
        if victim is Victim.NODE and point.side == "server":
            process = stopped
        self._arm()
        process.kill()
        own = victim in OWN
        return Kill(victim, time.time(), desk.name if own else None)

    def _stopped(self) -> Iterator[tuple[SupervisedProcess, Failpoint]]:
        """What stands still, and where."""
        for node in self._world.nodes:
            if node.process.is_stopped:
                log = (node.server.directory / "server.log").read_text(errors="replace")
                yield node.process, Failpoint(point_of(log))
        if self._desk.client.is_stopped:
            yield self._desk.client, Failpoint(self._desk.stopped_at())

    def _have_a_node_leave(self) -> None:
        """End one in order, which hands over what it works at."""
        node = next(self._leaving)
        starts = node.process.starts
        node.process.signal(signal.SIGTERM)
        until(
            lambda: node.process.is_stopped or node.process.starts > starts,
            f"{node.name} leaves",
        )

    def _arm(self) -> None:
        """Have what is started next stop at what is left."""
        for node in self._world.nodes:
            node.next_failpoints = self._armed("server")
        self._desk.next_failpoints = self._armed("machine")

    def _armed(self, side: Side) -> str:
        points = [point for point in self.left if point.side == side]
        passes = {point: 1 + number // EACH_PASSED_BY for number, point in enumerate(points)}
        if Failpoint.BEFORE_REPORT in passes:
            passes[Failpoint.BEFORE_REPORT] = 1
        return ",".join(f"{point}=stop@{number}" for point, number in passes.items())
