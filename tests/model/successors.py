"""What each state leads to, worked out once for all explorations in which it is the same.

How many of each fault are still to come tells most states apart, and hardly matters to what can
happen next: with one kill of a node to come that is the same as with two.  So a state is taken
apart into its situation, which is all but the faults, and the faults that are left; the steps out
of a situation are kept for each set of faults that may come at all, and every exploration of the
same rules shares them, whatever its faults.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from tests.model.bus import time_steps
from tests.model.canonical import canonical
from tests.model.disk import disk_steps
from tests.model.ledger import ledger_steps
from tests.model.machine import eager_machine_step, machine_steps
from tests.model.node import eager_node_step, node_steps
from tests.model.properties import observed
from tests.model.protocol import World
from tests.model.state import (
    Bus,
    Faults,
    Machine,
    Node,
    Record,
    Seen,
    State,
    Step,
    Write,
    is_over,
)

NO_FAULT = len(Faults())
"""In the place of a fault's number, where none was spent."""

MOST_THAT_MATTER = Faults(
    node_kills=1,
    machine_kills=1,
    cuts=1,
    store_errors=1,
    restores=2,
    image_restores=2,
    reboots=2,
    replacements=1,
    expiries=1,
    others=1,
    asks=2,
)
"""How many of a fault a step can tell apart: none from some.

For three of them also whether another may come after it: a copy is kept only while it may still be
put back, and what is on disk only matters while the machine may still reboot.
"""

MOST_KEPT = 8
"""Of how many sets of rules the successors are kept: as many as take turns in the tests."""


class Situation(NamedTuple):
    """A state without its faults."""

    record: Record | None
    late: Write | None
    nodes: tuple[Node, Node]
    machine: Machine
    epoch: int
    seen: Seen
    bus: Bus

    def with_faults(self, faults: Faults) -> State:
        """The state that has so many faults left."""
        record, late, nodes, machine, epoch, seen, bus = self
        return State(record, late, nodes, machine, epoch, faults, seen, bus)


class Successor(NamedTuple):
    """Where a step leads: the number of a situation, and which fault was spent on the way.

    ``is_fault`` is also true where none was spent, as when a late write is lost.
    """

    situation: int
    spent: int
    is_fault: bool


class Successors:
    """The situations that were ever reached under one set of rules, and what they lead to."""

    def __init__(self, world: World) -> None:
        self.situations: list[Situation] = []
        self._world = world
        self._numbers: dict[Situation, int] = {}
        self._found: dict[Faults, dict[int, tuple[Successor, ...]]] = {}

    def number(self, state: State) -> int:
        """The number of a state's situation, which is a new one if nobody has been there."""
        record, late, nodes, machine, epoch, _, seen, bus = state
        situation = Situation(record, late, nodes, machine, epoch, seen, bus)
        number = self._numbers.setdefault(situation, len(self.situations))
        if number == len(self.situations):
            self.situations.append(situation)
        return number

    def found_with(self, faults: Faults) -> dict[int, tuple[Successor, ...]]:
        """The successors that are known, by situation, of states with such faults left."""
        return self._found.setdefault(_that_matter(faults), {})

    def find(self, situation: int, faults: Faults) -> tuple[Successor, ...]:
        """Work out the successors of a state, for everybody who comes here later."""
        left = _that_matter(faults)
        state = self.situations[situation].with_faults(left)
        successors = (
            () if is_over(state, self._world.configuration.actions) else self._successors(state)
        )
        self._found[left][situation] = successors
        return successors

    def _successors(self, state: State) -> tuple[Successor, ...]:
        world, number = self._world, self.number
        found = []
        for _, is_fault, reached in possible_steps(world, state):
            after = seen_of(world, reached)
            found.append(Successor(number(after), _spent(state, after), is_fault))
        return tuple(found)


def successors_under(world: World) -> Successors:
    """The successors under a world's rules, shared by all worlds that differ in faults alone.

    All that a step reads of the faults that were to come in the beginning is whether the journal
    counts.
    """
    counting = Faults(replacements=world.configuration.counts)
    shared = replace(world.configuration, name="", faults=counting)
    return _successors_of(World(shared, world.rules))


_successors_of = lru_cache(maxsize=MOST_KEPT)(Successors)


def forget_successors() -> None:
    """Keep no successors for whoever explores next."""
    _successors_of.cache_clear()


def possible_steps(world: World, state: State) -> Iterator[Step]:
    """Every step that anybody can take in a state, as far as the order of steps matters.

    Some steps cannot be seen by anybody but by whom they concern, and make nothing impossible that
    matters: where there is one, it comes first, and alone.
    """
    eager = eager_machine_step(world, state) or eager_node_step(world, state)
    if eager is not None:
        yield eager
        return
    yield from ledger_steps(world, state)
    yield from machine_steps(world, state)
    yield from disk_steps(world, state)
    yield from time_steps(world, state)
    yield from node_steps(world, state, 0)
    yield from node_steps(world, state, 1)


def seen_of(world: World, state: State) -> State:
    """A state as it is compared: with what the observer noted, and in its canonical form."""
    return canonical(world, observed(world, state))


@lru_cache(maxsize=1 << 10)
def _that_matter(faults: Faults) -> Faults:
    return Faults(*map(min, faults, MOST_THAT_MATTER))


def _spent(before: State, after: State) -> int:
    """Which fault has come in a step: one at most."""
    if after.faults is before.faults:
        return NO_FAULT
    spent = [
        number
        for number, (was, left) in enumerate(zip(before.faults, after.faults, strict=True))
        if was != left
    ]
    assert len(spent) <= 1
    return spent[0] if spent else NO_FAULT
