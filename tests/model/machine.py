"""The steps of the machine: its end of the link, and what it says of the command."""

from collections.abc import Iterator

from tests.model.canonical import fresh_mark
from tests.model.carrying_out import outcome_of, steps_of_the_command, wrong
from tests.model.disk import copied, settled, written
from tests.model.links import (
    end_of_machine_link,
    spend,
    tell_node,
    with_link,
    with_machine,
)
from tests.model.protocol import World
from tests.model.state import (
    NOT_CARRIED_OUT,
    SENT,
    TOMBSTONE,
    UNKNOWN,
    MachineLink,
    Message,
    Sent,
    ServerLink,
    State,
    Step,
)


def machine_steps(world: World, state: State) -> Iterator[Step]:
    """Everything that the machine can do while nothing befalls it but a cut."""
    link = state.machine.link
    if link is None:
        for number in (0, 1):
            opened = _connect(world, state, number)
            yield Step(f"machine connects to node {number}", False, opened)
    else:
        if not link.connected:
            yield Step(
                "machine notices that its link is gone",
                False,
                end_of_machine_link(world, state),
            )
        elif state.faults.cuts:
            cut = spend(end_of_machine_link(world, state), cuts=state.faults.cuts - 1)
            yield Step("cut: machine gives its link up", True, cut)
        if link.inbox:
            yield from _receive(world, state, link)
    yield from steps_of_the_command(world, state)
    journal = state.machine.journal
    if not world.configuration.is_keyed and journal.entry != journal.flushed_entry:
        yield Step("machine writes what it had noted", False, settled(world, state))
    if state.machine.stale:
        message, machine = state.machine.stale[0], state.machine
        late = with_machine(state, machine._replace(stale=machine.stale[1:]))
        yield Step(f"machine hears {message.kind} of an old link", False, _queued(late))


def eager_machine_step(world: World, state: State) -> Step | None:
    """A step that may as well come at once: it is the same whether it comes now or later.

    A ``ready`` that is said and not read is as good as none.  A link that nobody writes to any
    more, and where nothing waits, is as good as none.
    """
    machine = state.machine
    link = machine.link
    if link is None:
        return None
    if link.inbox and link.inbox[0].kind == "welcome" and world.rules.judged_before_mark:
        return next(_receive(world, state, link))
    if not link.connected and not link.inbox and not machine.is_queued:
        return Step(
            "machine notices that its link is gone", False, end_of_machine_link(world, state)
        )
    return None


# --- the link ---


def _connect(world: World, state: State, number: int) -> State:
    """Open a link.  The node's older link ends with it: both ends live in one process each."""
    journal = state.machine.journal
    hello = Sent(0, journal.id, journal.sequence, state.machine.boot)
    opened = ServerLink("hello", hello, journal.sequence, (), connected=True, write=None)
    state = with_link(world.rules, state, number, opened)
    link = MachineLink(number, (), connected=True, is_up=False, is_owed=False)
    return with_machine(state, state.machine._replace(link=link))


def _receive(world: World, state: State, link: MachineLink) -> Iterator[Step]:
    message, machine = link.inbox[0], state.machine
    read = link._replace(inbox=link.inbox[1:])
    state = with_machine(state, machine._replace(link=read))
    match message.kind:
        case "welcome" if world.rules.judged_before_mark:
            yield Step("machine says ready", False, tell_node(state, Message("ready")))
        case "welcome":
            yield Step("machine marks and says ready", False, _mark(world, state, read, "ready"))
        case "judged":
            yield Step("machine marks its journal", False, _mark(world, state, read, "marked"))
        case "input":
            yield Step("machine receives the input", False, _queued(state))
        case "resolve":
            yield Step("machine is asked", False, _resolve(world, state, message))
        case "other":
            if not machine.running and not machine.is_queued:
                yield Step("machine begins another command", False, _other(world, state))


def _mark(world: World, state: State, link: MachineLink, answer: str) -> State:
    """Raise the number, so that no copy made before has it; the link is up."""
    journal, mark = state.machine.journal, 0
    if world.rules.marked_before_input:
        journal = journal._replace(sequence=journal.sequence + world.configuration.counts)
    if world.configuration.marks_have_ids:
        mark = fresh_mark(state)
        journal = journal._replace(marks=(*journal.marks, mark))
    machine = copied(world, state)._replace(journal=journal, link=link._replace(is_up=True))
    state = with_machine(state, machine)
    return tell_node(state, Message(answer, None, journal.sequence, mark))


def _queued(state: State) -> State:
    """An input waits for its turn; said twice while it is here, it is still one."""
    machine = state.machine
    link = None if machine.link is None else machine.link._replace(is_owed=True)
    queued = machine.is_queued or not machine.running
    return with_machine(state, machine._replace(link=link, is_queued=queued))


def _other(world: World, state: State) -> State:
    """Begin something else; what had been begun on an older link must have its final answer.

    Or the node must know that the answer comes on this link: then it was said before this.
    """
    journal, record, link = state.machine.journal, state.record, state.machine.link
    journal = journal._replace(sequence=journal.sequence + world.configuration.counts)
    state = with_machine(state, copied(world, state)._replace(journal=journal))
    if record is None or record.state != SENT or not state.seen.begun or link is None:
        return state
    here = state.nodes[link.node].link if link.connected else None
    if (
        here is not None
        and here.stage not in ("running", "store")
        and record.sent is not None
        and record.sent.epoch < here.hello.epoch
    ):
        return wrong(state, "something new was begun while what was begun before is open")
    return state


def _resolve(world: World, state: State, asked: Message) -> State:
    """Say what became of the command; where nothing did, make sure that nothing will.

    A journal without the mark that the record knows is of another branch: it cannot know.
    """
    machine = state.machine
    if machine.running and world.rules.running_is_reported_running:
        link = machine.link
        assert link is not None
        state = with_machine(state, machine._replace(link=link._replace(is_owed=True)))
        return tell_node(state, Message("report", None, machine.journal.sequence))
    if machine.is_queued and world.rules.queue_is_left_by_the_asked:
        link = machine.link
        assert link is not None
        machine = machine._replace(is_queued=False, link=link._replace(is_owed=False))
    if asked.mark and asked.mark not in machine.journal.marks and world.rules.mark_is_compared:
        state = with_machine(state, machine)
        return tell_node(state, Message("report", UNKNOWN, machine.journal.sequence))
    if machine.journal.entry is None and world.rules.tombstone_before_never:
        flushed = world.rules.tombstone_is_flushed
        machine = machine._replace(copies=copied(world, state).copies)
        machine = machine._replace(
            journal=written(world, machine.journal, TOMBSTONE, flushed=flushed)
        )
    state = with_machine(state, machine)
    known = outcome_of(machine.journal.entry)
    return tell_node(state, Message("report", known or NOT_CARRIED_OUT, machine.journal.sequence))
