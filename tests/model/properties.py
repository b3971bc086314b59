"""The promises, as an observer who sees everything at once checks them in every state."""

from tests.model.protocol import World
from tests.model.state import (
    COMPLETED,
    EXPIRED,
    FINAL,
    INTERRUPTED_BEFORE,
    NOT_CARRIED_OUT,
    RESULTS,
    UNKNOWN,
    UNKNOWN_IN,
    Results,
    State,
)


def observed(world: World, state: State) -> State:
    """The state with what an observer notes in it: the first final answer, and what is wrong.

    What is final in the ledger is counted as answered: some client may have just read it.  When a
    record has lived its 24 hours the key may be claimed anew, and must then be answered alike; or
    UNKNOWN, where that is honest: something befell the machine since.
    """
    seen, record = state.seen, state.record
    final = record.state if record is not None and record.state in FINAL else None
    actions = world.configuration.actions
    if not world.configuration.is_keyed:
        if seen.wrong is None and (promise := _broken_without_key(state, final)) is not None:
            return state._replace(seen=seen._replace(wrong=promise))
        return state
    if final is not None and (
        seen.answer is None
        or (seen.has_expired and _is_unknown(final) and _is_honest(state, actions, final))
    ):
        state = state._replace(seen=seen._replace(answer=final))
    if seen.wrong is None and (promise := _broken(state, actions, final)) is not None:
        return state._replace(seen=state.seen._replace(wrong=promise))
    return state


def _broken(state: State, actions: int, final: str | None) -> str | None:
    """The promise that does not hold in a state, or None."""
    seen, record = state.seen, state.record
    if final is not None and final != seen.answer:
        return f"two final answers: {seen.answer}, {final}"
    if seen.answer is not None and final is None and not seen.has_expired:
        return f"the final answer {seen.answer} is not stored"
    if final == COMPLETED and seen.finished < actions:
        return "completed, and the events were not all there"
    if final in (NOT_CARRIED_OUT, EXPIRED) and seen.begun:
        return f"{final}, and the events were begun"
    if _is_unknown(final) and not _is_honest(state, actions, final):
        return "unknown, and the machine was interrupted by nothing"
    if final in RESULTS and (promise := _broken_results(state, RESULTS[final])) is not None:
        return promise
    if seen.begun and record is None and not seen.has_expired:
        return "the events were begun, and the key says unused"
    return _broken_word(state)


def _broken_results(state: State, results: Results) -> str | None:
    """The promise that does not hold of several actions, of which each has its result."""
    seen, (done, current) = state.seen, results
    if seen.finished < done:
        return "an action is completed, and its events were not all there"
    begun_at_most = done if current == INTERRUPTED_BEFORE else done + 1
    if seen.begun > begun_at_most:
        return "an action is not begun, and its events were begun"
    if current != UNKNOWN_IN and seen.finished > done:
        return "an action is interrupted, and its events were all there"
    return None


def _broken_without_key(state: State, final: str | None) -> str | None:
    """The promise that does not hold of a command without a key: what is said of it is true."""
    seen = state.seen
    for answer in (final, seen.answer):
        if answer == COMPLETED and not seen.finished:
            return "completed, and the events were not all there"
        if answer in (NOT_CARRIED_OUT, EXPIRED) and seen.begun:
            return f"{answer}, and the events were begun"
    if final is not None and seen.answer not in (None, final):
        return f"two final answers: {seen.answer}, {final}"
    return _broken_word(state)


def _broken_word(state: State) -> str | None:
    """Whether clients were told that nothing has happened, and it has."""
    if state.seen.is_unused and state.seen.begun and not state.seen.has_expired:
        return "the events were begun, and all who asked were told that nothing has happened"
    return None


def _is_unknown(final: str | None) -> bool:
    return final == UNKNOWN or (final in RESULTS and RESULTS[final].current == UNKNOWN_IN)


def _is_honest(state: State, actions: int, final: str | None) -> bool:
    """Whether the machine cannot know, or what was sent on a link could have been lost there.

    Of several actions it knows all but one, unless they were lost.  In a key's second life nothing
    is begun and flushed again, so the journal's number may be lower than the record says.
    """
    sent = None if state.record is None else state.record.sent
    is_lost = sent is not None and sent.epoch <= state.seen.lost_epoch
    if actions > 1 and final == UNKNOWN and not state.seen.has_expired:
        return is_lost
    return state.seen.was_interrupted or is_lost
