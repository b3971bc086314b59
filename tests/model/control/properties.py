"""The promises, as an observer who sees everything at once checks them in every state."""

from tests.model.control.state import ADA, BOB, HOLDER, NAMES, REFUSED, State


def broken(state: State) -> str | None:
    """The promise that does not hold in a state, whatever may come next, or None.

    From 201 until the lease is given back, taken over or has run out, nothing of anybody else
    runs or is held.
    """
    machine = state.machine
    for who, taker in zip((ADA, BOB), state.takers, strict=True):
        if taker.stage != HOLDER:
            continue
        if machine.jobs and (running := machine.jobs[0].sender) != who:
            return f"an input of {NAMES[running]} runs, and {NAMES[who]} has control"
        for other in sorted((machine.held | machine.left) - {who}):
            return f"{NAMES[other]} holds something, and {NAMES[who]} has control"
    return None


def broken_at_rest(state: State) -> str | None:
    """The promise that does not hold where nothing more comes by itself, or None."""
    if state.has_run_out:
        return f"the lease of {NAMES[state.lease]} has run out, and stands"
    for who, taker in zip((ADA, BOB), state.takers, strict=True):
        if taker.stage == REFUSED and state.lease == who:
            return f"{NAMES[who]} was refused, and has the lease"
        if who in state.machine.held and state.lease != who:
            return f"{NAMES[who]} has no lease any more, and holds something"
    return None
