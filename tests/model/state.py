"""What the model's world consists of: small immutable tuples, so that a state is its own hash.

A world is one key, one machine with its journal, two nodes and the ledger's one record.  Nothing
has a clock: whatever takes long is a step that has not been taken yet, so a paused node is a node
that takes no step for a while, and a lease may be over at any time.
"""

from functools import lru_cache
from typing import NamedTuple

CLAIMED, SENT = "CLAIMED", "SENT"
COMPLETED, EXPIRED, NOT_CARRIED_OUT, UNKNOWN = "completed", "expired", "not carried out", "unknown"
FINAL = frozenset({COMPLETED, EXPIRED, NOT_CARRIED_OUT, UNKNOWN})
"""What a record says for ever; the other two are open."""

INTENT, TOMBSTONE = "INTENT", "TOMBSTONE"
"""What a journal's entry says, beside the outcome of a command that is done."""


class Sent(NamedTuple):
    """What a SENT record, or a link, knows of the link and of the machine's journal.

    ``mark`` is the id of the journal's last mark: 0 before the first one of a link, and for a
    machine client whose marks have no ids.
    """

    epoch: int
    journal: int
    sequence: int
    boot: int
    mark: int = 0


class Record(NamedTuple):
    """The ledger's document; ``sent`` stays None while it is CLAIMED."""

    state: str
    attempt: int
    sent: Sent | None


class Write(NamedTuple):
    """One write to the ledger: a kind, the attempt that it compares, and what it writes."""

    kind: str
    attempt: int
    record: Record


class Message(NamedTuple):
    """One message on a link.

    The machine's carry its journal's number, and "marked" the mark's id; "resolve" carries the id
    of the mark that the record knows.
    """

    kind: str
    outcome: str | None = None
    sequence: int = 0
    mark: int = 0


class ServerLink(NamedTuple):
    """A node's end of a link.

    ``stage`` is how far it is on the way from hello to settled; ``seen`` the highest number seen of
    the journal; ``inbox`` what has arrived; ``connected`` whether the machine's end is still there;
    ``write`` what settling must store before it goes on.
    """

    stage: str
    hello: Sent
    seen: int
    inbox: tuple[Message, ...]
    connected: bool
    write: Write | None


class Request(NamedTuple):
    """A node's work on the key: there is at most one in a node, whoever else asks waits for it.

    ``record`` is what it claims, asks about or finishes; ``taken`` the attempt that it takes over.
    """

    stage: str
    record: Record
    taken: int = 0


class Node(NamedTuple):
    """A server process."""

    link: ServerLink | None = None
    request: Request | None = None


class MachineLink(NamedTuple):
    """The machine's end of its link; ``is_owed`` is whether an ack must be said on it."""

    node: int
    inbox: tuple[Message, ...]
    connected: bool
    is_up: bool
    is_owed: bool


class Journal(NamedTuple):
    """The journal as a process sees it, and what of it a power cut would leave.

    ``marks`` are the ids of its marks, where they have any, in ascending order.
    """

    id: int
    sequence: int
    entry: str | None
    flushed_sequence: int
    flushed_entry: str | None
    marks: tuple[int, ...] = ()
    flushed_marks: tuple[int, ...] = ()


class Machine(NamedTuple):
    """The machine client's process, its disk, and every copy that there could be of its journal.

    ``running`` is how far the command is: 0 not running, 1 intended, 2 begun; a kill before DONE is
    noted is a kill while it is begun.  ``stale`` is what an old link still brings, where old links
    are not refused.
    """

    link: MachineLink | None
    running: int
    is_queued: bool
    journal: Journal
    boot: int
    copies: tuple[Journal, ...]
    stale: tuple[Message, ...]


class Faults(NamedTuple):
    """How many of each fault are still to come (``others``: new commands, which are no fault)."""

    node_kills: int = 0
    machine_kills: int = 0
    cuts: int = 0
    store_errors: int = 0
    restores: int = 0
    image_restores: int = 0
    reboots: int = 0
    replacements: int = 0
    expiries: int = 0
    others: int = 0


class Seen(NamedTuple):
    """What an observer outside of it all remembers.

    ``begun`` and ``finished``: the events of the command; ``answer``: the first final answer that
    anybody was given, or could have been; ``was_interrupted``: the machine lost, by a kill or a
    reboot, how a command that had its INTENT ended; ``lost_epoch``: the newest link of the time
    when the journal was last replaced or put back, or the machine rebooted; ``has_expired``: the
    final record has lived its 24 hours; ``wrong``: which promise was just broken.
    """

    begun: int = 0
    finished: bool = False
    answer: str | None = None
    was_interrupted: bool = False
    lost_epoch: int = 0
    has_expired: bool = False
    wrong: str | None = None


class State(NamedTuple):
    """All of it; ``late`` is a write of which a node knows no end, and which may yet land."""

    record: Record | None
    late: Write | None
    nodes: tuple[Node, Node]
    machine: Machine
    epoch: int
    faults: Faults
    seen: Seen


class Step(NamedTuple):
    """One step that is possible in a state, in words, and where it leads."""

    name: str
    is_fault: bool
    state: State


def canonical(state: State, *, marks_have_ids: bool) -> State:
    """The same state in a form of its own, so that what differs in nothing that matters is equal.

    The two nodes are alike, so their order is the hashes'; to which node a link led matters to the
    machine while the node's end is there, and what a power cut would leave while one may come.
    """
    state = _with_dense_epochs(state)
    if marks_have_ids:
        state = _with_dense_marks(state)
    record, late, (first, second), machine, epoch, faults, seen = state
    journal, link = machine.journal, machine.link
    if not faults.reboots and (
        journal.flushed_sequence or journal.flushed_entry or journal.flushed_marks
    ):
        journal = journal._replace(flushed_sequence=0, flushed_entry=None, flushed_marks=())
        machine = machine._replace(journal=journal)
    in_order = hash(first) <= hash(second)
    if link is not None:
        number = link.node if in_order else 1 - link.node
        if not link.connected:
            number = 0
        if number != link.node:
            machine = machine._replace(link=link._replace(node=number))
    nodes = (first, second) if in_order else (second, first)
    return State(record, late, nodes, machine, epoch, faults, seen)


def _with_dense_epochs(state: State) -> State:
    """The same state with the epochs that occur in it numbered without gaps: only order counts."""
    record, late, nodes, machine, epoch, faults, seen = state
    numbered = _numbered_densely(record, late, nodes, epoch, seen.lost_epoch)
    if numbered is None:
        return state
    record, late, nodes, epoch, lost_epoch = numbered
    if lost_epoch != seen.lost_epoch:
        seen = seen._replace(lost_epoch=lost_epoch)
    return State(record, late, nodes, machine, epoch, faults, seen)


_Numbered = tuple[Record | None, Write | None, tuple[Node, Node], int, int]


@lru_cache(maxsize=1 << 16)
def _numbered_densely(
    record: Record | None,
    late: Write | None,
    nodes: tuple[Node, Node],
    epoch: int,
    lost_epoch: int,
) -> _Numbered | None:
    """All that has epochs, with these numbered without gaps; None if they are so already.

    It is kept, as the same comes again with every state that the machine can be in meanwhile.
    """
    used = {0, lost_epoch}
    records = [record, late.record if late is not None else None]
    for link, request in nodes:
        if link is not None:
            used.add(link.hello.epoch)
            records.append(link.write.record if link.write is not None else None)
        if request is not None:
            records.append(request.record)
    used |= {each.sent.epoch for each in records if each is not None and each.sent}
    if epoch == len(used) - 1:
        return None
    rank = {epoch: number for number, epoch in enumerate(sorted(used))}
    return (
        record and _ranked(record, rank),
        late and late._replace(record=_ranked(late.record, rank)),
        (_ranked_node(nodes[0], rank), _ranked_node(nodes[1], rank)),
        len(used) - 1,
        rank[lost_epoch],
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
    for link, request in state.nodes:
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
    link, request = node
    if link is not None:
        hello = link.hello._replace(mark=rank[link.hello.mark])
        write = link.write and link.write._replace(record=_record_with(link.write.record, rank))
        link = link._replace(hello=hello, write=write, inbox=_inbox_with(link.inbox, rank))
    if request is not None:
        request = request._replace(record=_record_with(request.record, rank))
    return Node(link, request)


def _inbox_with(inbox: tuple[Message, ...], rank: dict[int, int]) -> tuple[Message, ...]:
    return tuple(message._replace(mark=rank[message.mark]) for message in inbox)


def _ranked(record: Record, rank: dict[int, int]) -> Record:
    if record.sent is None:
        return record
    return record._replace(sent=record.sent._replace(epoch=rank[record.sent.epoch]))


def _ranked_node(node: Node, rank: dict[int, int]) -> Node:
    link, request = node
    if link is not None:
        hello = link.hello._replace(epoch=rank[link.hello.epoch])
        write = link.write and link.write._replace(record=_ranked(link.write.record, rank))
        link = link._replace(hello=hello, write=write)
    if request is not None:
        request = request._replace(record=_ranked(request.record, rank))
    return Node(link, request)


def is_over(state: State) -> bool:
    """Whether nothing can touch the record any more, nor an event be begun, whatever happens.

    The record is final, nobody is at work on the key, no write and no input is under way.
    """
    machine = state.machine
    if state.record is None or state.record.state not in FINAL or state.late is not None:
        return False
    if machine.running == 1 or machine.is_queued or machine.stale or state.faults.expiries:
        return False
    if machine.link is not None and any(said.kind == "input" for said in machine.link.inbox):
        return False
    return all(
        node.request is None and (node.link is None or node.link.write is None)
        for node in state.nodes
    )
