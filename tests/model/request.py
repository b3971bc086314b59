"""The steps of a node's work on the key: claim, send, ask, store, answer.

Clients ask as often as they like at whichever node: whenever a node is not at work on the key, it
may begin.  A claim is one step from its write to its send, because a node does nothing in between
that another could see; and so is the final write with its answer: whoever reads a final record
may have been given it as an answer at once.
"""

from collections.abc import Iterator

from tests.model.ledger import carry_out, free_attempt
from tests.model.links import tell_machine, with_node
from tests.model.protocol import Rules, World
from tests.model.state import (
    CLAIMED,
    EXPIRED,
    FINAL,
    SENT,
    UNKNOWN,
    Message,
    Node,
    Record,
    Request,
    Sent,
    ServerLink,
    State,
    Step,
    Write,
)

_UP = frozenset({"resolve", "asked", "running", "store", "settled"})
_READY = _UP | {"judge", "store unknown", "judged"}
_KINDS = {
    "claim": "claim",
    "mark": "mark sent",
    "take": "take over",
    "expire": "expire",
    "forget": "forget",
    "finish": "finish",
}


def can_send(rules: Rules, link: ServerLink) -> bool:
    """Whether new input may be sent on a link: what still runs will be acknowledged on it first."""
    return link.stage in ("settled", "running") or (
        not rules.settled_before_new and link.stage in _UP
    )


def is_older(rules: Rules, record: Record, link: ServerLink) -> bool:
    """Whether a record was SENT on a link before this one."""
    if record.state != SENT or record.sent is None:
        return False
    return record.sent.epoch < link.hello.epoch or not rules.epoch_is_compared


def is_lost(rules: Rules, record: Record, link: ServerLink) -> bool:
    """Whether the machine's hello shows that its journal cannot know what became of a record."""
    sent, hello = record.sent, link.hello
    assert sent is not None
    return (
        (rules.journal_id_is_compared and hello.journal != sent.journal)
        or (rules.sequence_is_compared and hello.sequence < sent.sequence)
        or (rules.boot_is_compared and hello.boot != sent.boot)
    )


def write_of(request: Request) -> Write | None:
    """The write that a request waits for, if it does."""
    kind = _KINDS.get(request.stage)
    if kind is None:
        return None
    return Write(kind, request.taken or request.record.attempt, request.record)


def request_steps(world: World, state: State, number: int) -> Iterator[Step]:
    """Begin a request, or take it one step on."""
    link, request = state.nodes[number]
    if request is None:
        if link is not None and (state.record is None or state.record.state not in FINAL):
            yield from _begin(world, state, number, link)
        return
    write = write_of(request)
    if write is not None:
        yield from _write(world, state, number, request, write)
    elif request.stage == "hold":
        yield from _hold(world, state, number, request)


def _hold(world: World, state: State, number: int, request: Request) -> Iterator[Step]:
    """The claim waits for the link to settle, to be marked SENT; where it waits in vain, it ends.

    Its key may have been used when the ledger's record of then is gone: whoever waits too long
    knows that nothing was sent now, and only the machine's journal knows of then.
    """
    link = state.nodes[number].link
    if link is None:
        yield from _start_write(world, state, number, request._replace(stage="forget"))
        return
    if world.configuration.has_deadlines:
        ended = request._replace(stage="forget")
        if not world.rules.unsent_is_never_final:
            ended = Request("expire", request.record._replace(state=EXPIRED))
        yield Step(f"node {number} has waited too long", False, _at(state, number, ended))
    if can_send(world.rules, link):
        record = Record(SENT, request.record.attempt, sent_on(link))
        yield Step(f"node {number} has settled", False, _at(state, number, Request("mark", record)))


def sent_on(link: ServerLink) -> Sent:
    """What a record says of the link that it is sent on."""
    return link.hello._replace(sequence=link.seen)


def _begin(world: World, state: State, number: int, link: ServerLink) -> Iterator[Step]:
    """A client asks, and the machine is here: the node claims; while it settles, to send later.

    It may do so on a settled link too: that is the same as a claim that took long.
    """
    rules, attempt = world.rules, free_attempt(state)
    if world.configuration.claims_while_settling and link.stage in _READY:
        claimed = Request("claim", Record(CLAIMED, attempt, None))
        yield from _start_write(world, state, number, claimed)
    if can_send(rules, link):
        if not rules.sent_before_bytes:
            state = tell_machine(state, number, Message("input"))
        sent = Request("claim", Record(SENT, attempt, sent_on(link)))
        yield Step(f"node {number} is asked", False, _at(state, number, sent))


def _start_write(world: World, state: State, number: int, request: Request) -> Iterator[Step]:
    """Begin and make a write in one step, as what it writes does not depend on when it is made."""
    write = write_of(request)
    assert write is not None
    yield from _write(world, _at(state, number, request), number, request, write)


def _write(
    world: World, state: State, number: int, request: Request, write: Write
) -> Iterator[Step]:
    rules = world.rules
    for written in carry_out(world, state, write):
        name, is_fault = f"node {number}: {written.name}", written.is_fault
        if written.is_done is None:
            may_give_up = request.stage != "finish" or not rules.finish_is_tried_again
            if may_give_up:
                yield Step(f"{name}; it gives up", is_fault, _at(written.state, number, None))
            if request.stage != "finish" or rules.finish_is_tried_again:
                yield Step(name, is_fault, written.state)
        elif request.stage in ("forget", "finish", "expire"):
            yield Step(name, is_fault, _at(written.state, number, None))
        elif written.is_done:
            yield Step(name, is_fault, _won(rules, written.state, number, request.record))
        else:
            for step in _known(world, written.state, number, request):
                yield step._replace(name=f"{name} loses; {step.name}")


def _won(rules: Rules, state: State, number: int, record: Record) -> State:
    """The claim is this node's: wait until the link has settled, or send at once."""
    if record.state == CLAIMED:
        return _at(state, number, Request("hold", record))
    link = state.nodes[number].link
    assert record.sent is not None
    if link is None or link.hello.epoch != record.sent.epoch:
        return _at(state, number, Request("forget", record))
    if rules.sent_before_bytes:
        state = tell_machine(state, number, Message("input"))
    return _at(state, number, Request("ack", record))


def _known(world: World, state: State, number: int, request: Request) -> Iterator[Step]:
    """The claim was not made: the record says why."""
    rules = world.rules
    record, link = state.record, state.nodes[number].link
    ended = _at(state, number, None)
    if record is None or record.state in FINAL:
        yield Step("it ends", False, ended)
    elif record.attempt == request.record.attempt or (
        record.state == SENT and not rules.claim_is_known_by_attempt
    ):
        won = request.record if not rules.claim_is_known_by_attempt else record
        yield Step("it is its own", False, _won(rules, state, number, won))
    elif record.state == CLAIMED:
        yield Step("it ends", False, ended)
        if link is not None:
            taken = Record(CLAIMED, request.record.attempt, None)
            take_over = Request("take", taken, record.attempt)
            if rules.takeover_compares:
                yield from _start_write(world, state, number, take_over)
            else:
                yield Step("the lease is over", False, _at(state, number, take_over))
    elif link is not None and can_send(rules, link):
        yield _ask(rules, state, number, record, link)
    else:
        yield Step("it ends", False, ended)


def _ask(rules: Rules, state: State, number: int, record: Record, link: ServerLink) -> Step:
    """Resolve what is SENT: by the hello, or by asking the machine."""
    if not rules.sent_is_never_sent_again:
        again = tell_machine(state, number, Message("input"))
        return Step("it sends again", False, _at(again, number, Request("ack", record)))
    if is_older(rules, record, link) and is_lost(rules, record, link):
        unknown = Request("finish", record._replace(state=UNKNOWN))
        return Step("it judges", False, _at(state, number, unknown))
    asked = tell_machine(state, number, question(record))
    return Step("it asks the machine", False, _at(asked, number, Request("asked", record)))


def question(record: Record) -> Message:
    """Ask the machine what became of a command that was SENT, and name the mark of then."""
    assert record.sent is not None
    return Message("resolve", mark=record.sent.mark)


def hear(rules: Rules, state: State, number: int, message: Message) -> State:
    """Give a message of the machine to the request that waits for it."""
    request = state.nodes[number].request
    if request is None:
        return state
    match request.stage, message.kind:
        case "asked", "report" if message.outcome is None:
            return _at(state, number, request._replace(stage="ack"))
        case ("asked", "report") | ("ack", "ack"):
            assert message.outcome is not None
            if not rules.stored_before_answered and state.seen.answer is None:
                state = state._replace(seen=state.seen._replace(answer=message.outcome))
            record = request.record._replace(state=message.outcome)
            return _at(state, number, Request("finish", record))
    return state


def _at(state: State, number: int, request: Request | None) -> State:
    return with_node(state, number, Node(state.nodes[number].link, request))
