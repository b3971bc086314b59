"""Breadth-first through every state of a configuration, to the shortest way to a broken promise."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product

from tests.model.properties import observed
from tests.model.protocol import World
from tests.model.state import FINAL, Faults, Journal, Machine, Node, Record, Seen, State
from tests.model.successors import possible_steps, seen_of, successors_under


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
    with without_collector():
        return _Explorer(world).explore()


def beginning(faults: Faults) -> State:
    """Nobody is connected, and nobody has asked."""
    journal = Journal(0, 0, None, 0, None)
    machine = Machine(None, 0, is_queued=False, journal=journal, boot=0, copies=(), stale=())
    return State(None, None, (Node(), Node()), machine, 0, faults, Seen())


class _Explorer:
    """Goes through the states of a world, each of which is one number.

    It is made of the number of the state's situation and of the number of the faults left, whose
    digits they are: so a state that spends a fault has a number that is less by a certain amount.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self._successors = successors_under(world)
        faults = world.configuration.faults
        self._left = [Faults(*left) for left in product(*(range(most + 1) for most in faults))]
        self._weights = _weights(faults)
        first = self._successors.number(beginning(faults))
        self._states = [first * len(self._left) + len(self._left) - 1]
        self._came_from = [0]
        self._healed_from: list[list[int]] = [[]]
        self._steps = 0

    def explore(self) -> Exploration:
        """Go on until there is nothing new, or something is wrong."""
        wrong = self._first_wrong()
        if wrong is not None:
            promise = self._state(wrong).seen.wrong
            assert promise is not None
        else:
            wrong = self._first_never_final()
            promise = "no way without faults leads to a final answer"
        violation = None if wrong is None else Violation(promise, self._way_to(wrong))
        return Exploration(len(self._states), self._steps, violation)

    def _first_wrong(self) -> int | None:
        """Visit all states, or those before the first in which a promise is broken."""
        states, came_from, healed_from = self._states, self._came_from, self._healed_from
        successors, weights, size = self._successors, self._weights, len(self._left)
        situations = successors.situations
        found_with = [successors.found_with(faults) for faults in self._left]
        indices = {states[0]: 0}
        for index, state in enumerate(states):
            situation, left = divmod(state, size)
            found = found_with[left].get(situation)
            if found is None:
                found = successors.find(situation, self._left[left])
            self._steps += len(found)
            for after, spent, is_fault in found:
                reached = after * size + left - weights[spent]
                reached_index = indices.get(reached)
                if reached_index is None:
                    reached_index = indices[reached] = len(states)
                    states.append(reached)
                    came_from.append(index)
                    healed_from.append([])
                    if situations[after].seen.wrong is not None:
                        return reached_index
                if not is_fault:
                    healed_from[reached_index].append(index)
        return None

    def _first_never_final(self) -> int | None:
        """The nearest state from which no way without faults leads to a final record."""
        reaches = bytearray(len(self._states))
        todo = [
            index for index in range(len(self._states)) if self._is_final(self._state(index).record)
        ]
        for index in todo:
            reaches[index] = 1
        while todo:
            for before in self._healed_from[todo.pop()]:
                if not reaches[before]:
                    reaches[before] = 1
                    todo.append(before)
        stuck = reaches.find(0)
        return None if stuck < 0 else stuck

    def _is_final(self, record: Record | None) -> bool:
        """Whether there is nothing to wait for: without a key also where there is no record."""
        if record is None:
            return not self._world.configuration.is_keyed
        return record.state in FINAL

    def _state(self, index: int) -> State:
        situation, left = divmod(self._states[index], len(self._left))
        return self._successors.situations[situation].with_faults(self._left[left])

    def _way_to(self, index: int) -> tuple[str, ...]:
        """The names of the steps to a state, taken again so that each node keeps its own number."""
        way = []
        while index:
            way.append(self._state(index))
            index = self._came_from[index]
        world, state, names = self._world, self._state(0), []
        for wanted in reversed(way):
            step = next(
                step
                for step in possible_steps(world, state)
                if seen_of(world, step.state) == wanted
            )
            state = observed(world, step.state)
            names.append(step.name)
        return tuple(names)


def _weights(faults: Faults) -> list[int]:
    """By how much one of each fault counts in the number of what is left; and none, which is 0."""
    weights, weight = [0], 1
    for most in reversed(faults):
        weights.insert(0, weight)
        weight *= most + 1
    return weights


@contextmanager
def without_collector() -> Iterator[None]:
    """Spare the search for cycles, of which tuples have none: it would take half of the time.

    Nor is it made up for at the end: what was kept meanwhile is looked at no more.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if was_enabled:
            gc.enable()
