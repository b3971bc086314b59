"""What clients are told, and what an observer notes of it."""

from tests.model.state import FINAL, PENDING, Reply, Request, State


def answered(state: State, request: Request, answer: str) -> State:
    """A node's work has ended: whoever waits for it hears how, on the bus or as its client."""
    if request.waiters:
        said = {Reply(forward, answer) for forward in request.waiters}
        replies = tuple(sorted({*state.bus.replies, *said}))
        state = state._replace(bus=state.bus._replace(replies=replies))
    return told(state, answer) if request.is_client else state


def told(state: State, answer: str) -> State:
    """A client has its answer, and waits no more."""
    seen = state.seen
    if answer in FINAL:
        if seen.answer is None:
            return state._replace(seen=seen._replace(answer=answer))
        if seen.answer != answer and not seen.has_expired:
            wrong = f"two final answers: {seen.answer}, {answer}"
            return state._replace(seen=seen._replace(wrong=seen.wrong or wrong))
    elif answer == PENDING:
        if not seen.may_come:
            return state._replace(seen=seen._replace(may_come=True))
    elif not (seen.may_come or seen.answer or _somebody_waits(state)):
        return state._replace(seen=seen._replace(is_unused=True))
    return state


def _somebody_waits(state: State) -> bool:
    """Whether there is a client who has not been told anything yet."""
    return any(
        node.sending is not None or (node.request is not None and node.request.is_client)
        for node in state.nodes
    )
