"""The steps of a node's work on the key: claim, send, ask, store, answer.

Clients ask as often as they like at whichever node: whenever a node is not at work on the key, it
may begin.  A claim is one step from its write to its send, because a node does nothing in between
that another could see; and so is the final write with its answer: whoever reads a final record
may have been given it as an answer at once.
"""

from collections.abc import Iterator

from tests.model.answers import answered
from tests.model.ledger import carry_out, free_attempt
from tests.model.links import tell_machine, with_node
from tests.model.protocol import Rules, World
from tests.model.state import (
    CLAIMED,
    EXPIRED,
    FINAL,
    NO_JOURNAL,
    NOT_CARRIED_OUT,
    PENDING,
    REFUSED,
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

UP = frozenset({"resolve", "asked", "running", "store", "settled"})
_READY = UP | {"judge", "store unknown", "judged"}
_KINDS = {
    "claim": "claim",
    "mark": "mark sent",
    "take": "take over",
    "expire": "expire",
    "forget": "forget",
    "finish": "finish",
    "keep": "claim",
}


NOTHING = Record("", 0, None)
"""What a request is about before it has claimed anything."""


def can_send(rules: Rules, link: ServerLink) -> bool:
    """Whether new input may be sent on a link: what still runs will be acknowledged on it first."""
    return link.stage in ("settled", "running") or (
        not rules.settled_before_new and link.stage in UP
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
    if sent.journal == NO_JOURNAL:
        return False
    return (rules.journal_id_is_compared and hello.journal != sent.journal) or (
        rules.sequence_is_compared and hello.sequence < sent.sequence
    )


def write_of(request: Request) -> Write | None:
    """The write that a request waits for, if it does."""
    kind = _KINDS.get(request.stage)
    if kind is None:
        return None
    return Write(kind, request.taken or request.record.attempt, request.record)


def request_steps(world: World, state: State, number: int) -> Iterator[Step]:
    """Begin a request, or take it one step on."""
    link, request, _, _ = state.nodes[number]
    if request is None:
        is_open = state.record is None or state.record.state not in FINAL
        if link is not None and is_open and world.configuration.is_keyed:
            asked = Request("", NOTHING, is_client=world.configuration.has_bus)
            yield from begin(world, asks(state), number, link, asked)
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
        late = request._replace(stage="forget")
        if not world.rules.unsent_is_never_final:
            expired = request.record._replace(state=EXPIRED)
            late = request._replace(stage="expire", record=expired)
        yield Step(f"node {number} has waited too long", False, at_work(state, number, late))
    if can_send(world.rules, link):
        record = Record(SENT, request.record.attempt, sent_on(link))
        marked = request._replace(stage="mark", record=record)
        yield Step(f"node {number} has settled", False, at_work(state, number, marked))


def sent_on(link: ServerLink) -> Sent:
    """What a record says of the link that it is sent on."""
    return link.hello._replace(sequence=link.seen)


def asks(state: State) -> State:
    """A client asks: from now on what is asked for may happen."""
    if not state.seen.is_unused:
        return state
    return state._replace(seen=state.seen._replace(is_unused=False))


def begin(
    world: World, state: State, number: int, link: ServerLink, asked: Request
) -> Iterator[Step]:
    """Somebody asks, and the machine is here: the node claims; while it settles, to send later.

    It may do so on a settled link too: that is the same as a claim that took long.
    """
    rules, attempt = world.rules, free_attempt(state)
    if world.configuration.claims_while_settling and link.stage in _READY:
        claimed = asked._replace(stage="claim", record=Record(CLAIMED, attempt, None))
        yield from _start_write(world, state, number, claimed)
    if can_send(rules, link):
        if not rules.sent_before_bytes:
            state = tell_machine(state, number, Message("input"))
        sent = asked._replace(stage="claim", record=Record(SENT, attempt, sent_on(link)))
        yield Step(f"node {number} is asked", False, at_work(state, number, sent))


def _start_write(world: World, state: State, number: int, request: Request) -> Iterator[Step]:
    """Begin and make a write in one step, as what it writes does not depend on when it is made."""
    write = write_of(request)
    assert write is not None
    yield from _write(world, at_work(state, number, request), number, request, write)


def _write(
    world: World, state: State, number: int, request: Request, write: Write
) -> Iterator[Step]:
    rules = world.rules
    for written in carry_out(world, state, write):
        name, is_fault = f"node {number}: {written.name}", written.is_fault
        if written.is_done is None:
            may_give_up = request.stage != "finish" or not rules.finish_is_tried_again
            if may_give_up:
                given_up = ended(written.state, number, request, PENDING)
                yield Step(f"{name}; it gives up", is_fault, given_up)
            if request.stage != "finish" or rules.finish_is_tried_again:
                yield Step(name, is_fault, written.state)
        elif request.stage in ("forget", "finish", "expire", "keep"):
            answer = _answer_after(written.state, request)
            yield Step(name, is_fault, ended(written.state, number, request, answer))
        elif written.is_done:
            yield Step(name, is_fault, _won(rules, written.state, number, request))
        else:
            for step in _known(world, written.state, number, request):
                yield step._replace(name=f"{name} loses; {step.name}")


def _answer_after(state: State, request: Request) -> str:
    """What a request is answered after its last write: what is stored, or that nothing was sent."""
    record = state.record
    if record is not None and record.state in FINAL and request.stage != "keep":
        return record.state
    if request.stage == "forget" and (record is None or record.state == CLAIMED):
        return REFUSED
    return PENDING


def _won(rules: Rules, state: State, number: int, request: Request) -> State:
    """The claim is this node's: wait until the link has settled, or send at once."""
    record, link = request.record, state.nodes[number].link
    if record.state == CLAIMED:
        return at_work(state, number, request._replace(stage="hold", taken=0))
    assert record.sent is not None
    if link is None or link.hello.epoch != record.sent.epoch:
        return at_work(state, number, request._replace(stage="forget", taken=0))
    if rules.sent_before_bytes:
        state = tell_machine(state, number, Message("input"))
    return at_work(state, number, request._replace(stage="ack", taken=0))


def _known(world: World, state: State, number: int, request: Request) -> Iterator[Step]:
    """The claim was not made: the record says why."""
    rules = world.rules
    record, link = state.record, state.nodes[number].link
    if record is None or record.state in FINAL:
        answer = PENDING if record is None else record.state
        yield Step("it ends", False, ended(state, number, request, answer))
    elif record.attempt == request.record.attempt or (
        record.state == SENT and not rules.claim_is_known_by_attempt
    ):
        won = request if not rules.claim_is_known_by_attempt else request._replace(record=record)
        yield Step("it is its own", False, _won(rules, state, number, won))
    elif record.state == CLAIMED:
        yield Step("it ends", False, ended(state, number, request, PENDING))
        if link is not None:
            taken = Record(CLAIMED, request.record.attempt, None)
            take_over = request._replace(stage="take", record=taken, taken=record.attempt)
            if rules.takeover_compares:
                yield from _start_write(world, state, number, take_over)
            else:
                yield Step("the lease is over", False, at_work(state, number, take_over))
    elif link is not None and can_send(rules, link):
        yield ask(rules, state, number, link, request._replace(record=record, taken=0))
    else:
        yield Step("it ends", False, ended(state, number, request, PENDING))


def ask(rules: Rules, state: State, number: int, link: ServerLink, request: Request) -> Step:
    """Resolve what is SENT: by the hello, or by asking the machine."""
    record = request.record
    if not rules.sent_is_never_sent_again:
        again = tell_machine(state, number, Message("input"))
        return Step("it sends again", False, at_work(again, number, request._replace(stage="ack")))
    if is_older(rules, record, link) and is_lost(rules, record, link):
        unknown = request._replace(stage="finish", record=record._replace(state=UNKNOWN))
        return Step("it judges", False, at_work(state, number, unknown))
    asked = tell_machine(state, number, question(record))
    request = request._replace(stage="asked")
    return Step("it asks the machine", False, at_work(asked, number, request))


def question(record: Record) -> Message:
    """Ask the machine what became of a command that was SENT, and name the mark of then."""
    assert record.sent is not None
    return Message("resolve", mark=record.sent.mark)


def reported(world: World, message: Message, record: Record, link: ServerLink | None) -> str:
    """What a machine's word on a command means, that was sent on this link or an older one.

    The journal may have lost what has no key when the machine client was killed, and anything when
    the machine was started anew: it may be a copy with all of its image.
    """
    assert message.outcome is not None
    is_forgetful = not world.configuration.is_keyed and world.rules.unkeyed_may_be_forgotten
    has_booted = (
        record.sent is not None and link is not None and link.hello.boot != record.sent.boot
    )
    is_forgetful = is_forgetful or (has_booted and world.rules.boot_is_compared)
    if message.kind == "report" and message.outcome == NOT_CARRIED_OUT and is_forgetful:
        return UNKNOWN
    return message.outcome


def hear(world: World, state: State, number: int, message: Message) -> State:
    """Give a message of the machine to the request that waits for it."""
    link, request, _, _ = state.nodes[number]
    if request is None:
        return state
    match request.stage, message.kind:
        case "asked", "report" if message.outcome is None:
            return at_work(state, number, request._replace(stage="ack"))
        case ("asked", "report") | ("ack", "ack"):
            outcome = reported(world, message, request.record, link)
            if not world.rules.stored_before_answered and state.seen.answer is None:
                state = state._replace(seen=state.seen._replace(answer=outcome))
            record = request.record._replace(state=outcome)
            return at_work(state, number, request._replace(stage="finish", record=record, taken=0))
        case "sent", "ack":
            return ended(state, number, request, reported(world, message, request.record, link))
    return state


def ended(state: State, number: int, request: Request, answer: str) -> State:
    """A node's work has ended, and whoever waits is answered."""
    return answered(at_work(state, number, None), request, answer)


def at_work(state: State, number: int, request: Request | None) -> State:
    """The state with other work on the key in the place of a node's."""
    link, _, sending, taken = state.nodes[number]
    return with_node(state, number, Node(link, request, sending, taken))
