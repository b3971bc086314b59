"""What those who take control do, and what becomes of leases in the database."""

from collections.abc import Iterator

from tests.model.control.links import begin_read
from tests.model.control.protocol import Rules, World
from tests.model.control.state import (
    ADA,
    ASKING,
    BOB,
    FORMER,
    GONE,
    HOLDER,
    IDLE,
    NAMES,
    NOBODY,
    OVER,
    REFUSED,
    STORED,
    UP,
    WAITING,
    State,
    Step,
    Taker,
    with_taker,
)


def taker_steps(world: World, state: State) -> Iterator[Step]:
    """Every step of those who take control."""
    rules = world.rules
    for who, taker in zip((ADA, BOB), state.takers, strict=True):
        if taker.stage == IDLE:
            yield from _taking(world, state, who)
        elif taker.stage in (STORED, ASKING, WAITING):
            if taker.stage == STORED:
                yield from _asking(rules, state, who, taker)
            elif taker.stage == WAITING:
                yield from _answering(rules, state, who, taker)
            yield Step(f"{NAMES[who]} is refused", True, _given_up(rules, state, who))
            if state.left.node_kills:
                left = state.left._replace(node_kills=state.left.node_kills - 1)
                gone = with_taker(state, who, Taker(GONE))._replace(left=left)
                yield Step(f"the node that {NAMES[who]} has asked is killed", False, gone)
        elif taker.stage == HOLDER:
            ended = _ended(rules, with_taker(state, who, Taker(FORMER)), who)
            yield Step(f"{NAMES[who]} gives control back", False, ended)


def lease_steps(world: World, state: State) -> Iterator[Step]:
    """A lease runs out, and is ended."""
    if state.lease == NOBODY:
        return
    name = f"the lease of {NAMES[state.lease]}"
    if not state.has_run_out:
        if state.left.run_outs:
            left = state.left._replace(run_outs=state.left.run_outs - 1)
            former = _former(state, state.lease)._replace(has_run_out=True, left=left)
            yield Step(f"{name} runs out", False, former)
    elif world.rules.run_out_is_ended:
        yield Step(f"{name} is ended", True, state._replace(lease=NOBODY, has_run_out=False))


def _taking(world: World, state: State, who: int) -> Iterator[Step]:
    """The lease is stored where it is free, or somebody takes over."""
    if all(link.stage != UP for link in state.links):
        return  # Refused before anything is stored.
    is_free = state.lease == NOBODY or state.has_run_out
    if is_free or (who == BOB and world.configuration.takes_over):
        state = _former(state, state.lease)
    elif world.rules.take_is_conditional:
        yield Step(f"{NAMES[who]} is refused", False, with_taker(state, who, Taker(REFUSED)))
        return
    stored = with_taker(state, who, Taker(STORED, state.epoch))
    stored = stored._replace(lease=who, has_run_out=False)
    yield Step(f"{NAMES[who]}'s lease is stored", False, stored)


def _former(state: State, who: int) -> State:
    """Somebody's lease is over, without their doing."""
    if who == NOBODY or state.takers[who - 1].stage != HOLDER:
        return state
    return with_taker(state, who, Taker(FORMER))


def _asking(rules: Rules, state: State, who: int, taker: Taker) -> Iterator[Step]:
    """A link is asked, and reads for whoever takes control."""
    for number, link in enumerate(state.links):
        if link.stage != UP:
            continue
        if not rules.taker_reads:
            waiting = with_taker(state, who, taker._replace(stage=WAITING, link=number))
            yield Step(f"{NAMES[who]} asks link {number}", True, waiting)
        elif not link.reads or (not rules.one_read_at_a_time and len(link.reads) < 2):
            asking = with_taker(state, who, taker._replace(stage=ASKING, link=number))
            after = begin_read(asking, number, reader=who)
            yield Step(f"{NAMES[who]} asks link {number}, which begins to read", True, after)


def _answering(rules: Rules, state: State, who: int, taker: Taker) -> Iterator[Step]:
    """201 is answered where the link confirms that control is this taker's."""
    link = state.links[taker.link]
    if link.stage == OVER:
        is_good = not rules.lost_link_confirms_nothing
    else:
        is_good = not (link.open and rules.confirmed_before_answered)
        is_good = is_good and not (rules.epoch_is_compared and link.epoch < taker.epoch)
        is_good = is_good and not (rules.proof_is_compared and link.knows != who)
    if is_good:
        is_in_force = state.lease == who and not state.has_run_out
        # Where it is over by then, what was answered was true once.
        answered = with_taker(state, who, Taker(HOLDER if is_in_force else FORMER))
        yield Step(f"{NAMES[who]} is answered 201", True, answered)


def _given_up(rules: Rules, state: State, who: int) -> State:
    refused = with_taker(state, who, Taker(REFUSED))
    return _ended(rules, refused, who) if rules.unconfirmed_is_ended else refused


def _ended(rules: Rules, state: State, who: int) -> State:
    """Somebody's lease is ended in the database, where it is there."""
    if rules.ending_compares_proof and state.lease != who:
        return state
    return state._replace(lease=NOBODY, has_run_out=False)
