"""The steps of a command without a key: sent at once, and recorded only where its end is not known.

A client asks once, for nothing can repeat it.
"""

from collections.abc import Iterator

from tests.model.links import tell_machine
from tests.model.protocol import World
from tests.model.request import NOTHING, UP, ask, asks, at_work, can_send, sent_on
from tests.model.state import SENT, Message, Record, Request, ServerLink, State, Step

KEPT_BY_HOLDER, KEPT_BY_SENDER = 1, 2
"""The attempts of the two who may record it."""


def steps_without_key(world: World, state: State, number: int) -> Iterator[Step]:
    """A client asks the holder, which waits so long; or somebody looks what became of it."""
    link, request, _, _ = state.nodes[number]
    if request is not None:
        if request.stage == "sent":
            kept = at_work(state, number, request._replace(stage="keep"))
            yield Step(f"node {number} hears nothing of the machine in time", False, kept)
        return
    if link is None:
        return
    if state.faults.asks:
        faults = state.faults._replace(asks=state.faults.asks - 1)
        asked = Request("", NOTHING, is_client=True)
        yield from send_without_key(world, asks(state._replace(faults=faults)), number, link, asked)
    record = state.record
    if record is not None and record.state == SENT and link.stage in UP:
        step = ask(world.rules, state, number, link, Request("", record))
        yield step._replace(name=f"node {number} is asked to look; {step.name}")


def send_without_key(
    world: World, state: State, number: int, link: ServerLink, asked: Request
) -> Iterator[Step]:
    """Send it at once, where the link can."""
    if can_send(world.rules, link):
        sent = asked._replace(stage="sent", record=Record(SENT, KEPT_BY_HOLDER, sent_on(link)))
        told = tell_machine(state, number, Message("input"))
        yield Step(f"node {number} sends it", False, at_work(told, number, sent))
