"""Where a step belongs on the screen as it is now."""

from schemas.steps.step import Step
from server.runs.asking import Machine
from server.runs.finding.outcomes import Found, Halt


async def find(machine: Machine, step: Step, scale: float | None = None) -> Found | Halt:
    """Where a step belongs, once the screen is still; or why nobody knows, and nothing was done.

    ``scale`` is what earlier steps of the run were found at.  Raises StoreUnavailable.
    """
    raise NotImplementedError
