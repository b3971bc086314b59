"""Finds a step's target by the picture of what was around its place."""

import asyncio
from collections.abc import Iterator, Sequence

from schemas.inputs.bodies import MouseInput
from schemas.inputs.pictures import Area
from schemas.inputs.sights import Place
from schemas.steps.step import Step, Target
from schemas.values.pictures import Region
from server.dispatch.questions.pictures import FindRecorded, TypedText
from server.runs.asking import Machine
from server.runs.finding import placing
from server.runs.finding.looking import asked
from server.runs.finding.outcomes import Candidate, Found, Halt
from server.runs.finding.thresholds import (
    CARET_SECONDS,
    LEAST_AROUND,
    LEAST_LINE,
    LINE_HEIGHT,
    LINE_REACH,
    LOOKS_AGAIN,
    MOST_CANDIDATES,
    MOST_LINE_HEIGHT,
    SAME_WAY,
)
from server.vision.findings import PlaceFound

_EDGE = 2
"""Pixels around an element that are its own still."""


async def by_picture(
    machine: Machine,
    step: Step,
    target: Target,
    scale: float | None,
    typed: Sequence[TypedText] = (),
) -> Found | Halt | None:
    """Where the target is; None where nothing is like its picture.  Raises RefusedError.

    Where nothing is as it was, texts that were ``typed`` before may be other ones.
    """
    if target.crop is None or (place := placing.place_of(step)) is None:
        return None
    height = line_of(target, place)
    around = target.crop.area
    found = await _place_of(machine, target.crop.picture, place, height, around, scale)
    if typed and not isinstance(found, PlaceFound):
        question = asking(machine, target.crop.picture, place, height, around)
        question = question.model_copy(update={"scale": scale, "typed": tuple(typed)})
        found = chosen((await asked(machine, question)).places) or found
    if not isinstance(found, PlaceFound):
        return found
    core = _core(place, height, around)
    for other in _further_places(step):
        halt = await _check_end(machine, target.crop.picture, other, (core, found))
        if halt is not None:
            return halt
    body = placing.moved(step, core, found.at, found.scale)
    return Found(body, "picture", found.around, found.at, found.scale)


async def keys_by_picture(
    machine: Machine, step: Step, target: Target, typed: Sequence[TypedText] = ()
) -> Found | Halt:
    """Whether what was clicked before some keys is as it was then.  Raises RefusedError."""
    if target.crop is None or target.crop.place is None:
        return Found(dict(step.body), "none needed")
    place, around = (target.crop.place.x, target.crop.place.y), target.crop.area
    question = asking(machine, target.crop.picture, place, line_of(target, place), around)
    rested = Place(x=place[0], y=place[1])
    update = {"for_keys": True, "rested": rested, "typed": tuple(typed)}
    question = question.model_copy(update=update)
    halt = None
    for _ in range(LOOKS_AGAIN):
        found = chosen((await asked(machine, question)).places)
        if isinstance(found, PlaceFound):
            return Found(dict(step.body), "picture", found.around, found.at)
        halt = found
        await asyncio.sleep(CARET_SECONDS)
    why = "keys followed a click, and what was clicked is not to be seen now as it was then"
    return Halt("focus", why, halt.candidates if halt else ())


async def _place_of(
    machine: Machine,
    picture: str,
    place: tuple[int, int],
    height: tuple[int, int],
    around: Area,
    scale: float | None,
) -> PlaceFound | Halt | None:
    """The one place that shows what was around a place; None where none does."""
    question = asking(machine, picture, place, height, around)
    reply = await asked(machine, question.model_copy(update={"scale": scale}))
    return chosen(reply.places)


def asking(
    machine: Machine,
    picture: str,
    place: tuple[int, int],
    height: tuple[int, int],
    around: Area,
) -> FindRecorded:
    """What asks where what was around a place is now."""
    top, bottom = height
    left = max(0, place[0] - LINE_REACH)
    return FindRecorded(
        organization_id=machine.organization_id,
        machine_id=machine.machine_id,
        picture=picture,
        core=_core(place, height, around),
        line=Area(x=left, y=top, width=place[0] + LINE_REACH - left, height=bottom - top),
        around=around,
    )


def chosen(places: tuple[PlaceFound, ...]) -> PlaceFound | Halt | None:
    """The one of several places whose surroundings are those that were recorded."""
    if not places:
        return None
    # Where nothing around it is as it was, nobody would mean it.
    like = [each for each in places if _score(each) > 0]
    candidates = tuple(map(_candidate, like[:MOST_CANDIDATES]))
    right = [each for each in places if each.line >= LEAST_LINE and each.around >= LEAST_AROUND]
    if not right:
        best = places[0]
        why = (
            "what looks like it stands among others than when it was recorded: of its line "
            f"{best.line:.0%} are there again, of all around it {best.around:.0%}"
        )
        return Halt("surroundings", why, candidates)
    if len(right) > 1:
        return Halt("ambiguous", f"{len(right)} places look like it, among the same", candidates)
    return right[0]


async def _check_end(
    machine: Machine, picture: str, place: tuple[int, int], start: tuple[Area, PlaceFound]
) -> Halt | None:
    """What is wrong with a further place of a step, which has to have gone the same way."""
    core, found = start
    height = (max(0, place[1] - LINE_HEIGHT // 2), place[1] + LINE_HEIGHT // 2)
    around = Area(
        x=max(0, place[0] - core.width // 2),
        y=max(0, place[1] - LINE_HEIGHT),
        width=core.width,
        height=2 * LINE_HEIGHT,
    )
    end = await _place_of(machine, picture, place, height, around, found.scale)
    if isinstance(end, Halt):
        return end
    if end is None:
        return Halt("missing", "nothing looks like the place at which the step ends")
    was = _core(place, height, around)
    across = (end.at.x - found.at.x) - (was.x - core.x) * found.scale
    down = (end.at.y - found.at.y) - (was.y - core.y) * found.scale
    if max(abs(across), abs(down)) > SAME_WAY:
        why = "the place at which the step ends is elsewhere, as seen from where it begins"
        return Halt("surroundings", why, (_candidate(found), _candidate(end)))
    return None


def line_of(target: Target, place: tuple[int, int]) -> tuple[int, int]:
    """From where to where a place's line reaches: as far as its element, if that is no larger."""
    box = target.box
    if box is not None and box.height <= MOST_LINE_HEIGHT and 0 <= place[1] - box.y < box.height:
        return max(0, box.y - _EDGE), box.y + box.height + _EDGE
    return max(0, place[1] - LINE_HEIGHT // 2), place[1] + LINE_HEIGHT // 2


def _core(place: tuple[int, int], height: tuple[int, int], around: Area) -> Area:
    """What is sought: the part of the line that is in what is around the place."""
    top, bottom = max(height[0], around.y), min(height[1], around.y + around.height)
    return Area(x=around.x, y=top, width=around.width, height=max(1, bottom - top))


def _further_places(step: Step) -> Iterator[tuple[int, int]]:
    """Those beyond the first that something happens at, and is not only passed."""
    body = placing.input_of(step)
    if isinstance(body, MouseInput):
        ends = [each for each in body.places if each.x_field[0] != "path"]
        yield from ((each.x, each.y) for each in ends[1:])


def _candidate(place: PlaceFound) -> Candidate:
    what = f"its line is there to {place.line:.0%}, all around it to {place.around:.0%}"
    return Candidate(Region(*place.at), _score(place), what)


def _score(place: PlaceFound) -> float:
    return round(min(place.line, place.around), 3)
