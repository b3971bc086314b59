"""What a node's end of a link does: it is counted, reads whose the lease is, sends and hears."""

from collections.abc import Iterator

from tests.model.control.protocol import Rules, World
from tests.model.control.state import (
    ADA,
    ASKING,
    BOB,
    COUNTED,
    FORMER,
    HOLDER,
    INPUT,
    INTERRUPT,
    NAMES,
    NOBODY,
    OPENED,
    OVER,
    UP,
    WAITING,
    Faults,
    Link,
    Read,
    Said,
    State,
    Step,
    with_link,
    with_taker,
)


def link_steps(world: World, state: State) -> Iterator[Step]:
    """Every step of the nodes' ends of links."""
    rules = world.rules
    for number, link in enumerate(state.links):
        if link.stage == OVER:
            continue
        yield from _greeting_steps(rules, state, number, link)
        yield from _reading_steps(rules, state, number, link)
        if link.stage == UP:
            yield from _sending_steps(rules, state, number, link)
        is_left = state.machine.link != number
        yield Step(f"node gives link {number} up", is_left, _over(state, number))


def _over(state: State, number: int) -> State:
    """A node's end of a link is closed; what it wrote may still arrive."""
    return with_link(state, number, Link(OVER, to_machine=state.links[number].to_machine))


def _greeting_steps(rules: Rules, state: State, number: int, link: Link) -> Iterator[Step]:
    if link.stage == OPENED and (link.has_read or rules.read_after_counted):
        epoch = state.epoch + 1
        counted = with_link(state, number, link._replace(stage=COUNTED, epoch=epoch))
        yield Step(f"link {number} is counted", True, counted._replace(epoch=epoch))
    elif link.stage == COUNTED and (link.has_read or rules.read_when_found):
        found = with_link(state, number, link._replace(stage=UP))
        yield Step(f"link {number} can be found", True, found)


def _reading_steps(rules: Rules, state: State, number: int, link: Link) -> Iterator[Step]:
    """Reads that begin, and reads that bring an answer, in whatever order they may."""
    may_begin = not link.reads or (not rules.one_read_at_a_time and len(link.reads) < 2)
    if may_begin and _wants_to_read(rules, state, link):
        yield Step(f"link {number} begins to read", True, begin_read(state, number, reader=0))
    for place, read in enumerate(link.reads):
        others = (*link.reads[:place], *link.reads[place + 1 :])
        after = _restricted(rules, state, number, link._replace(reads=others), read)
        yield Step(f"link {number} has read of {NAMES[read.lease]}", True, after)


def _wants_to_read(rules: Rules, state: State, link: Link) -> bool:
    """Whether a link looks by itself: when it is new, and later where there is something new."""
    if any(read.reader == 0 for read in link.reads):
        return False
    if link.has_read:
        return rules.links_look and link.stage == UP and link.knows != state.lease
    if not rules.read_after_counted:
        return link.stage == OPENED
    return link.stage == (UP if rules.read_when_found else COUNTED)


def begin_read(state: State, number: int, *, reader: int) -> State:
    """A link asks the database whose the lease is, for itself or for somebody who takes."""
    link = state.links[number]
    reads = (*link.reads, Read(reader, state.lease))
    return with_link(state, number, link._replace(reads=reads))


def _restricted(rules: Rules, state: State, number: int, link: Link, read: Read) -> State:
    """A link knows what was read; where that is another's lease, the machine is interrupted."""
    before, has_read = link.knows, link.has_read or read.reader == 0
    state = with_link(state, number, link._replace(knows=read.lease, has_read=has_read))
    if read.reader:
        taker = state.takers[read.reader - 1]
        if taker.stage == ASKING and taker.link == number:
            state = with_taker(state, read.reader, taker._replace(stage=WAITING))
    if before == read.lease:
        return state
    interrupts = rules.end_interrupts if read.lease == NOBODY else rules.beginning_interrupts
    return _interrupting(state, number) if interrupts else state


def _interrupting(state: State, number: int) -> State:
    link = state.links[number]
    if state.machine.link != number:
        return with_link(state, number, link._replace(open=1))
    return with_link(
        state, number, _telling(state, number, link, Said(INTERRUPT))._replace(open=link.open + 1)
    )


def _telling(state: State, number: int, link: Link, said: Said) -> Link:
    """The link with a message on its way, which goes nowhere where the machine has left it."""
    if state.machine.link != number:
        return link
    return link._replace(to_machine=(*link.to_machine, said))


def _sending_steps(rules: Rules, state: State, number: int, link: Link) -> Iterator[Step]:
    """An input has its slot reserved, is recorded meanwhile, and is sent or refused."""
    if link.reserved >= 0:
        if link.has_read or not rules.new_link_reads:
            yield Step(
                f"input of {NAMES[link.reserved]} is sent", True, _sent(rules, state, number)
            )
        return
    for sender, left in enumerate(state.left.inputs):
        has_lease = sender and state.takers[sender - 1].stage in (HOLDER, FORMER)
        if left and link.knows == sender and (sender == NOBODY or has_lease):
            reserved = with_link(state, number, link._replace(reserved=sender))
            after = reserved._replace(left=_less_an_input(state.left, sender))
            yield Step(f"input of {NAMES[sender]} has a slot on link {number}", False, after)


def _less_an_input(left: Faults, sender: int) -> Faults:
    program, ada, bob = left.inputs
    inputs = program - (sender == NOBODY), ada - (sender == ADA), bob - (sender == BOB)
    return left._replace(inputs=inputs)


def _sent(rules: Rules, state: State, number: int) -> State:
    link = state.links[number]
    sender, link = link.reserved, link._replace(reserved=-1)
    if rules.checked_when_sent and link.knows != sender:
        return with_link(state, number, link)
    return with_link(state, number, _telling(state, number, link, Said(INPUT, sender)))
