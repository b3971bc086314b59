"""How a hand's inputs fail, and how what it holds is released in the end."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from schemas.inputs.bodies import AnyInput, Button, ClickMouse, PressKeys
from schemas.inputs.outcomes import Completed, Failed, Refused, Unknown
from server.dispatch.command import CommandReply, Ended, Pending
from server.dispatch.questions.question import Refusal, RefusalKind

RELEASE_SECONDS: Final = 30.0
"""How long a release is tried again: by then the lease has run out, which releases as well."""

AGAIN_SECONDS: Final = 0.5

AT_ONCE: Final = 32
"""Keys in one input."""


@dataclass(frozen=True)
class Failure:
    """An input was not carried out, or not for sure: what became of it instead."""

    reply: CommandReply

    @property
    def something_happened(self) -> bool:
        """Whether it may have happened, at least in part."""
        match self.reply:
            case Pending() | Ended(outcome=Unknown()):
                return True
            case Ended(outcome=Failed(injected_at_least=count)):
                # What was pressed by somebody at the desk is no reason to doubt what happened.
                return count > 0
            case _:
                return False

    @property
    def is_refused_for_good(self) -> bool:
        """Whether trying again would change nothing."""
        match self.reply:
            case Ended(outcome=Failed() | Refused()):
                return True
            case Refusal(kind=kind):
                return kind in _FOR_GOOD
            case _:
                return False

    @property
    def is_control_ended(self) -> bool:
        """Whether the lease is over."""
        reply = self.reply
        return isinstance(reply, Refusal) and reply.kind is RefusalKind.CONTROL_ENDED


_FOR_GOOD: Final = {RefusalKind.CONTROL_ENDED, RefusalKind.UNKNOWN_MACHINE}


def failure_of(reply: CommandReply) -> Failure | None:
    """Why an input was not carried out; None where it was."""
    is_done = isinstance(reply, Ended) and isinstance(reply.outcome, Completed)
    return None if is_done else Failure(reply)


class ReleasedAtEnd:
    """Releases buttons and keys, and tries again as long as nobody knows whether it was done.

    Where the machine has lost its link, or control ends, that releases everything as well.
    """

    def __init__(
        self,
        buttons: list[Button],
        keys: list[str],
        send: Callable[[AnyInput], Awaitable[Failure | None]],
        is_held_anew: Callable[[AnyInput], bool],
    ) -> None:
        self._buttons = buttons
        self._keys = keys
        self._send = send
        self._is_held_anew = is_held_anew
        self._done = asyncio.Event()

    async def run(self) -> None:
        """Release everything; one after another, the keys first."""
        try:
            give_up_at = time.monotonic() + RELEASE_SECONDS
            for begin in range(0, len(self._keys), AT_ONCE):
                await self._release_keys(self._keys[begin : begin + AT_ONCE], give_up_at)
            for button in self._buttons:
                await self._insist(ClickMouse(button=button, down=False), give_up_at)
        finally:
            self._done.set()

    async def until_done(self) -> None:
        """Wait until all of it is released, or given up."""
        await self._done.wait()

    async def _release_keys(self, keys: list[str], give_up_at: float) -> None:
        # The machine releases the last one first.
        together = PressKeys(text=" ".join(keys), down=False)
        failure = await self._insist(together, give_up_at)
        is_refused = failure is not None and not failure.is_control_ended
        if is_refused or self._is_held_anew(together):
            # Somebody else may hold one of them: that must not keep the others down.
            for key in reversed(keys):
                await self._insist(PressKeys(text=key, down=False), give_up_at)

    async def _insist(self, body: AnyInput, give_up_at: float) -> Failure | None:
        failure: Failure | None = None
        while True:
            if self._is_held_anew(body):
                # That is meant, and is released with what is held then.
                return failure
            failure = await self._send(body)
            if failure is None or failure.is_refused_for_good or time.monotonic() > give_up_at:
                return failure
            await asyncio.sleep(AGAIN_SECONDS)
