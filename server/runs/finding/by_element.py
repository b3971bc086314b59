"""Finds a step's target by what programs tell of it, and of what stands around it."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from schemas.inputs.selectors import Selector, Sought
from schemas.link.element_messages import MAX_ELEMENTS, SeenElement
from schemas.steps.step import Step, Target
from schemas.steps.surroundings import Around
from server.dispatch.here.neighbours import is_checked, is_like, lacks
from server.runs.asking import Machine
from server.runs.finding import placing
from server.runs.finding.looking import elements
from server.runs.finding.outcomes import Candidate, Found, Halt
from server.runs.finding.thresholds import (
    AGAIN_SECONDS,
    LOOKS_AGAIN,
    MOST_ALIKE,
    MOST_CANDIDATES,
)

_ANYWHERE: Final = Around()


@dataclass(frozen=True, slots=True)
class _Judged:
    """An element that is like the target, and what should stand around it and does not."""

    element: SeenElement
    lacking: list[str]
    score: float

    @property
    def candidate(self) -> Candidate:
        what = called(self.element)
        if self.lacking:
            what += f", without {' and '.join(self.lacking)}"
        return Candidate(self.element.bounds, self.score, what)


async def by_element(machine: Machine, step: Step, target: Target) -> Found | Halt | None:
    """Where the target is; None where no element is like it.  Raises RefusedError."""
    if target.element is None:
        return None
    found = await _the_one(machine, target.element, target.around)
    if not isinstance(found, SeenElement):
        return found
    if (why := _why_unusable(found)) is not None:
        return Halt("not_usable", why, (Candidate(found.bounds, 1.0, called(found)),))
    if (halt := _other_state(found, target.around or _ANYWHERE)) is not None:
        return halt
    if placing.is_single(step) and placing.may_be_whole(found):
        body = placing.at_element(step, found)
        return Found(body, "element", at=found.bounds)
    return _at_same_place_within(step, target, found)


async def named(machine: Machine, step: Step) -> Found | Halt:
    """Whether the elements are there that a step's body names itself.  Raises RefusedError."""
    at = None
    for selector in placing.named_elements(step).values():
        found = await _the_one(machine, selector, None)
        if isinstance(found, Halt):
            return found
        if found is None:
            return Halt("missing", f"no element on the screen is like {_said(selector)}")
        if "enabled" not in found.states:
            return Halt("not_usable", f"{called(found)} is disabled")
        at = at or found.bounds
    return Found(dict(step.body), "element", at=at)


async def at_focus(machine: Machine, step: Step, target: Target) -> Found | Halt:
    """Whether keys go to where they went when they were recorded.  Raises RefusedError."""
    recorded = target.around or _ANYWHERE
    for _ in range(LOOKS_AGAIN):
        told = await elements(machine, Sought(), MAX_ELEMENTS)
        if told.truncated is not None:
            told = await elements(machine, _within(recorded), MAX_ELEMENTS)
        focused = [each for each in told.elements if "focused" in each.states]
        if all(each.bounds is not None for each in focused):
            break
        await asyncio.sleep(AGAIN_SECONDS)
    said = f"keys went to {_said(target.element)}" if target.element else "keys went to an element"
    if len(focused) != 1 or target.element is None:
        why = f"{said}, and now {len(focused) or 'no'} elements have the focus"
        return Halt(
            "focus", why, tuple(Candidate(each.bounds, 0, called(each)) for each in focused)
        )
    (element,) = focused
    lacking = lacks(element, told.elements, recorded)
    if not is_like(element, target.element):
        lacking = [_said(target.element)]
    if lacking:
        actual = called(element)
        why = f"{said}, and would now go to {actual}, without {' and '.join(lacking)}"
        return Halt(
            "focus", why, (Candidate(element.bounds, 0, actual),), tuple(lacking), (actual,)
        )
    same = [
        each
        for each in told.elements
        if is_like(each, target.element) and not lacks(each, told.elements, recorded)
    ]
    if len(same) > 1:
        why = f"{len(same)} elements are like {called(element)}, among the same others"
        alike = tuple(Candidate(each.bounds, 1.0, called(each)) for each in same[:MOST_CANDIDATES])
        return Halt("ambiguous", why, alike)
    if recorded.is_empty and element.value:
        why = f"{called(element)} was empty, and has something in it now"
        return Halt("surroundings", why, (Candidate(element.bounds, 0.5, called(element)),))
    return Found(dict(step.body), "element", at=element.bounds)


def called(element: SeenElement) -> str:
    """An element, for a person: never what is in it."""
    name = f' "{element.name[:60]}"' if element.name else ""
    return f"the {element.role}{name} of the window {element.window[:60]!r}"


async def contradicts(machine: Machine, target: Target, place: tuple[int, int]) -> str | None:
    """What an element at a place is, where it is another one than was recorded; else None.

    Raises RefusedError.
    """
    if target.element is None:
        return None
    told = await elements(machine, Sought(), 1, place)
    if not told.elements:
        return None
    there = told.elements[0]
    recorded = target.element.model_copy(update={"ref": None, "window": None})
    return None if is_like(there, recorded) else called(there)


async def _the_one(
    machine: Machine, selector: Selector, around: Around | None
) -> SeenElement | Halt | None:
    """The element that is meant; None where none is like it."""
    for _ in range(LOOKS_AGAIN):
        among = await _among(machine, selector, around)
        if among is None:
            why = f"too many elements are like {_said(selector)} to tell them apart"
            return Halt("ambiguous", why)
        judged = _judged(among, selector, around)
        if all(each.element.bounds is not None for each in judged):
            break
        # A window that is just changing its size has no sure place for a moment.
        await asyncio.sleep(AGAIN_SECONDS)
    if not judged and around is not None:
        # In another window or program, where it is not looked for at once.
        elsewhere = await elements(machine, _like(selector, _ANYWHERE), MOST_ALIKE)
        judged = _judged(elsewhere.elements, selector, around)
    right = [each.element for each in judged if not each.lacking]
    if len(right) == 1 or not judged:
        return right[0] if right else None
    candidates = tuple(
        each.candidate for each in sorted(judged, key=lambda one: -one.score)[:MOST_CANDIDATES]
    )
    if right:
        why = f"{len(right)} elements are like {_said(selector)}, among the same others"
        return Halt("ambiguous", why, candidates)
    best = max(judged, key=lambda one: one.score)
    why = f"{called(best.element)} stands among others than when it was recorded"
    actual = (f"{called(best.element)}, without these",)
    return Halt("surroundings", why, candidates, tuple(best.lacking), actual)


async def _among(
    machine: Machine, selector: Selector, around: Around | None
) -> list[SeenElement] | None:
    """All that may be it or stand around it; None where these are too many."""
    if around is None:
        told = await elements(machine, _like(selector, _ANYWHERE), MOST_ALIKE)
        return None if told.truncated else told.elements
    told = await elements(machine, _within(around), MAX_ELEMENTS)
    if told.truncated is None:
        return told.elements
    found: dict[str, SeenElement] = {}
    wanted = [_like(selector, around)]
    wanted += [
        Sought(role=each.role, name=each.name, **_place_of(around)) for each in around.neighbours
    ]
    for sought in wanted:
        told = await elements(machine, sought, MOST_ALIKE)
        if told.truncated is not None:
            return None
        found |= {each.ref: each for each in told.elements}
    return list(found.values())


def _judged(
    among: Sequence[SeenElement], selector: Selector, around: Around | None
) -> list[_Judged]:
    recorded = around or _ANYWHERE
    most = len(recorded.neighbours) + 2
    judged = []
    for each in among:
        if is_like(each, selector):
            lacking = lacks(each, among, recorded)
            judged.append(_Judged(each, lacking, round(1 - len(lacking) / (most + 1), 3)))
    return judged


def _at_same_place_within(step: Step, target: Target, element: SeenElement) -> Found | Halt | None:
    """Where within an element its place counts, it has to be as large as it was."""
    box, now = target.box, element.bounds
    if target.crop is not None and box is not None and not placing.are_within(step, box):
        return None  # It ends somewhere else, which a picture may tell.
    if box is None or now is None or not placing.are_within(step, box):
        why = f"where within {called(element)} the step belongs is not known"
        return Halt("unfindable", why, (Candidate(now, 1.0, called(element)),))
    if not placing.has_same_size(box, now):
        why = f"{called(element)} has another size, and the step belongs to a place within it"
        sizes = tuple(f"{each.width} x {each.height} pixels" for each in (box, now))
        candidates = (Candidate(now, 0.5, called(element)),)
        return Halt("surroundings", why, candidates, sizes[:1], sizes[1:])
    return Found(placing.moved(step, box, now), "element", at=now)


def _other_state(element: SeenElement, recorded: Around) -> Halt | None:
    """What is wrong where a click would take away what it was to bring about."""
    now = is_checked(element)
    if now is None or recorded.is_checked is None or now == recorded.is_checked:
        return None
    words = {True: "checked", False: "not checked"}
    why = f"{called(element)} is {words[now]} already, and was {words[not now]} before the step"
    candidates = (Candidate(element.bounds, 0.5, called(element)),)
    return Halt("surroundings", why, candidates, (words[not now],), (words[now],))


def _why_unusable(element: SeenElement) -> str | None:
    if "enabled" not in element.states:
        return f"{called(element)} is disabled"
    if element.bounds is None:
        return f"{called(element)} has no place that can be told for sure"
    return None


def _like(selector: Selector, around: Around) -> Sought:
    """What is like a selector within a window; its ref is looked at afterwards."""
    said = selector.model_dump(exclude={"ref"})
    return Sought.model_validate({**_place_of(around), **said})


def _within(around: Around) -> Sought:
    return Sought.model_validate(_place_of(around))


def _place_of(around: Around) -> dict[str, str]:
    said = {"window": around.window, "application": around.application}
    return {name: glob for name, glob in said.items() if glob is not None}


def _said(selector: Selector) -> str:
    said = selector.model_dump(exclude={"value"})
    return " ".join(f"{name} {text!r}" for name, text in said.items()) or "it"
