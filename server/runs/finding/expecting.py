"""Whether what a step was to bring about comes true."""

from base64 import b64encode
from typing import Final

from schemas.inputs.pictures import PictureWanted
from schemas.inputs.sights import PictureShown, TextShown
from schemas.inputs.waits import Changed, Condition, ElementSeen, Still
from schemas.resources.stored_pictures import is_picture_id
from schemas.steps.step import Expectation, Step
from server.dispatch.refusals import RefusedError
from server.runs.asking import Machine
from server.runs.finding import looking
from server.runs.finding.halting import halted
from server.runs.finding.outcomes import Before, Halt, Verified

_LONGEST_WORDS: Final = 100


async def as_before(machine: Machine, step: Step) -> Before:
    """What is needed of the screen as it is before a step is done; ask right before its input.

    Raises StoreUnavailable.
    """
    pictures: dict[int, bytes] = {}
    for number, condition in enumerate(() if step.expect is None else step.expect.any):
        # What is to be ignored in a picture only the machine knows how to leave out.
        if isinstance(condition, Changed) and not condition.ignore:
            try:
                pictures[number] = await _shown(machine, condition)
            except RefusedError:
                continue
    return Before(pictures)


async def expected(machine: Machine, step: Step, before: Before) -> Verified | Halt:
    """Wait until what a step expects is so, for as long as it says.

    A step that expects nothing is verified at once.  Raises StoreUnavailable.
    """
    if (expect := _expectation(step)) is None:
        return Verified()
    patience = looking.Patience()
    while isinstance(found := await _looked(machine, expect, before), Halt):
        if not await patience.is_left(found):
            return await halted(machine, found)
    return found


async def _looked(machine: Machine, expect: Expectation, before: Before) -> Verified | Halt:
    try:
        return await _awaited(machine, expect, before)
    except RefusedError as error:
        return Halt("cannot_look", error.refusal.detail, refusal=error.refusal)


def _expectation(step: Step) -> Expectation | None:
    if step.operation == "wait_for":
        return Expectation.model_validate(step.body)
    return step.expect


async def _awaited(machine: Machine, expect: Expectation, before: Before) -> Verified | Halt:
    # What it did may be over before anybody begins to wait for a change.
    if (number := await _changed(machine, expect, before)) is not None:
        return Verified(number)
    conditions: list[Condition] = []
    for each in expect.any:
        with_picture = await _with_picture(machine, each)
        if with_picture is None:
            return Halt("cannot_look", "the picture that the step waits for is not kept any more")
        conditions.append(with_picture)
    seen = await looking.until_seen(machine, tuple(conditions), expect.timeout)
    if seen.matched is not None:
        return Verified(seen.matched, seen.at, seen.elapsed)
    if (number := await _changed(machine, expect, before)) is not None:
        return Verified(number, elapsed=seen.elapsed)
    words = tuple(_words(each) for each in expect.any)
    actual = tuple(f"the text {each!r}" for each in seen.seen)
    why = f"{' or '.join(words)} was not seen within {expect.timeout:g} s"
    return Halt("not_seen", why, expected=words, actual=actual)


async def _changed(machine: Machine, expect: Expectation, before: Before) -> int | None:
    """Which of the conditions is met that wait for a change since the step was done."""
    for number, was in before.pictures.items():
        condition = expect.any[number]
        if isinstance(condition, Changed) and await _shown(machine, condition) != was:
            return number
    return None


async def _shown(machine: Machine, condition: Changed) -> bytes:
    wanted = PictureWanted(region=condition.region, pointer=False)
    return (await looking.picture(machine, wanted)).content


async def _with_picture(machine: Machine, condition: Condition) -> Condition | None:
    """A condition with its picture; None where that is not kept any more."""
    if not isinstance(condition, PictureShown) or not is_picture_id(condition.picture):
        return condition
    content = await machine.recorded(condition.picture)
    if content is None:
        return None
    return condition.model_copy(update={"picture": b64encode(content).decode()})


def _words(condition: Condition) -> str:
    """A condition, for a person."""
    match condition:
        case TextShown(text=text):
            words = f"the text {text!r}"
        case PictureShown():
            words = "the picture"
        case ElementSeen(element=element):
            said = element.model_dump(exclude={"value"})
            words = "the element " + " ".join(f"{name} {text!r}" for name, text in said.items())
        case Still(still=seconds):
            return f"stillness of {seconds:g} s"
        case Changed():
            return "a change"
    words = words[:_LONGEST_WORDS]
    return f"{words} gone" if condition.gone else words
