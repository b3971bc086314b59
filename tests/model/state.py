"""What the model's world consists of: small immutable tuples, so that a state is its own hash.

A world is one key, one machine with its journal, two nodes and the ledger's one record.  Nothing
has a clock: whatever takes long is a step that has not been taken yet, so a paused node is a node
that takes no step for a while, and a lease may be over at any time.
"""

from typing import NamedTuple

CLAIMED, SENT = "CLAIMED", "SENT"
COMPLETED, EXPIRED, NOT_CARRIED_OUT, UNKNOWN = "completed", "expired", "not carried out", "unknown"


class Results(NamedTuple):
    """How several actions ended that are not all done; ``current`` is of the first of them."""

    done: int
    current: str


UNKNOWN_IN, INTERRUPTED_IN, INTERRUPTED_BEFORE = (
    "unknown in",
    "interrupted in",
    "interrupted before",
)

MOST_ACTIONS = 3
RESULTS = {
    f"{current} action {done}": Results(done, current)
    for done in range(MOST_ACTIONS)
    for current in (UNKNOWN_IN, INTERRUPTED_IN, INTERRUPTED_BEFORE)
}
"""The outcomes of several actions that have a result of each: what comes later is not begun.

``unknown in action 1``: the first is done, and of the second nobody knows.  ``interrupted in``: it
was ended early.  ``interrupted before``: nothing of it happened.
"""

FINAL = frozenset({COMPLETED, EXPIRED, NOT_CARRIED_OUT, UNKNOWN, *RESULTS})
"""What a record says for ever; the other two are open."""

REFUSED, PENDING = "refused", "pending"
"""What else a request is answered: nothing has happened, or what becomes of it is not known yet."""

INTENT, TOMBSTONE = "INTENT", "TOMBSTONE"
"""What a journal's entry says, beside the outcome of a command that is done.

The INTENT of several actions has their outcome in its place, should nothing more be noted.
"""


class Sent(NamedTuple):
    """What a SENT record, or a link, knows of the link and of the machine's journal.

    ``mark`` is the id of the journal's last mark: 0 before the first one of a link, and where ids
    are left out.
    """

    epoch: int
    journal: int
    sequence: int
    boot: int
    mark: int = 0


NO_JOURNAL = -1
"""The journal of a link that a node knows nothing of but the epoch."""


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


class Forward(NamedTuple):
    """A request on the bus: a number of its own, and the epoch of the link that it is meant for.

    The epoch is 0 where the rules let any link take it.
    """

    number: int
    epoch: int


class Reply(NamedTuple):
    """What the holder of a link answers to a forward: a final state, REFUSED or PENDING."""

    forward: Forward
    answer: str


class Bus(NamedTuple):
    """Everything that was ever said on the bus and may still arrive, each as often as it likes."""

    forwards: tuple[Forward, ...] = ()
    replies: tuple[Reply, ...] = ()


class Request(NamedTuple):
    """A node's work on the key: there is at most one in a node, whoever else asks waits for it.

    ``record`` is what it claims, asks about or finishes; ``taken`` the attempt that it takes over;
    ``waiters`` the forwards that are to be answered when it ends; ``is_client`` whether a client
    of this node waits as well, which is noted only in a world that has a bus.
    """

    stage: str
    record: Record
    taken: int = 0
    waiters: tuple[Forward, ...] = ()
    is_client: bool = False


class Sending(NamedTuple):
    """A client's request that a node has forwarded: its number, and the links still to answer."""

    number: int
    epochs: tuple[int, ...]


class Node(NamedTuple):
    """A server process; ``taken`` are the forwards that it remembers to have taken or refused."""

    link: ServerLink | None = None
    request: Request | None = None
    sending: Sending | None = None
    taken: tuple[Forward, ...] = ()


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
    noted is a kill while it is begun.  Of several actions the first is noted as done at 3, the
    second as begun at 4, and its events begin at 5, and so on.  ``stale`` is what an old link still
    brings, where old links are not refused; ``is_interrupted`` is whether several actions that run
    are to begin nothing more, as their link is gone.
    """

    link: MachineLink | None
    running: int
    is_queued: bool
    journal: Journal
    boot: int
    copies: tuple[Journal, ...]
    stale: tuple[Message, ...]
    is_interrupted: bool = False


class Faults(NamedTuple):
    """How many of each fault are still to come.

    Two are none: ``others`` are new commands, and ``asks`` the requests that come to a node which
    does not hold the link; without a key, those that come to any node.
    """

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
    asks: int = 0


class Seen(NamedTuple):
    """What an observer outside of it all remembers.

    ``begun`` and ``finished``: of how many actions the events were, and all of them; ``answer``:
    the first final answer that anybody was given, or could have been; ``was_interrupted``: the
    machine lost, by a kill or a reboot, how a command that had its INTENT ended; ``lost_epoch``:
    the newest link of the time when the journal was last replaced or put back, or the machine
    rebooted and its journal did not know the command, or had barred it; ``has_expired``: the final
    record has lived its 24 hours; ``wrong``: which promise was just broken.  In a world with a bus,
    ``may_come``: a request has ended and its client was not told what became of it; ``is_unused``:
    all who asked were told that nothing has happened.
    """

    begun: int = 0
    finished: int = 0
    answer: str | None = None
    was_interrupted: bool = False
    lost_epoch: int = 0
    has_expired: bool = False
    wrong: str | None = None
    may_come: bool = False
    is_unused: bool = False


class State(NamedTuple):
    """All of it; ``late`` is a write of which a node knows no end, and which may yet land."""

    record: Record | None
    late: Write | None
    nodes: tuple[Node, Node]
    machine: Machine
    epoch: int
    faults: Faults
    seen: Seen
    bus: Bus = Bus()


def last_of(actions: int) -> int:
    """How far a command is when the events of its last action have begun."""
    return 3 * actions - 1


class Step(NamedTuple):
    """One step that is possible in a state, in words, and where it leads."""

    name: str
    is_fault: bool
    state: State


def is_over(state: State, actions: int) -> bool:
    """Whether nothing can touch the record any more, nor an event be begun, whatever happens.

    The record is final, nobody is at work on the key, no write and no input is under way.
    """
    machine = state.machine
    if state.record is None or state.record.state not in FINAL or state.late is not None:
        return False
    if state.bus.forwards:
        return False
    if (
        machine.running not in (0, last_of(actions))
        or machine.is_queued
        or machine.stale
        or state.faults.expiries
    ):
        return False
    if machine.link is not None and any(said.kind == "input" for said in machine.link.inbox):
        return False
    return all(
        node.request is None
        and node.sending is None
        and (node.link is None or node.link.write is None)
        for node in state.nodes
    )
