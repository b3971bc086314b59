"""One try of a step's input: stored before it is sent, and never sent again.

What became of it is the ledger's word, which has it from the machine.  It was done, or it surely
was not and never will be, or nobody knows, and then a person decides.
"""

import asyncio
from datetime import timedelta
from enum import Enum, auto
from typing import Final

from pydantic import ValidationError

from schemas.inputs.actions import AnyBody
from schemas.inputs.bodies import INPUT_BODIES, Operation
from schemas.inputs.outcomes import Completed, Expired, NotCarriedOut, Outcome, Refused
from server.clock import from_milliseconds
from server.dispatch.command import Command, CommandReply, Ended, Pending, Sender
from server.dispatch.dispatcher import Dispatcher
from server.dispatch.questions.inputs import Settle
from server.dispatch.questions.question import Refusal, RefusalKind
from server.errors import StoreUnavailable
from server.runs.finding import Found
from server.runs.stops import Ending, Halting, Unavailable
from server.store.runs.documents import StoredAttempt, StoredRun
from server.store.times import now

SETTLE_SECONDS: Final = 600.0
"""For the machine to say what became of an input; then a person is asked."""

POLL_SECONDS: Final = 0.5
CLOCKS: Final = timedelta(seconds=10)
"""By which the clocks of two nodes may differ."""


class Came(Enum):
    """What is known of a try."""

    DONE = auto()
    NEVER = auto()
    """Nothing of it happened, and nothing ever will."""


class StepTrying:
    """Tries the inputs of a run's steps; the ledger ``remembers`` for so long how each ended."""

    def __init__(self, dispatcher: Dispatcher, sender: Sender, remembers: timedelta) -> None:
        self._dispatcher = dispatcher
        self._sender = sender
        self._remembers = remembers - CLOCKS
        self.is_sending = False

    def command(self, run: StoredRun, body: AnyBody) -> Command:
        """The command of the next try of the step that a run is at, whose key is its own.

        No other request has such a key: they have no spaces.  Raises StoreUnavailable where the
        audit has no room.
        """
        assert run.machine_id is not None  # noqa: S101  it has its turn
        key = f"run {run.id} {run.step} {run.tries + 1}"
        return self._dispatcher.accept(self._sender, run.machine_id, body, key=key)

    async def sent(self, run: StoredRun, command: Command) -> Came:
        """Send the input of the try that was just stored; what came of it.

        Raises Halting, Ending, and Unavailable where nothing was sent.
        """
        self.is_sending = True
        try:
            reply = await self._reply(command)
        finally:
            self.is_sending = False
        return came_of(reply) or await self.settled(run)

    async def settled(self, run: StoredRun) -> Came:
        """What became of the newest try of a run, whose node may have been killed in its middle.

        Raises Halting where nobody knows, now or ever.
        """
        attempt = run.attempt
        assert attempt is not None and run.machine_id is not None  # noqa: S101, PT018  asked of one
        if now() - attempt.accepted_at > self._remembers:
            raise Halting("outcome_unknown", _NOBODY_KNOWS, is_unknown=True)
        asked = Settle(
            sender=self._sender,
            machine_id=run.machine_id,
            command_id=attempt.command_id,
            operation=Operation(attempt.operation),
            fingerprint=attempt.fingerprint,
            accepted_at=attempt.accepted_at,
            expires_at=attempt.expires_at,
        )
        give_up_at = asyncio.get_running_loop().time() + SETTLE_SECONDS
        while asyncio.get_running_loop().time() < give_up_at:
            try:
                known = await self._dispatcher.ask(asked)
            except StoreUnavailable:
                known = None
            if not isinstance(known, Refusal) and known is not None and known.ended is not None:
                return _end(known.ended.outcome)
            await asyncio.sleep(POLL_SECONDS)
        raise Halting("outcome_pending", _NOT_KNOWN_YET, is_unknown=True)

    async def _reply(self, command: Command) -> CommandReply:
        try:
            return await self._dispatcher.ask(command)
        except StoreUnavailable:
            return Pending(command_id=command.id)


def input_body(operation: str, body: object) -> AnyBody:
    """The body of a step's input with its values.  Raises Ending where it is none."""
    try:
        return INPUT_BODIES[Operation(operation)].model_validate(body)
    except ValidationError:
        # Its own words could repeat a value.
        raise Ending("error", f"its values make no body of {operation}") from None


def came_of(reply: CommandReply) -> Came | None:
    """What a reply says of a try; None where it says nothing for sure.

    Raises Halting, Ending, and Unavailable where nothing was sent and it is worth trying again.
    """
    match reply:
        case Ended():
            return _end(reply.outcome)
        case Refusal(kind=RefusalKind.UNAVAILABLE | RefusalKind.BUSY):
            raise Unavailable(reply.detail)
        case Refusal(kind=RefusalKind.CONTROL_ENDED):
            raise Unavailable(reply.detail)
        case Refusal(kind=RefusalKind.UNKNOWN_MACHINE):
            raise Ending("error", "its machine was removed")
        case Refusal(kind=RefusalKind.NO_ELEMENTS):
            raise Halting("cannot_look", reply.detail)
    return None


def _end(outcome: Outcome) -> Came:
    match outcome:
        case Completed():
            return Came.DONE
        case NotCarriedOut() | Expired():
            return Came.NEVER
        case Refused():
            raise Halting("input_refused", outcome.message)
    message = getattr(outcome, "message", None) or _NOBODY_KNOWS
    is_failed = outcome.status == "failed"
    raise Halting("input_failed" if is_failed else "outcome_unknown", message, is_unknown=True)


_NOBODY_KNOWS: Final = "nobody knows whether its input was done: it was begun and did not end"
_NOT_KNOWN_YET: Final = "the machine has not said yet whether its input was done"


def new_attempt(run: StoredRun, command: Command, found: Found) -> StoredAttempt:
    """What is stored of a try before it is sent."""
    return StoredAttempt(
        step=run.step,
        number=run.tries + 1,
        command_id=command.id,
        operation=command.operation,
        fingerprint=command.fingerprint,
        accepted_at=from_milliseconds(command.accepted_at),
        expires_at=from_milliseconds(command.expires_at),
        began_at=now(),
        how=found.how,
        score=found.score,
    )
