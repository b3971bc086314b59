"""What a halt has beside its reason: the screen as it is then."""

from dataclasses import replace

from schemas.inputs.pictures import PictureWanted
from server.dispatch.refusals import RefusedError
from server.runs.asking import Machine
from server.runs.finding import looking
from server.runs.finding.outcomes import Halt


async def halted(machine: Machine, halt: Halt) -> Halt:
    """A halt with the screen as it is now, if that can be seen."""
    if halt.is_away:
        return halt
    try:
        shown = await looking.picture(machine, PictureWanted(format="jpeg"))
    except RefusedError:
        return halt
    return replace(halt, picture=shown)
