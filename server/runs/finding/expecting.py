"""Whether what a step was to bring about comes true."""

from schemas.steps.step import Step
from server.runs.asking import Machine
from server.runs.finding.outcomes import Before, Halt, Verified


async def as_before(machine: Machine, step: Step) -> Before:
    """What is needed of the screen as it is before a step is done; ask right before its input."""
    raise NotImplementedError


async def expected(machine: Machine, step: Step, before: Before) -> Verified | Halt:
    """Wait until what a step expects is so, for as long as it says.

    A step that expects nothing is verified at once.  Raises StoreUnavailable.
    """
    raise NotImplementedError
