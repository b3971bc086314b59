"""What attempts are called matters to nobody, so states that differ in it alone count as one."""

from tests.model.attempts import renamed
from tests.model.canonical import canonical
from tests.model.explorer import explore
from tests.model.protocol import Configuration, World
from tests.model.state import Faults, State
from tests.model.successors import possible_steps, seen_of, successors_under

LEAST_STATES = 1000
OTHER_NAMES = {0: 0, 1: 5, 2: 1, 3: 4, 4: 2}


def test_the_same_steps_lead_on_whatever_the_attempts_are_called() -> None:
    configuration = Configuration("a kill, a store error", Faults(node_kills=1, store_errors=1))
    world = World(configuration)
    explore(world)
    situations = successors_under(world).situations
    assert len(situations) > LEAST_STATES
    for situation in situations:
        state = situation.with_faults(configuration.faults)
        others = _renamed(state)
        assert canonical(world, others) == canonical(world, state)
        assert _successors(world, others) == _successors(world, state)


def _renamed(state: State) -> State:
    """The state with other attempts and the nodes the other way round."""
    record, late, nodes = renamed(state.record, state.late, state.nodes, OTHER_NAMES)
    machine = state.machine
    if machine.link is not None and machine.link.connected:
        machine = machine._replace(link=machine.link._replace(node=1 - machine.link.node))
    return state._replace(record=record, late=late, nodes=nodes[::-1], machine=machine)


def _successors(world: World, state: State) -> set[tuple[bool, State]]:
    return {(step.is_fault, seen_of(world, step.state)) for step in possible_steps(world, state)}
