"""What is asked of a machine about its screen while a step is found and seen to come true."""

import asyncio
from typing import TypeVar
from uuid import uuid4

from schemas.inputs.outcomes import Point
from schemas.inputs.pictures import PictureWanted
from schemas.inputs.selectors import Sought
from schemas.inputs.waits import Changed, Conditions, Still
from server.dispatch.questions.elements import ElementsFound, FindElements
from server.dispatch.questions.question import Question, RefusalKind
from server.dispatch.questions.screens import (
    AwaitScreen,
    PictureTaken,
    ScreenSeen,
    StillWaiting,
    TakeScreenshot,
)
from server.dispatch.refusals import RefusedError, accepted, is_unanswered
from server.runs.asking import Machine
from server.runs.finding.outcomes import Halt
from server.runs.finding.thresholds import (
    BLIND_SECONDS,
    SETTLE_SECONDS,
    STILL_SECONDS,
    UNANSWERED_SECONDS,
)

R = TypeVar("R")


async def asked(machine: Machine, question: Question[R]) -> R:
    """What a machine answers.  Raises RefusedError."""
    reply = await machine.ask(question)
    return accepted(reply)


async def elements(
    machine: Machine, sought: Sought, limit: int, at: tuple[int, int] | None = None
) -> ElementsFound:
    """The elements that are so, or that are so at a place.  Raises RefusedError."""
    return await asked(
        machine,
        FindElements(
            organization_id=machine.organization_id,
            machine_id=machine.machine_id,
            sought=sought,
            at=None if at is None else Point(x=at[0], y=at[1]),
            limit=limit,
            depth=None,
        ),
    )


async def picture(machine: Machine, wanted: PictureWanted) -> PictureTaken:
    """The screen as it is now.  Raises RefusedError."""
    return await asked(
        machine,
        TakeScreenshot(
            organization_id=machine.organization_id, machine_id=machine.machine_id, wanted=wanted
        ),
    )


async def until_seen(machine: Machine, conditions: Conditions, seconds: float) -> ScreenSeen:
    """What the screen shows within the time.  Raises RefusedError.

    Who is cancelled asks no more, and so the machine looks no more.
    """
    question = AwaitScreen(
        organization_id=machine.organization_id,
        machine_id=machine.machine_id,
        wait_id=uuid4(),
        any=conditions,
        timeout=seconds,
    )
    while isinstance(seen := await asked(machine, question), StillWaiting):
        pass
    return seen


async def until_changed(machine: Machine, seconds: float) -> None:
    """Wait until the screen changes, for so long at most; one that cannot be seen may have."""
    try:
        await until_seen(machine, (Changed(changed=True),), seconds)
    except RefusedError:
        await asyncio.sleep(min(seconds, BLIND_SECONDS))


async def settle(machine: Machine) -> None:
    """Wait until the screen is still, but not for long; one that cannot be seen is not waited for.

    Whoever needs it will be told why.
    """
    try:
        await until_seen(machine, (Still(still=STILL_SECONDS),), SETTLE_SECONDS)
    except RefusedError:
        return


class Patience:
    """Looks again where nobody has answered, or had no time to, for a while from the first time."""

    def __init__(self) -> None:
        self._give_up_at: float | None = None

    async def is_left(self, halt: Halt) -> bool:
        """Whether it is to be looked again, after a moment, for what it was halted."""
        if halt.refusal is None or not is_unanswered(halt.refusal):
            return False
        now = asyncio.get_running_loop().time()
        if self._give_up_at is None:
            self._give_up_at = now + UNANSWERED_SECONDS
        elif now >= self._give_up_at:
            return False
        await asyncio.sleep(BLIND_SECONDS)
        return True


def tells_no_elements(error: RefusedError) -> bool:
    """Whether a machine tells of no elements; it may show a picture all the same."""
    refusal = error.refusal
    return refusal.kind is RefusalKind.NO_ELEMENTS or refusal.reason == "no_elements"
