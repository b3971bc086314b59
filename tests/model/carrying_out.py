"""How the machine carries the command out: one input, or several actions with a mark of each."""

from collections.abc import Iterator

from tests.model.disk import copied, written
from tests.model.links import tell_node, with_machine
from tests.model.protocol import World
from tests.model.state import (
    COMPLETED,
    EXPIRED,
    FINAL,
    INTENT,
    INTERRUPTED_BEFORE,
    INTERRUPTED_IN,
    NOT_CARRIED_OUT,
    RESULTS,
    TOMBSTONE,
    UNKNOWN,
    UNKNOWN_IN,
    Message,
    State,
    Step,
)

BEGUN, DONE = 2, 3
"""How far an action is whose events have begun, or have ended before there is an end of all."""


def steps_of_the_command(world: World, state: State) -> Iterator[Step]:
    """Begin it when its turn has come, or go on with it."""
    running = state.machine.running
    if not running and state.machine.is_queued:
        yield from _take_turn(world, state)
    elif running and world.configuration.actions > 1:
        yield from _go_on(world, state)
    elif running == 1:
        yield Step("machine begins the events", False, _begin(state, 0))
        if world.configuration.has_deadlines:
            # It is too late by now, or an element is not what it was a moment ago.
            refused = _ended(world, state, EXPIRED)
            yield Step("machine refuses what it has noted, before the events", False, refused)
    elif running == BEGUN:
        yield Step("machine ends the events and notes DONE", False, _complete(world, state))


def outcome_of(entry: str | None) -> str | None:
    """What an entry means for a command that does not run now; None where there is none."""
    if entry == INTENT:
        return UNKNOWN
    return NOT_CARRIED_OUT if entry == TOMBSTONE else entry


def wrong(state: State, promise: str) -> State:
    """The state in which a promise was just broken."""
    return state._replace(seen=state.seen._replace(wrong=promise))


def _take_turn(world: World, state: State) -> Iterator[Step]:
    """The command's turn has come: INTENT, or the outcome that the journal has, or too late."""
    machine, rules = copied(world, state)._replace(is_queued=False), world.rules
    known = outcome_of(machine.journal.entry)
    is_known = known is not None and not (
        (known in (COMPLETED, EXPIRED) and not rules.done_is_answered_from_journal)
        or ((known == UNKNOWN or known in RESULTS) and not rules.intent_is_never_injected)
        or (known == NOT_CARRIED_OUT and not rules.tombstone_is_never_injected)
    )
    if is_known and known is not None:
        known_again = _acknowledge(with_machine(state, machine), known)
        yield Step(f"machine answers from its journal: {known}", False, known_again)
    else:
        journal = machine.journal
        if rules.intent_before_events:
            entry = INTENT if world.configuration.actions == 1 else _result(0, UNKNOWN_IN)
            if not rules.done_after_events:
                entry = COMPLETED
            journal = written(world, journal, entry, flushed=rules.intent_is_flushed)
        begun = with_machine(state, machine._replace(running=1, journal=journal))
        yield Step("machine notes INTENT", False, begun)
    if world.configuration.has_deadlines and not (is_known and rules.journal_before_lateness):
        journal = machine.journal
        if known is None:
            journal = written(world, journal, EXPIRED, flushed=False)
        late = with_machine(state, machine._replace(journal=journal))
        yield Step("machine finds the input too late", False, _acknowledge(late, EXPIRED))


def _begin(state: State, number: int) -> State:
    """The events of an action begin."""
    seen, record, machine = state.seen, state.record, state.machine
    began = with_machine(
        state._replace(seen=seen._replace(begun=seen.begun + 1)),
        machine._replace(running=machine.running + 1),
    )
    if seen.begun > number:
        return wrong(began, "the events were begun twice")
    if seen.answer is not None or (record is not None and record.state in FINAL):
        return wrong(began, f"the events were begun after the final answer {seen.answer}")
    if machine.is_interrupted:
        return wrong(began, "an action was begun after its link was gone")
    return began


def _complete(world: World, state: State) -> State:
    """The last event has happened, and the journal says so."""
    state = state._replace(seen=state.seen._replace(finished=world.configuration.actions))
    if not world.rules.intent_before_events:
        journal = written(world, state.machine.journal, INTENT, flushed=True)
        state = with_machine(state, copied(world, state)._replace(journal=journal))
    return _ended(world, state, COMPLETED)


def _ended(world: World, state: State, outcome: str) -> State:
    """The command runs no more; its outcome is in the journal, and said where it is owed."""
    journal = written(world, state.machine.journal, outcome, flushed=False)
    machine = copied(world, state)._replace(journal=journal, running=0, is_interrupted=False)
    return _acknowledge(with_machine(state, machine), outcome)


def _acknowledge(state: State, outcome: str) -> State:
    """Answer the input on the link that brought it, if it is still that one."""
    link = state.machine.link
    if link is None or not link.is_owed:
        return state
    sequence = state.machine.journal.sequence
    state = with_machine(state, state.machine._replace(link=link._replace(is_owed=False)))
    return tell_node(state, Message("ack", outcome, sequence))


# --- several actions ---


def _go_on(world: World, state: State) -> Iterator[Step]:
    """Take the action that is under way one step further, or end where all is to end."""
    number, step = divmod(state.machine.running - 1, 3)
    stops = state.machine.is_interrupted and world.rules.interrupted_with_link
    match step + 1:
        case 1 if stops:
            yield _interrupted(world, state, number, INTERRUPTED_BEFORE)
        case 1:
            begun = state
            if not world.rules.done_mark_after_events:
                begun = _noted(world, state, number + 1, INTERRUPTED_BEFORE, flushed=False)
            yield Step(
                f"machine begins the events of action {number}", False, _begin(begun, number)
            )
            # An element is not what it was a moment ago, or a text is not there.
            refused = _ended(world, state, _result(number, INTERRUPTED_BEFORE))
            yield Step(f"machine refuses action {number}, before its events", False, refused)
        case 2:
            yield from _end_of_action(world, state, number)
            if stops:
                yield _interrupted(world, state, number, INTERRUPTED_IN)
        case _ if stops:
            yield _interrupted(world, state, number + 1, INTERRUPTED_BEFORE)
        case _:
            yield _next_action(world, state, number + 1)


def _end_of_action(world: World, state: State, number: int) -> Iterator[Step]:
    """Its last event has happened; so it is noted, or all is done."""
    name = f"machine ends the events of action {number}"
    if number + 1 == world.configuration.actions:
        yield Step(f"{name} and notes DONE", False, _complete(world, state))
        return
    ended = state._replace(seen=state.seen._replace(finished=number + 1))
    if not world.rules.begun_mark_before_events and number:
        ended = _noted(world, ended, number, UNKNOWN_IN, flushed=True)
    ended = _noted(world, ended, number + 1, INTERRUPTED_BEFORE, flushed=False)
    machine = ended.machine._replace(running=3 * number + DONE)
    yield Step(f"{name} and notes it as done", False, with_machine(ended, machine))


def _next_action(world: World, state: State, number: int) -> Step:
    """Note that the next action begins."""
    begun, rules = state, world.rules
    if rules.begun_mark_before_events:
        begun = _noted(world, state, number, UNKNOWN_IN, flushed=rules.begun_mark_is_flushed)
    machine = begun.machine._replace(running=3 * number + 1)
    return Step(f"machine notes action {number} as begun", False, with_machine(begun, machine))


def _noted(world: World, state: State, number: int, current: str, *, flushed: bool) -> State:
    journal = written(world, state.machine.journal, _result(number, current), flushed=flushed)
    return with_machine(state, copied(world, state)._replace(journal=journal))


def _interrupted(world: World, state: State, number: int, how: str) -> Step:
    ended = _ended(world, state, _result(number, how))
    return Step(f"machine is {how} action {number}", False, ended)


def _result(done: int, current: str) -> str:
    return f"{current} action {done}"
