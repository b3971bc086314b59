"""Finds a step's target by the text that stood at its place, whatever it looks like now.

It is looked for last, as it takes longest: where a program's font or scale is another one, no
element and no picture is like what was recorded.  Nothing is kept of what is read.
"""

from schemas.inputs.sights import Place
from schemas.steps.step import Step, Target
from server.runs.asking import Machine
from server.runs.finding import placing
from server.runs.finding.by_picture import asking, chosen, line_of
from server.runs.finding.looking import asked
from server.runs.finding.outcomes import Found, Halt


async def by_text(machine: Machine, step: Step, target: Target) -> Found | Halt | None:
    """Where the target is; None where no text is like its own.  Raises RefusedError.

    Of a way from one place to another nothing is known by the text at its beginning.
    """
    if target.crop is None or (place := placing.place_of(step)) is None:
        return None
    if not placing.is_single(step):
        return None
    question = asking(
        machine, target.crop.picture, place, line_of(target, place), target.crop.area
    ).model_copy(update={"text_at": Place(x=place[0], y=place[1])})
    found = chosen((await asked(machine, question)).places)
    if found is None or isinstance(found, Halt):
        return found
    if found.was is None:
        return None  # From a node that does not read yet.
    body = placing.moved(step, found.was, found.at, found.scale)
    return Found(body, "text", found.around, found.at)
