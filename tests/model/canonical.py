"""States that differ in nothing that matters, brought to one form."""

from functools import lru_cache
from typing import NamedTuple

from tests.model.attempts import with_attempts_in_order
from tests.model.protocol import World
from tests.model.state import (
    Bus,
    Forward,
    Journal,
    Machine,
    MachineLink,
    Message,
    Node,
    Record,
    Reply,
    Sending,
    State,
    Write,
)


def canonical(world: World, state: State) -> State:
    """The same state in a form of its own, so that what differs in nothing that matters is equal.

    The two nodes are alike, and so are all attempts; to which node a link led matters to the
    machine while the node's end is there, and what a power cut would leave while one may come.
    """
    configuration, rules = world.configuration, world.rules
    if configuration.marks_have_ids:
        state = _with_dense_marks(state)
    record, late, nodes, machine, epoch, faults, seen, bus = state
    if not configuration.is_keyed and (seen.was_interrupted or seen.lost_epoch):
        # No promise asks there whether it is honest that nobody knows.
        seen = seen._replace(was_interrupted=False, lost_epoch=0)
    is_named = rules.forward_names_its_link and rules.only_the_named_link_answers
    bounds = _Bounds(configuration.has_bus, configuration.is_keyed, is_named)
    in_form = _in_form(bounds, record, late, nodes, epoch, seen.lost_epoch, bus)
    (record, late, nodes, epoch, lost_epoch, bus), in_order = in_form
    if lost_epoch != seen.lost_epoch:
        seen = seen._replace(lost_epoch=lost_epoch)
    link, journal = machine.link, machine.journal
    if link is not None:
        link = _link_with(link, link.node if in_order else 1 - link.node)
    if not configuration.is_keyed:
        if journal.entry != journal.flushed_entry and not (faults.machine_kills or faults.restores):
            journal = journal._replace(flushed_entry=journal.entry)
    elif not faults.reboots and (
        journal.flushed_sequence or journal.flushed_entry or journal.flushed_marks
    ):
        journal = Journal(journal.id, journal.sequence, journal.entry, 0, None, journal.marks)
    if link is not machine.link or journal is not machine.journal:
        _, running, is_queued, _, boot, copies, stale, stops = machine
        machine = Machine(link, running, is_queued, journal, boot, copies, stale, stops)
    return State(record, late, nodes, machine, epoch, faults, seen, bus)


def _link_with(link: MachineLink, number: int) -> MachineLink:
    """The machine's end of its link to the node that has this number now: 0 where it is cut."""
    was, inbox, connected, is_up, is_owed = link
    if not connected:
        number = 0
    return link if number == was else MachineLink(number, inbox, connected, is_up, is_owed)


class _Bounds(NamedTuple):
    """What the form depends on beside the state; ``is_named`` is whether forwards name links."""

    has_bus: bool
    is_keyed: bool
    is_named: bool


_Numbered = tuple[Record | None, Write | None, tuple[Node, Node], int, int, Bus]


@lru_cache(maxsize=1 << 16)
def _in_form(
    bounds: _Bounds,
    record: Record | None,
    late: Write | None,
    nodes: tuple[Node, Node],
    epoch: int,
    lost_epoch: int,
    bus: Bus,
) -> tuple[_Numbered, bool]:
    """All that has epochs or attempts in one form, and whether the nodes have kept their order.

    It is kept, as the same comes again with every state that the machine can be in meanwhile.
    """
    if bounds.has_bus:
        nodes, bus = _with_live_bus(nodes, bus, is_named=bounds.is_named)
    numbered = _numbered_densely(record, late, nodes, epoch, lost_epoch, bus)
    record, late, (first, second), epoch, lost_epoch, bus = numbered
    ways = [(record, late, (first, second)), (record, late, (second, first))]
    if bounds.is_keyed:  # Without a key an attempt says who has made it.
        ways = [with_attempts_in_order(*way) for way in ways]
    (record, late, nodes), (_, _, turned) = ways
    in_order = hash(nodes) <= hash(turned)
    if not in_order:
        nodes = turned
    return (record, late, nodes, epoch, lost_epoch, bus), in_order


def forget_forms() -> None:
    """Keep no forms for whoever explores next."""
    _in_form.cache_clear()


def _with_live_bus(
    nodes: tuple[Node, Node], bus: Bus, *, is_named: bool
) -> tuple[tuple[Node, Node], Bus]:
    """The same nodes and bus without what was said on it and nobody can take any more.

    That is a forward whose link is gone, where it ``is_named`` and no other link answers, and a
    reply that nobody waits for.
    """
    forwards, replies = bus
    if is_named:
        links = (node.link for node in nodes)
        held = {link.hello.epoch for link in links if link is not None}
        forwards = tuple(forward for forward in forwards if forward.epoch in held)
    sendings = {node.sending for node in nodes if node.sending is not None}
    awaited = {sending.number for sending in sendings}
    replies = tuple(reply for reply in replies if _is_awaited(reply, sendings))
    first, second = (_with_live_forwards(node, forwards, awaited) for node in nodes)
    return (first, second), Bus(forwards, replies)


def _is_awaited(reply: Reply, sendings: set[Sending]) -> bool:
    return any(
        reply.forward.number == sending.number and reply.forward.epoch in (0, *sending.epochs)
        for sending in sendings
    )


def _with_live_forwards(node: Node, forwards: tuple[Forward, ...], awaited: set[int]) -> Node:
    if node.taken:
        taken = tuple(forward for forward in node.taken if forward in forwards)
        node = node._replace(taken=taken)
    request = node.request
    if request is not None and request.waiters:
        waiters = tuple(forward for forward in request.waiters if forward.number in awaited)
        node = node._replace(request=request._replace(waiters=waiters))
    return node


def _numbered_densely(
    record: Record | None,
    late: Write | None,
    nodes: tuple[Node, Node],
    epoch: int,
    lost_epoch: int,
    bus: Bus,
) -> _Numbered:
    """All that has epochs, with those that occur numbered without gaps: only order counts."""
    used = {0, lost_epoch}
    records = [record, late.record if late is not None else None]
    for link, request, sending, _ in nodes:
        if link is not None:
            used.add(link.hello.epoch)
            records.append(link.write.record if link.write is not None else None)
        if request is not None:
            records.append(request.record)
            used |= {forward.epoch for forward in request.waiters}
        if sending is not None:
            used |= set(sending.epochs)
    used |= {forward.epoch for forward in bus.forwards}
    used |= {reply.forward.epoch for reply in bus.replies}
    used |= {each.sent.epoch for each in records if each is not None and each.sent}
    if epoch == len(used) - 1:
        return record, late, nodes, epoch, lost_epoch, bus
    rank = {epoch: number for number, epoch in enumerate(sorted(used))}
    return (
        record and _ranked(record, rank),
        late and late._replace(record=_ranked(late.record, rank)),
        (_ranked_node(nodes[0], rank), _ranked_node(nodes[1], rank)),
        len(used) - 1,
        rank[lost_epoch],
        _ranked_bus(bus, rank),
    )


def fresh_mark(state: State) -> int:
    """An id that no mark has: on a real machine it is random."""
    journals = (state.machine.journal, *state.machine.copies)
    made = (mark for journal in journals for mark in (*journal.marks, *journal.flushed_marks))
    return max(_known_marks(state) | set(made), default=0) + 1


def _known_marks(state: State) -> set[int]:
    """Every mark that somebody may still ask about: it is in a record, or known to a link."""
    records = [state.record, state.late.record if state.late is not None else None]
    known = set()
    for link, request, _, _ in state.nodes:
        if link is not None:
            known |= {link.hello.mark, *(message.mark for message in link.inbox)}
            records.append(link.write.record if link.write is not None else None)
        if request is not None:
            records.append(request.record)
    if state.machine.link is not None:
        known |= {message.mark for message in state.machine.link.inbox}
    known |= {record.sent.mark for record in records if record is not None and record.sent}
    return known - {0}


def _with_dense_marks(state: State) -> State:
    """The same state without the marks that nobody asks about, the others numbered without gaps."""
    known = sorted(_known_marks(state))
    rank = {0: 0, **{mark: number for number, mark in enumerate(known, 1)}}
    machine, late = state.machine, state.late
    link = machine.link
    if link is not None:
        link = link._replace(inbox=_inbox_with(link.inbox, rank))
    machine = machine._replace(
        link=link,
        journal=_journal_with(machine.journal, rank),
        copies=tuple(_journal_with(copy, rank) for copy in machine.copies),
    )
    return state._replace(
        record=state.record and _record_with(state.record, rank),
        late=late and late._replace(record=_record_with(late.record, rank)),
        nodes=(_node_with(state.nodes[0], rank), _node_with(state.nodes[1], rank)),
        machine=machine,
    )


def _journal_with(journal: Journal, rank: dict[int, int]) -> Journal:
    return journal._replace(
        marks=tuple(rank[mark] for mark in journal.marks if mark in rank),
        flushed_marks=tuple(rank[mark] for mark in journal.flushed_marks if mark in rank),
    )


def _record_with(record: Record, rank: dict[int, int]) -> Record:
    if record.sent is None:
        return record
    return record._replace(sent=record.sent._replace(mark=rank[record.sent.mark]))


def _node_with(node: Node, rank: dict[int, int]) -> Node:
    link, request, _, _ = node
    if link is not None:
        hello = link.hello._replace(mark=rank[link.hello.mark])
        write = link.write and link.write._replace(record=_record_with(link.write.record, rank))
        link = link._replace(hello=hello, write=write, inbox=_inbox_with(link.inbox, rank))
    if request is not None:
        request = request._replace(record=_record_with(request.record, rank))
    return node._replace(link=link, request=request)


def _inbox_with(inbox: tuple[Message, ...], rank: dict[int, int]) -> tuple[Message, ...]:
    return tuple(message._replace(mark=rank[message.mark]) for message in inbox)


def _ranked(record: Record, rank: dict[int, int]) -> Record:
    if record.sent is None:
        return record
    return record._replace(sent=record.sent._replace(epoch=rank[record.sent.epoch]))


def _ranked_node(node: Node, rank: dict[int, int]) -> Node:
    link, request, sending, taken = node
    if link is not None:
        hello = link.hello._replace(epoch=rank[link.hello.epoch])
        write = link.write and link.write._replace(record=_ranked(link.write.record, rank))
        link = link._replace(hello=hello, write=write)
    if request is not None:
        waiters = tuple(_ranked_forward(each, rank) for each in request.waiters)
        request = request._replace(record=_ranked(request.record, rank), waiters=waiters)
    if sending is not None:
        sending = sending._replace(epochs=tuple(rank[epoch] for epoch in sending.epochs))
    return Node(link, request, sending, tuple(_ranked_forward(each, rank) for each in taken))


def _ranked_bus(bus: Bus, rank: dict[int, int]) -> Bus:
    return Bus(
        tuple(_ranked_forward(forward, rank) for forward in bus.forwards),
        tuple(
            reply._replace(forward=_ranked_forward(reply.forward, rank)) for reply in bus.replies
        ),
    )


def _ranked_forward(forward: Forward, rank: dict[int, int]) -> Forward:
    return forward._replace(epoch=rank[forward.epoch])
