"""The steps of the machine: its process, its end of the link, its journal, and their faults."""

from collections.abc import Iterator

from tests.model.links import tell_node, with_node, without_answer
from tests.model.protocol import World
from tests.model.state import (
    COMPLETED,
    EXPIRED,
    FINAL,
    INTENT,
    NOT_CARRIED_OUT,
    SENT,
    TOMBSTONE,
    UNKNOWN,
    Journal,
    Machine,
    MachineLink,
    Message,
    Node,
    Sent,
    ServerLink,
    State,
    Step,
)

FOREIGN_JOURNAL_SEQUENCE = 40
"""Where another journal stands: far on, so that only its id tells."""


def machine_steps(world: World, state: State) -> Iterator[Step]:
    """Everything that the machine can do, and that can be done to it."""
    link = state.machine.link
    if link is None:
        for number in (0, 1):
            opened = _connect(world, state, number)
            yield Step(f"machine connects to node {number}", False, opened)
    else:
        if not link.connected:
            yield Step("machine notices that its link is gone", False, _unlink(world, state))
        elif state.faults.cuts:
            cut = _spend(_unlink(world, state), cuts=state.faults.cuts - 1)
            yield Step("cut: machine gives its link up", True, cut)
        if link.inbox:
            yield from _receive(world, state, link)
    yield from _carry_out(world, state)
    if state.machine.stale:
        message, machine = state.machine.stale[0], state.machine
        late = _with(state, machine._replace(stale=machine.stale[1:]))
        yield Step(f"machine hears {message.kind} of an old link", False, _queued(late))
    yield from _process_and_disk(world, state)


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
        return Step("machine notices that its link is gone", False, _unlink(world, state))
    return None


# --- the link ---


def _connect(world: World, state: State, number: int) -> State:
    """Open a link.  The node's older link ends with it: both ends live in one process each."""
    journal = state.machine.journal
    hello = Sent(0, journal.id, journal.sequence, state.machine.boot)
    opened = ServerLink("hello", hello, journal.sequence, (), connected=True, write=None)
    node = state.nodes[number]
    state = with_node(state, number, Node(opened, without_answer(world.rules, node)))
    link = MachineLink(number, (), connected=True, is_up=False, is_owed=False)
    return _with(state, state.machine._replace(link=link))


def _unlink(world: World, state: State) -> State:
    """End the machine's end of its link; what it wrote may still arrive, and what runs goes on."""
    machine, link = state.machine, state.machine.link
    if link is None:
        return state
    if link.connected:
        node = state.nodes[link.node]
        assert node.link is not None
        cut = node._replace(link=node.link._replace(connected=False))
        state = with_node(state, link.node, cut)
    stale = machine.stale
    if not world.rules.old_links_are_refused:
        stale = (*stale, *(message for message in link.inbox if message.kind == "input"))[:1]
    queued = machine.is_queued and not world.rules.queue_ends_with_link
    return _with(state, machine._replace(link=None, is_queued=queued, stale=stale))


def _acknowledge(state: State, outcome: str) -> State:
    """Answer the input on the link that brought it, if it is still that one."""
    link = state.machine.link
    if link is None or not link.is_owed:
        return state
    sequence = state.machine.journal.sequence
    state = _with(state, state.machine._replace(link=link._replace(is_owed=False)))
    return tell_node(state, Message("ack", outcome, sequence))


def _receive(world: World, state: State, link: MachineLink) -> Iterator[Step]:
    message, machine = link.inbox[0], state.machine
    read = link._replace(inbox=link.inbox[1:])
    state = _with(state, machine._replace(link=read))
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
            yield Step("machine is asked", False, _resolve(world, state))
        case "other":
            if not machine.running and not machine.is_queued:
                yield Step("machine begins another command", False, _other(world, state))


def _mark(world: World, state: State, link: MachineLink, answer: str) -> State:
    """Raise the number, so that no copy made before has it; the link is up."""
    journal = state.machine.journal
    if world.rules.marked_before_input:
        journal = journal._replace(sequence=journal.sequence + world.configuration.counts)
    machine = _copied(world, state)._replace(journal=journal, link=link._replace(is_up=True))
    state = _with(state, machine)
    return tell_node(state, Message(answer, None, journal.sequence))


def _queued(state: State) -> State:
    """An input waits for its turn; said twice while it is here, it is still one."""
    machine = state.machine
    link = None if machine.link is None else machine.link._replace(is_owed=True)
    queued = machine.is_queued or not machine.running
    return _with(state, machine._replace(link=link, is_queued=queued))


def _other(world: World, state: State) -> State:
    """Begin something else; what had been begun on an older link must have its final answer."""
    journal, record, link = state.machine.journal, state.record, state.machine.link
    journal = journal._replace(sequence=journal.sequence + world.configuration.counts)
    state = _with(state, _copied(world, state)._replace(journal=journal))
    if record is None or record.state != SENT or not state.seen.begun or link is None:
        return state
    here = state.nodes[link.node].link if link.connected else None
    if here is not None and record.sent is not None and record.sent.epoch < here.hello.epoch:
        return _wrong(state, "something new was begun while what was begun before is open")
    return state


def _resolve(world: World, state: State) -> State:
    """Say what became of the command; where nothing did, make sure that nothing will."""
    machine = state.machine
    if machine.running and world.rules.running_is_reported_running:
        link = machine.link
        assert link is not None
        state = _with(state, machine._replace(link=link._replace(is_owed=True)))
        return tell_node(state, Message("report", None, machine.journal.sequence))
    if machine.is_queued and world.rules.queue_is_left_by_the_asked:
        link = machine.link
        assert link is not None
        machine = machine._replace(is_queued=False, link=link._replace(is_owed=False))
    if machine.journal.entry is None and world.rules.tombstone_before_never:
        flushed = world.rules.tombstone_is_flushed
        machine = machine._replace(copies=_copied(world, state).copies)
        machine = machine._replace(
            journal=_write(world, machine.journal, TOMBSTONE, flushed=flushed)
        )
    state = _with(state, machine)
    known = _outcome_of(machine.journal.entry)
    return tell_node(state, Message("report", known or NOT_CARRIED_OUT, machine.journal.sequence))


def _outcome_of(entry: str | None) -> str | None:
    """What an entry means for a command that does not run now; None where there is none."""
    if entry == INTENT:
        return UNKNOWN
    return NOT_CARRIED_OUT if entry == TOMBSTONE else entry


# --- carrying out ---


def _carry_out(world: World, state: State) -> Iterator[Step]:
    machine, rules = _copied(world, state), world.rules
    match machine.running:
        case 0 if machine.is_queued:
            yield from _take_turn(world, state)
        case 1:
            yield Step("machine begins the events", False, _begin(state))
        case 2:
            journal = machine.journal
            if not rules.intent_before_events:
                journal = _write(world, journal, INTENT, flushed=True)
            journal = _write(world, journal, COMPLETED, flushed=False)
            state = state._replace(seen=state.seen._replace(finished=True))
            done = _with(state, machine._replace(journal=journal, running=0))
            step = "machine ends the events and notes DONE"
            yield Step(step, False, _acknowledge(done, COMPLETED))


def _take_turn(world: World, state: State) -> Iterator[Step]:
    """The command's turn has come: INTENT, or the outcome that the journal has, or too late."""
    machine, rules = _copied(world, state)._replace(is_queued=False), world.rules
    known = _outcome_of(machine.journal.entry)
    is_known = known is not None and not (
        (known in (COMPLETED, EXPIRED) and not rules.done_is_answered_from_journal)
        or (known == UNKNOWN and not rules.intent_is_never_injected)
        or (known == NOT_CARRIED_OUT and not rules.tombstone_is_never_injected)
    )
    if is_known and known is not None:
        known_again = _acknowledge(_with(state, machine), known)
        yield Step(f"machine answers from its journal: {known}", False, known_again)
    else:
        journal = machine.journal
        if rules.intent_before_events:
            entry = INTENT if rules.done_after_events else COMPLETED
            journal = _write(world, journal, entry, flushed=rules.intent_is_flushed)
        begun = _with(state, machine._replace(running=1, journal=journal))
        yield Step("machine notes INTENT", False, begun)
    if world.configuration.has_deadlines and not (is_known and rules.journal_before_lateness):
        journal = machine.journal
        if known is None:
            journal = _write(world, journal, EXPIRED, flushed=False)
        late = _with(state, machine._replace(journal=journal))
        yield Step("machine finds the input too late", False, _acknowledge(late, EXPIRED))


def _begin(state: State) -> State:
    seen, record = state.seen, state.record
    began = _with(
        state._replace(seen=seen._replace(begun=seen.begun + 1)), state.machine._replace(running=2)
    )
    if seen.begun:
        return _wrong(began, "the events were begun twice")
    if seen.answer is not None or (record is not None and record.state in FINAL):
        return _wrong(began, f"the events were begun after the final answer {seen.answer}")
    return began


# --- the process and its disk ---


def _process_and_disk(world: World, state: State) -> Iterator[Step]:
    faults, machine = state.faults, state.machine
    if faults.machine_kills:
        killed = _spend(_killed(world, state), machine_kills=faults.machine_kills - 1)
        yield Step("machine client is killed", True, killed)
    if faults.reboots:
        rebooted = _rebooted(_lost(_killed(world, state)))
        yield Step("machine reboots", True, _spend(rebooted, reboots=faults.reboots - 1))
    if faults.replacements:
        fresh = Journal(machine.journal.id + 1, FOREIGN_JOURNAL_SEQUENCE, None, 0, None)
        replaced = _with_journal(_lost(_killed(world, state)), fresh)
        replaced = _spend(replaced, replacements=faults.replacements - 1)
        yield Step("the journal is replaced by another", True, replaced)
    for copy in machine.copies:
        name = f"copy {copy.sequence} of the journal"
        if faults.restores:
            restored = _with_journal(_lost(_killed(world, state)), copy)
            restored = _spend(restored, restores=faults.restores - 1)
            yield Step(f"{name} is put back", True, restored)
        if faults.image_restores:
            restored = _rebooted(_with_journal(_lost(_killed(world, state)), copy))
            restored = _spend(restored, image_restores=faults.image_restores - 1)
            yield Step(f"{name} is put back with the machine's image, and boots", True, restored)


def _copied(world: World, state: State) -> Machine:
    """The machine before its journal changes: with a copy, if there was a moment to make one.

    There is none, unless the configuration allows it, after the mark and before the INTENT.
    """
    machine, faults = state.machine, state.faults
    copy = machine.journal._replace(flushed_sequence=0, flushed_entry=None)
    is_up = machine.link is not None and machine.link.is_up
    may = not is_up or copy.entry is not None or world.configuration.copies_while_up
    if may and (faults.restores or faults.image_restores) and copy not in machine.copies:
        return machine._replace(copies=(*machine.copies, copy))
    return machine


def _killed(world: World, state: State) -> State:
    interrupted = state.seen.was_interrupted or state.machine.running > 0
    state = _unlink(world, state._replace(seen=state.seen._replace(was_interrupted=interrupted)))
    return _with(state, state.machine._replace(running=0, is_queued=False))


def _lost(state: State) -> State:
    """From here on every link that was opened before may have sent what nobody knows any more."""
    return state._replace(seen=state.seen._replace(lost_epoch=state.epoch))


def _rebooted(state: State) -> State:
    """Start anew, with that much of the journal as was on disk."""
    journal = state.machine.journal
    forgets_done = journal.entry == COMPLETED and journal.flushed_entry != COMPLETED
    seen = state.seen._replace(was_interrupted=state.seen.was_interrupted or forgets_done)
    journal = journal._replace(sequence=journal.flushed_sequence, entry=journal.flushed_entry)
    machine = state.machine._replace(journal=journal, boot=state.machine.boot + 1)
    return _with(state._replace(seen=seen), machine)


def _with_journal(state: State, journal: Journal) -> State:
    """Put a journal, which is on disk as it is, in the place of the present one."""
    settled = journal._replace(flushed_sequence=journal.sequence, flushed_entry=journal.entry)
    return _with(state, state.machine._replace(journal=settled, copies=()))


def _write(world: World, journal: Journal, entry: str, *, flushed: bool) -> Journal:
    sequence = journal.sequence + world.configuration.counts
    if flushed:
        return Journal(journal.id, sequence, entry, sequence, entry)
    return journal._replace(sequence=sequence, entry=entry)


# --- parts of a state ---


def _with(state: State, machine: Machine) -> State:
    return state._replace(machine=machine)


def _spend(state: State, **left: int) -> State:
    return state._replace(faults=state.faults._replace(**left))


def _wrong(state: State, promise: str) -> State:
    return state._replace(seen=state.seen._replace(wrong=promise))
