"""The steps on the bus: a node forwards what it is asked, and the holder of the link takes it.

What was said on the bus may arrive at any later time, as often as it likes, or never: it stays
there until nobody can take it any more.  So nothing needs to be said twice, and a lost message is
one that is not taken.
"""

from collections.abc import Iterator

from tests.model.answers import answered, told
from tests.model.links import with_node
from tests.model.protocol import World
from tests.model.request import NOTHING, UP, asks, at_work, begin
from tests.model.state import (
    CLAIMED,
    FINAL,
    NO_JOURNAL,
    PENDING,
    REFUSED,
    SENT,
    Forward,
    Record,
    Reply,
    Request,
    Sending,
    Sent,
    ServerLink,
    State,
    Step,
)
from tests.model.without_key import KEPT_BY_SENDER, send_without_key


def bus_steps(world: World, state: State, number: int) -> Iterator[Step]:
    """What a node forwards, hears of it, and takes of what others forward."""
    node = state.nodes[number]
    if node.sending is not None:
        yield from _wait(world, state, number, node.sending)
    elif state.faults.asks and not is_held(node.link):
        yield from _forward(world, state, number)
    if is_held(node.link):
        assert node.link is not None
        for forward in state.bus.forwards:
            yield from _arrive(world, state, number, node.link, forward)


def time_steps(world: World, state: State) -> Iterator[Step]:
    """A forward's time is over: who has taken it may forget it, and nobody may take it."""
    if not world.configuration.has_deadlines:
        return
    for forward in state.bus.forwards:
        first, second = (node._replace(taken=_without(node.taken, forward)) for node in state.nodes)
        over = state._replace(nodes=(first, second))
        if world.rules.late_forward_is_refused:
            left = _without(state.bus.forwards, forward)
            over = over._replace(bus=state.bus._replace(forwards=left))
        if over != state:
            yield Step(f"the time of forward {forward.number} is over", False, over)


def is_held(link: ServerLink | None) -> bool:
    """Whether a node believes to hold the link of the machine."""
    return link is not None and link.stage in UP


# --- the node that was asked ---


def _forward(world: World, state: State, number: int) -> Iterator[Step]:
    """A client asks a node without the link: one that believes to hold it is asked, or nobody."""
    record = state.record
    if record is not None and record.state in FINAL:
        return
    faults = state.faults._replace(asks=state.faults.asks - 1)
    asked = asks(state._replace(faults=faults))
    name = f"node {number} is asked"
    if record is None or record.state == CLAIMED:
        yield Step(f"{name}, and finds nobody to forward it to", False, told(asked, REFUSED))
    sending = Sending(_free_number(state), ())
    for epoch in _held_epochs(state):
        sent = _sent(world, asked, number, sending, epoch)
        yield Step(f"{name}, and forwards it to link {epoch}", False, sent)


def _sent(world: World, state: State, number: int, sending: Sending, epoch: int) -> State:
    named = epoch if world.rules.forward_names_its_link else 0
    forwards = tuple(sorted({*state.bus.forwards, Forward(sending.number, named)}))
    sending = sending._replace(epochs=tuple(sorted({*sending.epochs, epoch})))
    state = state._replace(bus=state.bus._replace(forwards=forwards))
    return with_node(state, number, state.nodes[number]._replace(sending=sending))


def _wait(world: World, state: State, number: int, sending: Sending) -> Iterator[Step]:
    """A reply comes, or none in time; what has a key is meanwhile sent to newer links too."""
    rules, name = world.rules, f"node {number}"
    for reply in state.bus.replies:
        if reply.forward.number == sending.number:
            heard = _heard(world, state, number, sending, reply)
            yield Step(f"{name} hears on the bus: {reply.answer}", False, heard)
    yield from _give_up(world, state, number, sending)
    if not (world.configuration.is_keyed or not rules.unkeyed_goes_to_one_link):
        return
    for epoch in _held_epochs(state):
        if epoch > max(sending.epochs):
            again = _sent(world, state, number, sending, epoch)
            yield Step(f"{name} forwards it to link {epoch} as well", False, again)
    if not rules.unused_is_said_by_all:
        refused = _over(state, number, REFUSED)
        yield Step(f"{name} forwards it again, and finds nobody", False, refused)


def _heard(world: World, state: State, number: int, sending: Sending, reply: Reply) -> State:
    """Relay what is final; that nothing has happened, where no other link may have been asked."""
    if reply.answer != REFUSED:
        return _over(state, number, reply.answer)
    epochs = tuple(epoch for epoch in sending.epochs if epoch != reply.forward.epoch)
    if not reply.forward.epoch:
        epochs = sending.epochs[1:]
    if not epochs or not world.rules.unused_is_said_by_all:
        return _over(state, number, REFUSED)
    left = sending._replace(epochs=epochs)
    return with_node(state, number, state.nodes[number]._replace(sending=left))


def _give_up(world: World, state: State, number: int, sending: Sending) -> Iterator[Step]:
    """No reply in time: it is not known what becomes of it; without a key that is recorded."""
    name = f"node {number} hears nothing in time"
    if world.configuration.is_keyed:
        yield Step(name, False, _over(state, number, PENDING))
    elif state.nodes[number].request is None:
        sent = Sent(sending.epochs[0], NO_JOURNAL, 0, 0)
        kept = Request("keep", Record(SENT, KEPT_BY_SENDER, sent), is_client=True)
        node = state.nodes[number]._replace(sending=None, request=kept)
        yield Step(name, False, with_node(state, number, node))


def _over(state: State, number: int, answer: str) -> State:
    node = state.nodes[number]._replace(sending=None)
    return told(with_node(state, number, node), answer)


# --- the node that holds the link ---


def _arrive(
    world: World, state: State, number: int, link: ServerLink, forward: Forward
) -> Iterator[Step]:
    """A forward arrives, now or once more: it is taken, refused, or known already."""
    name = f"forward {forward.number} arrives at node {number}"
    if forward.epoch not in (0, link.hello.epoch):
        if not world.rules.only_the_named_link_answers:
            yield Step(f"{name}, which has another link", False, _replied(state, forward, REFUSED))
        return
    node, record = state.nodes[number], state.record
    if forward in node.taken:
        return
    if world.configuration.is_keyed and record is not None and record.state in FINAL:
        yield Step(f"{name}: {record.state}", False, _replied(state, forward, record.state))
        return
    rules = world.rules
    taken = _remembered(state, number, forward) if rules.taken_forward_is_remembered else state
    if node.request is not None:
        if world.configuration.is_keyed and forward not in node.request.waiters:
            yield Step(f"{name}, which is at work on it", False, _joined(taken, number, forward))
        return
    if record is None or record.state == CLAIMED or not world.configuration.is_keyed:
        remembers = rules.refused_forward_is_remembered
        refused = _remembered(state, number, forward) if remembers else state
        yield Step(f"{name}, and is refused", False, _replied(refused, forward, REFUSED))
    asked = Request("", NOTHING, waiters=(forward,))
    work = begin if world.configuration.is_keyed else send_without_key
    steps = work(world, taken, number, link, asked)
    for step in steps:
        yield step._replace(name=f"{name}; {step.name}")


def _joined(state: State, number: int, forward: Forward) -> State:
    request = state.nodes[number].request
    assert request is not None
    waiters = tuple(sorted({*request.waiters, forward}))
    return at_work(state, number, request._replace(waiters=waiters))


def _remembered(state: State, number: int, forward: Forward) -> State:
    node = state.nodes[number]
    taken = tuple(sorted({*node.taken, forward}))
    return with_node(state, number, node._replace(taken=taken))


def _replied(state: State, forward: Forward, answer: str) -> State:
    return answered(state, Request("", NOTHING, waiters=(forward,)), answer)


def _held_epochs(state: State) -> list[int]:
    """The epochs of all links that some node believes to hold."""
    links = (node.link for node in state.nodes)
    return [link.hello.epoch for link in links if link is not None and is_held(link)]


def _free_number(state: State) -> int:
    used = {forward.number for forward in state.bus.forwards}
    used |= {reply.forward.number for reply in state.bus.replies}
    for node in state.nodes:
        used |= {forward.number for forward in node.taken}
        if node.sending is not None:
            used.add(node.sending.number)
        if node.request is not None:
            used |= {forward.number for forward in node.request.waiters}
    return next(number for number in range(1, 12) if number not in used)


def _without(forwards: tuple[Forward, ...], forward: Forward) -> tuple[Forward, ...]:
    return tuple(each for each in forwards if each != forward)
