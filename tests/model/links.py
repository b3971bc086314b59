"""What both ends of a link share: messages arrive in order, and end with the end that reads them.

A cut is no event of its own: each end gives the link up when it pleases, the other notices when it
pleases, and until then writes to nobody (a half-open link).  What one end wrote before may still
arrive; what is lost is what its reader did not read before it gave up.
"""

from tests.model.answers import answered
from tests.model.protocol import Rules, World
from tests.model.state import PENDING, Machine, Message, Node, Record, ServerLink, State


def with_node(state: State, number: int, node: Node) -> State:
    """The state with another node in the place of one."""
    record, late, (first, second), machine, epoch, faults, seen, bus = state
    nodes = (node, second) if number == 0 else (first, node)
    return State(record, late, nodes, machine, epoch, faults, seen, bus)


def with_record(state: State, record: Record | None) -> State:
    """The state with another record in the ledger."""
    _, late, nodes, machine, epoch, faults, seen, bus = state
    return State(record, late, nodes, machine, epoch, faults, seen, bus)


def tell_node(state: State, message: Message) -> State:
    """The machine writes to its link; nothing happens where the node's end is gone."""
    link = state.machine.link
    if link is None or not link.connected:
        return state
    node = state.nodes[link.node]
    assert node.link is not None
    heard = node.link._replace(inbox=(*node.link.inbox, message))
    return with_node(state, link.node, node._replace(link=heard))


def tell_machine(state: State, number: int, message: Message) -> State:
    """A node writes to its link; nothing happens where the machine's end is gone."""
    node, machine = state.nodes[number], state.machine
    if node.link is None or not node.link.connected:
        return state
    assert machine.link is not None
    heard = machine.link._replace(inbox=(*machine.link.inbox, message))
    return with_machine(state, machine._replace(link=heard))


def with_link(rules: Rules, state: State, number: int, link: ServerLink | None) -> State:
    """The state with another link, or none, in the place of a node's.

    What waited for the machine on the one before fails; what has no key is recorded first.
    """
    node = state.nodes[number]
    request = node.request
    if request is None or request.stage not in ("ack", "asked", "sent"):
        return with_node(state, number, node._replace(link=link))
    if request.stage == "sent":
        request = request._replace(stage="keep")
    elif request.stage == "ack" and not rules.only_unsent_is_forgotten:
        request = request._replace(stage="forget")
    else:
        state = with_node(state, number, node._replace(link=link, request=None))
        return answered(state, request, PENDING)
    return with_node(state, number, node._replace(link=link, request=request))


def end_of_link(rules: Rules, state: State, number: int) -> State:
    """The node's end is closed; the machine will notice."""
    node, machine = state.nodes[number], state.machine
    assert node.link is not None
    if node.link.connected and machine.link is not None:
        machine = machine._replace(link=machine.link._replace(connected=False))
        state = with_machine(state, machine)
    return with_link(rules, state, number, None)


def end_of_machine_link(world: World, state: State) -> State:
    """End the machine's end of its link; what it wrote may still arrive, and what runs goes on.

    Several actions go on to the next moment at which they can end.
    """
    rules = world.rules
    machine, link = state.machine, state.machine.link
    if link is None:
        return state
    if link.connected:
        node = state.nodes[link.node]
        assert node.link is not None
        cut = node._replace(link=node.link._replace(connected=False))
        state = with_node(state, link.node, cut)
    stale = machine.stale
    if not rules.old_links_are_refused:
        stale = (*stale, *(message for message in link.inbox if message.kind == "input"))[:1]
    queued = machine.is_queued and not rules.queue_ends_with_link
    machine = machine._replace(link=None, is_queued=queued, stale=stale)
    if machine.running and world.configuration.actions > 1:
        machine = machine._replace(is_interrupted=True)
    return with_machine(state, machine)


def with_machine(state: State, machine: Machine) -> State:
    """The state with another machine."""
    record, late, nodes, _, epoch, faults, seen, bus = state
    return State(record, late, nodes, machine, epoch, faults, seen, bus)


def spend(state: State, **left: int) -> State:
    """The state with that many of a fault left."""
    return state._replace(faults=state.faults._replace(**left))
