"""Breadth-first through every state of a configuration, to the shortest way to a broken promise."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tests.model.disk import disk_steps
from tests.model.ledger import ledger_steps
from tests.model.machine import eager_machine_step, machine_steps
from tests.model.node import eager_node_step, node_steps
from tests.model.properties import observed
from tests.model.protocol import World
from tests.model.state import (
    FINAL,
    Faults,
    Journal,
    Machine,
    Node,
    Seen,
    State,
    Step,
    canonical,
    is_over,
)


@dataclass(frozen=True, slots=True)
class Violation:
    """A promise that was broken, and the shortest way there."""

    promise: str
    steps: tuple[str, ...]

    def __str__(self) -> str:
        numbered = (f"{number:3}. {step}" for number, step in enumerate(self.steps, 1))
        return "\n".join([self.promise, *numbered])


@dataclass(frozen=True, slots=True)
class Exploration:
    """What there was to see: how many states and steps, and the violation, if there is one."""

    states: int
    steps: int
    violation: Violation | None


def explore(world: World) -> Exploration:
    """Visit every state that can be reached; stop at the first broken promise.

    Where no promise is broken, see that every state has a way without faults to a final record.
    """
    with _without_collector():
        return _explore(world)


def _explore(world: World) -> Exploration:
    first = beginning(world.configuration.faults)
    numbers = {first: 0}
    states = [first]
    came_from = [0]
    healed_from: list[list[int]] = [[]]
    steps = 0
    for number, state in enumerate(states):
        if is_over(state):
            continue
        for step in possible_steps(world, state):
            steps += 1
            after = seen_of(world, step.state)
            reached = numbers.get(after)
            if reached is None:
                reached = numbers[after] = len(states)
                states.append(after)
                came_from.append(number)
                healed_from.append([])
                if after.seen.wrong is not None:
                    way = _way_to(world, states, came_from, reached)
                    found = Violation(after.seen.wrong, way)
                    return Exploration(len(states), steps, found)
            if not step.is_fault:
                healed_from[reached].append(number)
    stuck = _never_final(states, healed_from)
    if stuck is None:
        return Exploration(len(states), steps, None)
    way = _way_to(world, states, came_from, stuck)
    violation = Violation("no way without faults leads to a final answer", way)
    return Exploration(len(states), steps, violation)


def seen_of(world: World, state: State) -> State:
    """A state as it is compared: with what the observer noted, and in its canonical form."""
    return canonical(observed(state), marks_have_ids=world.configuration.marks_have_ids)


def beginning(faults: Faults) -> State:
    """Nobody is connected, and nobody has asked."""
    journal = Journal(0, 0, None, 0, None)
    machine = Machine(None, 0, is_queued=False, journal=journal, boot=0, copies=(), stale=())
    return State(None, None, (Node(), Node()), machine, 0, faults, Seen())


def possible_steps(world: World, state: State) -> Iterator[Step]:
    """Every step that anybody can take in a state, as far as the order of steps matters.

    Some steps cannot be seen by anybody but by whom they concern, and make nothing impossible that
    matters: where there is one, it comes first, and alone.
    """
    for eager in (eager_machine_step(world, state), eager_node_step(world, state)):
        if eager is not None:
            yield eager
            return
    yield from ledger_steps(world, state)
    yield from machine_steps(world, state)
    yield from disk_steps(world, state)
    yield from node_steps(world, state, 0)
    yield from node_steps(world, state, 1)


def _never_final(states: list[State], healed_from: list[list[int]]) -> int | None:
    """The nearest state from which no way without faults leads to a final record."""
    reaches = bytearray(len(states))
    todo = [
        number
        for number, state in enumerate(states)
        if state.record is not None and state.record.state in FINAL
    ]
    for number in todo:
        reaches[number] = 1
    while todo:
        for before in healed_from[todo.pop()]:
            if not reaches[before]:
                reaches[before] = 1
                todo.append(before)
    stuck = reaches.find(0)
    return None if stuck < 0 else stuck


def _way_to(
    world: World, states: list[State], came_from: list[int], number: int
) -> tuple[str, ...]:
    """The names of the steps to a state, taken again so that each node keeps its own number."""
    way = []
    while number:
        way.append(states[number])
        number = came_from[number]
    state, names = states[0], []
    for wanted in reversed(way):
        step = next(
            step for step in possible_steps(world, state) if seen_of(world, step.state) == wanted
        )
        state = observed(step.state)
        names.append(step.name)
    return tuple(names)


@contextmanager
def _without_collector() -> Iterator[None]:
    """Spare the search for cycles, of which tuples have none: it would take half of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
