"""Where a step belongs on the screen as it is now."""

import asyncio
from collections.abc import Sequence
from typing import Final

from schemas.steps.step import Step, Target
from server.dispatch.questions.pictures import TypedText
from server.dispatch.refusals import RefusedError
from server.runs.asking import Machine
from server.runs.finding import looking, placing
from server.runs.finding.by_element import at_focus, by_element, contradicts, named
from server.runs.finding.by_picture import by_picture, keys_by_picture
from server.runs.finding.by_text import by_text
from server.runs.finding.halting import halted
from server.runs.finding.outcomes import Candidate, Found, Halt
from server.runs.finding.thresholds import PATIENCE_SECONDS

_FIRST: Final = (("x", "y"), ("start_x", "start_y"))


async def find(
    machine: Machine, step: Step, scale: float | None = None, typed: Sequence[TypedText] = ()
) -> Found | Halt:
    """Where a step belongs, once the screen is still; or why nobody knows, and nothing was done.

    A screen that is about to come is waited for.  ``scale`` is what earlier steps of the run were
    found at, and ``typed`` what of them typed texts that are other ones now.  Raises
    StoreUnavailable.
    """
    clock = asyncio.get_running_loop().time
    began_at, patience = clock(), looking.Patience()
    while True:
        looks_at = clock()
        found = await look(machine, step, scale, typed)
        if isinstance(found, Found):
            return found
        if await patience.is_left(found):
            continue
        give_up_at = began_at + PATIENCE_SECONDS.get(found.reason, 0.0)
        # A look may take seconds, after which the screen may be another one.
        if looks_at >= give_up_at:
            return await halted(machine, found)
        if (left := give_up_at - clock()) > 0:
            await looking.until_changed(machine, left)


async def look(
    machine: Machine, step: Step, scale: float | None = None, typed: Sequence[TypedText] = ()
) -> Found | Halt:
    """The same at this moment, with no picture of a halt."""
    await looking.settle(machine)
    try:
        return await _found(machine, step, scale, typed)
    except RefusedError as error:
        return Halt("cannot_look", error.refusal.detail, refusal=error.refusal)


async def _found(
    machine: Machine, step: Step, scale: float | None, typed: Sequence[TypedText]
) -> Found | Halt:
    if placing.named_elements(step):
        return await named(machine, step)
    target = step.target
    if target is None:
        return Found(dict(step.body), "none needed")
    if placing.place_of(step) is None:
        if step.operation.startswith("keyboard.") and target.element is not None:
            return await at_focus(machine, step, target)
        if step.operation.startswith("keyboard."):
            return await keys_by_picture(machine, step, target, typed)
        if placing.is_in_picture(step) and (target.element or target.crop):
            return Halt(
                "unfindable", "its places are those of a smaller picture, and have no target"
            )
        return Found(dict(step.body), "none needed")
    found = await _by_element(machine, step, target)
    return found or await _by_sight(machine, step, target, scale, typed) or _nowhere(target)


async def _by_sight(
    machine: Machine,
    step: Step,
    target: Target,
    scale: float | None,
    typed: Sequence[TypedText],
) -> Found | Halt | None:
    """By its picture or else its text, where no element that is told of is another one.

    An element that is not there has gone, also where nobody looks for pictures.
    """
    try:
        found = await by_picture(machine, step, target, scale, typed)
        if found is None:
            found = await by_text(machine, step, target)
    except RefusedError as error:
        if target.element is None or error.refusal.reason != "no_vision":
            raise
        return None
    if not isinstance(found, Found) or found.at is None:
        return found
    body = found.body
    place = next((body[x], body[y]) for x, y in _FIRST if x in body)
    try:
        other = await contradicts(machine, target, place)
    except RefusedError:
        return found  # Nothing tells of elements by now.
    if other is None:
        return found
    why = f"what looks like it is {other}, and another element was recorded"
    return Halt("surroundings", why, (Candidate(found.at, found.score, other),))


async def _by_element(machine: Machine, step: Step, target: Target) -> Found | Halt | None:
    """As `by_element`; a machine that tells of no elements may still show a picture."""
    try:
        return await by_element(machine, step, target)
    except RefusedError as error:
        if target.crop is None or not looking.tells_no_elements(error):
            raise
        return None


def _nowhere(target: Target) -> Halt:
    if target.element is None and target.crop is None:
        return Halt(
            "unfindable",
            "neither an element nor a picture was recorded by which the target could be found; "
            "take the target away where the place alone is meant",
        )
    return Halt("missing", "nothing on the screen is like what the step was done to")
