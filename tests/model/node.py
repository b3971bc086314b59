"""The steps of a node: its end of the link, and how it settles what was sent on links before."""

from collections.abc import Iterator

from tests.model.answers import told
from tests.model.bus import bus_steps
from tests.model.ledger import carry_out
from tests.model.links import end_of_link, tell_machine, with_node
from tests.model.protocol import Rules, World
from tests.model.request import (
    can_send,
    hear,
    is_lost,
    is_older,
    question,
    reported,
    request_steps,
    write_of,
)
from tests.model.state import (
    PENDING,
    SENT,
    UNKNOWN,
    Message,
    Node,
    Record,
    ServerLink,
    State,
    Step,
    Write,
)
from tests.model.without_key import steps_without_key


def node_steps(world: World, state: State, number: int) -> Iterator[Step]:
    """Everything that a node can do, and that can be done to it."""
    link = state.nodes[number].link
    if link is not None:
        yield from _link_steps(world, state, number, link)
    yield from request_steps(world, state, number)
    if not world.configuration.is_keyed:
        yield from steps_without_key(world, state, number)
    if world.configuration.has_bus:
        yield from bus_steps(world, state, number)
    if state.faults.node_kills and state.nodes[number] != Node():
        yield from _kills(world, state, number)


def eager_node_step(world: World, state: State) -> Step | None:
    """A step that may as well come at once: it is the same whether it comes now or later.

    A message that was heard and led to nothing yet is as good as one that was not heard, but for
    a request that waits for it: should the link end, that one fails, and another may begin.  A
    link that never will be ready is as good as none.
    """
    for number, (link, request, _, _) in enumerate(state.nodes):
        if link is None:
            continue
        if link.inbox and (request is None or request.stage not in ("ack", "asked", "sent")):
            return _heard(world, state, number, link)
        is_new = link.stage == "welcomed" or (
            link.stage == "hello" and world.rules.judged_after_ready
        )
        if is_new and not link.connected and not link.inbox:
            ended = end_of_link(world.rules, state, number)
            return Step(f"node {number} notices that its link is gone", False, ended)
    return None


def _kills(world: World, state: State, number: int) -> Iterator[Step]:
    """The process ends and starts anew; a write that it was making is lost, or lands later."""
    link, request, sending, _ = state.nodes[number]
    faults = state.faults._replace(node_kills=state.faults.node_kills - 1)
    killed = state._replace(faults=faults)
    if sending is not None or (request is not None and request.is_client):
        killed = told(killed, PENDING)  # Its clients hear nothing, which says as much.
    killed = with_node(killed, number, state.nodes[number]._replace(request=None))
    if link is not None:
        killed = end_of_link(world.rules, killed, number)
    killed = with_node(killed, number, Node())
    yield Step(f"node {number} is killed", True, killed)
    if state.late is not None:
        return
    writes = [link.write if link is not None and link.stage.startswith("store") else None]
    writes.append(None if request is None else write_of(request))
    for write in writes:
        if write is not None:
            yield Step(
                f"node {number} is killed; its {write.kind} {write.record.state} lands later",
                True,
                killed._replace(late=write),
            )


def _link_steps(world: World, state: State, number: int, link: ServerLink) -> Iterator[Step]:
    if not link.connected:
        ended = end_of_link(world.rules, state, number)
        yield Step(f"node {number} notices that its link is gone", False, ended)
    elif state.faults.cuts:
        faults = state.faults._replace(cuts=state.faults.cuts - 1)
        ended = end_of_link(world.rules, state._replace(faults=faults), number)
        yield Step(f"cut: node {number} gives its link up", True, ended)
    if link.inbox:
        yield _heard(world, state, number, link)
    if state.faults.others and can_send(world.rules, link):
        faults = state.faults._replace(others=state.faults.others - 1)
        sent = tell_machine(state._replace(faults=faults), number, Message("other"))
        yield Step(f"node {number} sends another command", True, sent)
    yield from _settle(world, state, number, link)


def _heard(world: World, state: State, number: int, link: ServerLink) -> Step:
    message = link.inbox[0]
    name = f"node {number} hears {message.kind} {message.outcome or ''}".rstrip()
    return Step(name, False, _hear(world, state, number, link))


def _hear(world: World, state: State, number: int, link: ServerLink) -> State:
    """Take one message of the machine, for the link itself and for the request that waits."""
    message = link.inbox[0]
    hello = link.hello._replace(mark=message.mark) if message.mark else link.hello
    link = link._replace(hello=hello, inbox=link.inbox[1:], seen=max(link.seen, message.sequence))
    match link.stage, message.kind:
        case "welcomed", "ready":
            link = link._replace(stage="judge")
        case "judged", "marked":
            link = link._replace(stage="resolve")
        case "asked", "report" if message.outcome is None:
            link = link._replace(stage="running")
        case ("asked", "report") | ("running", "ack"):
            assert link.write is not None
            outcome = reported(world, message, link.write.record, link)
            record = link.write.record._replace(state=outcome)
            link = link._replace(stage="store", write=link.write._replace(record=record))
    node = state.nodes[number]
    state = with_node(state, number, node._replace(link=link))
    return hear(world, state, number, message)


def _settle(world: World, state: State, number: int, link: ServerLink) -> Iterator[Step]:
    """One step on the way from hello to settled."""
    rules, name = world.rules, f"node {number}"
    match link.stage:
        case "hello":
            hello = link.hello._replace(epoch=state.epoch + 1)
            stage = "welcomed" if rules.judged_after_ready else "judge"
            counted = _at(state, number, link._replace(stage=stage, hello=hello))
            if rules.judged_after_ready:
                counted = tell_machine(counted, number, Message("welcome"))
            counted = counted._replace(epoch=hello.epoch)
            yield Step(f"{name} counts the link, and says welcome", False, counted)
        case "judge":
            yield Step(f"{name} judges what was SENT", False, _judge(rules, state, number, link))
        case "resolve":
            yield Step(f"{name} looks for what is SENT", False, _ask(rules, state, number, link))
        case "store unknown" | "store":
            assert link.write is not None
            again = "judge" if link.stage == "store unknown" else "resolve"
            for written in carry_out(world, state, link.write):
                yield Step(
                    f"{name}, settling: {written.name}",
                    written.is_fault,
                    _stored(rules, written.state, number, again, written.is_done),
                )


def _stored(rules: Rules, state: State, number: int, again: str, is_done: bool | None) -> State:
    """After a write, look again; a write that was not confirmed is made again."""
    link = state.nodes[number].link
    assert link is not None
    if is_done is not None:
        return _at(state, number, link._replace(stage=again, write=None))
    if rules.finish_is_tried_again:
        return state
    if again == "judge":
        return _judged(rules, state, number, link)
    return _at(state, number, link._replace(stage="settled", write=None))


def _judge(rules: Rules, state: State, number: int, link: ServerLink) -> State:
    """Find what no question can answer any more; where nothing is, have the journal marked."""
    record = state.record
    if record is not None and is_older(rules, record, link) and is_lost(rules, record, link):
        return _at(state, number, _with_write(link, "store unknown", record, UNKNOWN))
    return _judged(rules, state, number, link)


def _judged(rules: Rules, state: State, number: int, link: ServerLink) -> State:
    if not rules.judged_before_mark:
        return _at(state, number, link._replace(stage="resolve", write=None))
    judged = _at(state, number, link._replace(stage="judged", write=None))
    return tell_machine(judged, number, Message("judged"))


def _ask(rules: Rules, state: State, number: int, link: ServerLink) -> State:
    """Ask about what an older link has left; where there is nothing, the link is settled."""
    record = state.record
    if record is None or not is_older(rules, record, link):
        return _at(state, number, link._replace(stage="settled"))
    asked = _at(state, number, _with_write(link, "asked", record, SENT))
    return tell_machine(asked, number, question(record))


def _with_write(link: ServerLink, stage: str, record: Record, outcome: str) -> ServerLink:
    write = Write("finish", record.attempt, record._replace(state=outcome))
    return link._replace(stage=stage, write=write)


def _at(state: State, number: int, link: ServerLink) -> State:
    return with_node(state, number, state.nodes[number]._replace(link=link))
