"""Breadth-first through every state of a configuration, to the shortest way to a broken promise."""

from itertools import chain

from tests.model.control.links import link_steps
from tests.model.control.machine import machine_steps
from tests.model.control.properties import broken, broken_at_rest
from tests.model.control.protocol import World
from tests.model.control.state import (
    ADA,
    HOLDER,
    IDLE,
    NOBODY,
    REFUSED,
    UP,
    Link,
    Machine,
    State,
    Step,
    Taker,
)
from tests.model.control.takers import lease_steps, taker_steps
from tests.model.explorer import Exploration, Violation, without_collector


def explore(world: World) -> Exploration:
    """Visit every state that can be reached; stop at the first broken promise."""
    with without_collector():
        return _explored(world)


def beginning(world: World) -> State:
    """The machine's first link is up, and nobody has control, or Ada."""
    configuration = world.configuration
    ada, lease = (Taker(HOLDER), ADA) if configuration.has_begun else (Taker(), NOBODY)
    bob = Taker(IDLE if configuration.has_two_takers else REFUSED)
    link = Link(UP, epoch=1, has_read=True, knows=lease)
    return State(lease, False, 1, (link,), Machine(link=0), (ada, bob), configuration.left)


def possible_steps(world: World, state: State) -> list[Step]:
    """Every step that anybody can take in a state."""
    return list(
        chain(
            taker_steps(world, state),
            lease_steps(world, state),
            link_steps(world, state),
            machine_steps(world, state),
        )
    )


def _explored(world: World) -> Exploration:
    first = beginning(world)
    came_from: dict[State, tuple[State, str] | None] = {first: None}
    states, steps = [first], 0
    for state in states:
        possible = possible_steps(world, state)
        steps += len(possible)
        promise = broken(state)
        if promise is None and not any(step.is_due for step in possible):
            promise = broken_at_rest(state)
        if promise is not None:
            return Exploration(len(states), steps, Violation(promise, _way_to(came_from, state)))
        for step in possible:
            if step.state not in came_from:
                came_from[step.state] = state, step.name
                states.append(step.state)
    return Exploration(len(states), steps, None)


def _way_to(came_from: dict[State, tuple[State, str] | None], state: State) -> tuple[str, ...]:
    names = []
    while (before := came_from[state]) is not None:
        state, name = before
        names.append(name)
    return tuple(reversed(names))
