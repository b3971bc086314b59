"""The ledger: what each write does to the record, and how a write can go wrong."""

from collections.abc import Iterator
from typing import NamedTuple

from tests.model.links import with_record
from tests.model.protocol import Rules, World
from tests.model.state import CLAIMED, FINAL, SENT, UNKNOWN, Record, State, Step, Write


class Written(NamedTuple):
    """How one write went, as its writer sees it.

    ``is_done``: it changed the record, or it found that it must not; None is an error, after which
    the writer knows nothing.
    """

    name: str
    is_done: bool | None
    state: State

    @property
    def is_fault(self) -> bool:
        """Whether the store did other than it was asked to."""
        return self.is_done is None


def apply(rules: Rules, record: Record | None, write: Write) -> tuple[Record | None, bool]:
    """The record after a write, and whether the write changed it."""
    if write.kind == "claim":
        may = record is None or not rules.claim_is_unique
        return (write.record, True) if may else (record, False)
    if record is None:
        return None, False
    is_same, is_open = record.attempt == write.attempt, record.state not in FINAL
    is_claimed = record.state == CLAIMED
    match write.kind:
        case "mark sent":
            may = (is_same and is_claimed) or not rules.mark_sent_compares
        case "take over":
            may = (is_same and is_claimed) or not rules.takeover_compares
        case "expire":
            may = (is_same or not rules.finish_compares_attempt) and is_claimed
        case "forget":
            may = (is_same or not rules.forgetting_compares_attempt) and (
                is_open or not rules.forgetting_compares_state
            )
            return (None, True) if may else (record, False)
        case _:
            may = (is_same or not rules.finish_compares_attempt) and (
                record.state == SENT
                or (is_claimed and not rules.only_sent_is_finished)
                or (not is_open and not rules.first_final_state_wins)
            )
            if may:
                return record._replace(state=write.record.state), True
    return (write.record, True) if may else (record, False)


def carry_out(world: World, state: State, write: Write) -> Iterator[Written]:
    """Every way in which a write can go.

    That it waits is not among them: a write that has not been answered yet has not been made yet,
    and one that was made while its writer is stopped is an error that the writer never sees.
    """
    name = f"{write.kind} {write.record.state}"
    record, changed = apply(world.rules, state.record, write)
    landed = with_record(state, record)
    yield Written(name, changed, landed)
    if not state.faults.store_errors:
        return
    faults = state.faults._replace(store_errors=state.faults.store_errors - 1)
    yield Written(f"{name} fails", None, state._replace(faults=faults))
    if changed:
        yield Written(f"{name} is made, and seems to fail", None, landed._replace(faults=faults))
    if state.late is None:
        later = state._replace(faults=faults, late=write)
        yield Written(f"{name} seems to fail, and will be made later", None, later)


def ledger_steps(world: World, state: State) -> Iterator[Step]:
    """The late write lands or is lost; a final record ends its 24 hours."""
    if state.late is not None:
        record, _ = apply(world.rules, state.record, state.late)
        yield Step(
            f"the late {state.late.kind} lands", False, state._replace(record=record, late=None)
        )
        yield Step(f"the late {state.late.kind} is lost", True, state._replace(late=None))
    if state.faults.expiries and state.record is not None and _is_quiet(state):
        faults = state.faults._replace(expiries=state.faults.expiries - 1)
        if state.record.state in FINAL:
            expired = _expired(world.rules, state._replace(faults=faults))
            yield Step("the record has lived its 24 hours", True, expired)
        elif not world.rules.sent_does_not_expire:
            expired = state._replace(record=None, faults=faults)
            yield Step("the open record is deleted", True, expired)


def _expired(rules: Rules, state: State) -> State:
    """The key can be claimed anew; what it is answered then is the journal's to say."""
    seen, machine = state.seen._replace(has_expired=True), state.machine
    if seen.answer == UNKNOWN:
        # Nobody knew; who asks a day later is told what the journal knows, if it knows anything.
        seen = seen._replace(answer=None)
    if not rules.journal_outlives_record:
        machine = machine._replace(journal=machine.journal._replace(entry=None))
    return state._replace(record=None, seen=seen, machine=machine)


def _is_quiet(state: State) -> bool:
    """Whether nothing is under way that cannot take 24 hours."""
    machine = state.machine
    if state.bus.forwards or any(node.sending is not None for node in state.nodes):
        return False
    if state.late is not None or machine.running or machine.is_queued:
        return False
    if machine.link is not None and machine.link.inbox:
        return False
    return all(
        node.request is None
        and (node.link is None or (node.link.connected and not node.link.inbox))
        for node in state.nodes
    )


def free_attempt(state: State) -> int:
    """A number that stands for a random one: none that is in use anywhere."""
    used = {0}
    for _, request, _, _ in state.nodes:
        if request is not None:
            used |= {request.record.attempt, request.taken}
    if state.record is not None:
        used.add(state.record.attempt)
    if state.late is not None:
        used |= {state.late.attempt, state.late.record.attempt}
    used |= {
        node.link.write.attempt
        for node in state.nodes
        if node.link is not None and node.link.write is not None
    }
    return next(number for number in range(1, 12) if number not in used)
