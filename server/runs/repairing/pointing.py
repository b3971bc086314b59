"""A step that is done to what somebody has pointed at, as the screen shows it now.

What is pointed at is told of as a recording tells of it, and the run looks for it and checks it as
for every other step: a screen that changes meanwhile halts it again.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from schemas.inputs.pictures import Area, PictureWanted
from schemas.inputs.selectors import Selector, Sought
from schemas.link.element_messages import MAX_ELEMENTS, SeenElement
from schemas.resources.stored_pictures import media_type_of
from schemas.runs.requests import ContinuedRun
from schemas.steps.step import Crop, Step, Target
from schemas.steps.surroundings import Around
from schemas.values.pictures import Region
from server.dispatch.here.neighbours import around, glob_of_cut, is_like
from server.dispatch.here.selectors import sought_as
from server.dispatch.recording.targets import crop_around
from server.dispatch.refusals import RefusedError
from server.errors import WrongState
from server.runs.finding import looking, placing
from server.runs.machine import RunMachine
from server.store.trajectories.pictures import PictureStore


@dataclass(frozen=True, slots=True)
class _There:
    """What is pointed at: an element among others, or a place alone."""

    place: tuple[int, int]
    element: SeenElement | None = None
    around: Around | None = None


class Pointing:
    """Finds what is pointed at on the machines of halted runs, and keeps pictures of it."""

    def __init__(self, pictures: PictureStore) -> None:
        self._pictures = pictures

    async def pointed(
        self, machine: RunMachine, steps: Sequence[Step], number: int, how: ContinuedRun
    ) -> dict[int, Step]:
        """The step, done to this; and those behind it whose keys went to the same element.

        Raises WrongState where the step has nothing to be pointed at, or nothing that could be
        found again is there, and RefusedError.
        """
        step = steps[number - 1]
        if why := _why_not(step):
            raise WrongState(f"step {number} {why}: do it by hand, and go on behind it")
        there = await _there(machine, how)
        target = await self._target(machine, step, there)
        found = {number: _done_to(step, there, target)}
        for later, following in _same_element(steps, number):
            empty = (
                following.target and following.target.around and following.target.around.is_empty
            )
            beside = (target.around or Around()).model_copy(update={"is_empty": bool(empty)})
            changed = Target(element=target.element, around=beside, box=target.box)
            found[later] = following.model_copy(update={"target": changed})
        return found

    async def _target(self, machine: RunMachine, step: Step, there: _There) -> Target:
        """What finds it again: what the element is, and how it looks around the place."""
        element, box = None, None
        if there.element is not None:
            element, bounds = sought_as(there.element), there.element.bounds
            box = None if bounds is None else Area.model_validate(bounds._asdict())
        crop = None
        if placing.place_of(step) is not None:
            crop = await self._crop(machine, there.place)
        if element is None and crop is None:
            raise WrongState(
                "what is there has neither a role, a name nor a picture by which it could be found"
            )
        return Target(element=element, box=box, around=there.around, crop=crop)

    async def _crop(self, machine: RunMachine, place: tuple[int, int]) -> Crop | None:
        """How it looks around a place; None where the screen is not shown."""
        try:
            taken = await looking.picture(machine, PictureWanted())
        except RefusedError as error:
            if error.refusal.reason == "private":
                raise
            return None
        part, media_type = crop_around(place, taken.region), media_type_of(taken.content)
        if part is None:
            raise WrongState(f"the place {place[0]}, {place[1]} is not on the screen")
        if media_type is None:
            return None
        kept, _ = await self._pictures.add(
            machine.organization_id, media_type, taken.content, machine.machine_id
        )
        return Crop(picture=kept.id, area=Area.model_validate(part._asdict()))


def _why_not(step: Step) -> str | None:
    """Why nothing can be pointed at for a step, to stand behind its number."""
    if len(placing.named_elements(step)) == 1 or placing.place_of(step) is not None:
        return None
    if step.operation.startswith("keyboard.") and step.target and step.target.element:
        return None
    return "is done to no place and no element that somebody could point at"


async def _there(machine: RunMachine, how: ContinuedRun) -> _There:
    """What is pointed at, as the machine tells of it now.  Raises WrongState or RefusedError."""
    if how.element is not None:
        wanted = how.element
        told = await looking.elements(machine, _without_ref(wanted), MAX_ELEMENTS)
        alike = [each for each in told.elements if is_like(each, wanted) and each.bounds]
        if len(alike) != 1 or told.truncated is not None:
            many = f"{len(alike)} elements are" if alike else "no element is"
            raise WrongState(f"{many} like what was pointed at: look again")
        (element,) = alike
        assert element.bounds is not None  # noqa: S101  it has them
        return await _with_around(machine, element, _middle(element.bounds))
    assert how.place is not None  # noqa: S101  one of the two is given
    place = how.place.x, how.place.y
    try:
        told = await looking.elements(machine, Sought(), 1, place)
    except RefusedError as error:
        if not looking.tells_no_elements(error):
            raise
        return _There(place)
    if not told.elements:
        return _There(place)
    return await _with_around(machine, told.elements[0], place)


async def _with_around(machine: RunMachine, element: SeenElement, place: tuple[int, int]) -> _There:
    said = {"window": element.window, "application": element.application}
    within = Sought(**{name: glob_of_cut(text) for name, text in said.items() if text})
    told = await looking.elements(machine, within, MAX_ELEMENTS)
    beside = None if told.truncated is not None else around(element, told.elements)
    return _There(place, element, beside)


def _without_ref(selector: Selector) -> Sought:
    return Sought.model_validate(selector.model_dump(exclude={"ref"}))


def _middle(bounds: Region) -> tuple[int, int]:
    return bounds.x + bounds.width // 2, bounds.y + bounds.height // 2


def _done_to(step: Step, there: _There, target: Target) -> Step:
    """The step at another place, or with another element; what it does stays as it was approved."""
    changed: dict[str, Any] = {"target": target}
    if (place := placing.place_of(step)) is not None:
        was, now = Area(x=place[0], y=place[1], width=1, height=1), Region(*there.place, 1, 1)
        changed |= {"body": placing.moved(step, was, now)}
        changed |= {"picture": target.crop.picture if target.crop else None}
    elif named := placing.named_elements(step):
        (field,) = named
        if target.element is None:
            raise WrongState("no element is there, and the step needs one")
        body = {**step.body, field: target.element.model_dump(mode="json")}
        changed = {"body": body}
    return step.model_copy(update=changed)


def _same_element(steps: Sequence[Step], number: int) -> list[tuple[int, Step]]:
    """The steps right behind one whose keys went to the element that it was done to."""
    target = steps[number - 1].target
    found: list[tuple[int, Step]] = []
    if target is None or target.element is None:
        return found
    for later, step in enumerate(steps[number:], number + 1):
        other = step.target and step.target.element
        is_typed = step.operation.startswith("keyboard.")
        if not is_typed or not other or _said(other) != _said(target.element):
            break
        found.append((later, step))
    return found


def _said(selector: Selector) -> tuple[object, ...]:
    return selector.role, selector.name
