"""What the world of a control lease consists of: small immutable tuples, as in `tests.model.state`.

Senders are numbers: 0 is a program without a lease, 1 and 2 are those who take one, each once.
"""

from typing import NamedTuple

NOBODY, ADA, BOB = 0, 1, 2
"""Whose lease is in the database, or what a link knows of it; NOBODY's inputs come without one."""

NAMES = ("a program without a lease", "Ada", "Bob")

OPENED, COUNTED, UP, OVER = "opened", "counted", "up", "over"
"""How far a node's end of a link is; when it is up, others find it."""

INPUT, INTERRUPT, RELEASE = "input", "interrupt", "release"
"""What a message to the machine, or a job of its executor, is."""

IDLE, STORED, ASKING, WAITING = "idle", "stored", "asking", "waiting"
"""The way of somebody who takes: the lease is stored; a link is asked, reads, and is waited for."""

HOLDER, FORMER, REFUSED, GONE = "holder", "former", "refused", "gone"
"""Where that leads: 201 was answered; and the lease is over since; another answer; or none."""


class Said(NamedTuple):
    """What is said to the machine: an input, with its sender, or an interrupt."""

    kind: str
    sender: int = NOBODY


class Job(NamedTuple):
    """What the machine's executor is to do: an input of a sender, an interrupt of a link."""

    kind: str
    sender: int = NOBODY
    link: int = -1


class Read(NamedTuple):
    """A read of the database whose answer is on its way, and for whom: 0 is the link's own."""

    reader: int
    lease: int


class Link(NamedTuple):
    """A node's end of a link, and what is under way on it.

    ``knows`` is whose the lease is, as far as was read, ``has_read`` whether it has looked by
    itself, before which it sends no input; ``open`` is how many interrupts are not confirmed, the
    first of which is confirmed first; ``reserved`` is whose input has a slot and is not sent yet,
    -1 for none.
    """

    stage: str
    epoch: int = 0
    has_read: bool = False
    knows: int = NOBODY
    reads: tuple[Read, ...] = ()
    open: int = 0
    to_machine: tuple[Said, ...] = ()
    reserved: int = -1


class Machine(NamedTuple):
    """The machine client: its link's number or -1, what waits, and what its executor has to do.

    The first job is the one that is being done: where it is an input, events of it have reached
    the desktop.  ``held`` are the senders who hold something, and ``left`` are those of them who
    pressed it through a client that was killed.
    """

    link: int = -1
    queue: tuple[int, ...] = ()
    jobs: tuple[Job, ...] = ()
    held: frozenset[int] = frozenset()
    left: frozenset[int] = frozenset()


class Taker(NamedTuple):
    """Somebody who takes control; ``epoch`` and ``link`` are of the way there."""

    stage: str = IDLE
    epoch: int = 0
    link: int = -1


class Faults(NamedTuple):
    """How many of each are still to come.

    ``links`` are those after the first, ``inputs`` are of each sender.
    """

    links: int = 0
    inputs: tuple[int, int, int] = (0, 0, 0)
    run_outs: int = 0
    kills: int = 0
    node_kills: int = 0


class State(NamedTuple):
    """All of it; ``has_run_out`` is whether the stored lease has, which nobody has ended yet."""

    lease: int
    has_run_out: bool
    epoch: int
    links: tuple[Link, ...]
    machine: Machine
    takers: tuple[Taker, Taker]
    left: Faults


class Step(NamedTuple):
    """One step that is possible; ``is_due`` is whether it comes without anybody's decision."""

    name: str
    is_due: bool
    state: State


def with_link(state: State, number: int, link: Link) -> State:
    """The state with another link in the place of one."""
    lease, has_run_out, epoch, links, machine, takers, left = state
    links = (*links[:number], link, *links[number + 1 :])
    return State(lease, has_run_out, epoch, links, machine, takers, left)


def with_machine(state: State, machine: Machine) -> State:
    """The state with another machine client."""
    lease, has_run_out, epoch, links, _, takers, left = state
    return State(lease, has_run_out, epoch, links, machine, takers, left)


def with_taker(state: State, who: int, taker: Taker) -> State:
    """The state with another taker in the place of one."""
    ada, bob = state.takers
    return state._replace(takers=(taker, bob) if who == ADA else (ada, taker))
