"""Tools that run approved workflows."""

from typing import Annotated, Any, Final
from uuid import UUID, uuid4

from pydantic import Field

from farhand import AsyncFarhand
from farhand.types import RunWithSteps
from schemas.runs.requests import MOST_VALUES
from server.mcp.arguments import Input, Overview
from server.mcp.desk import Desk, Said

LONGEST_WAIT: Final = 45
"""Seconds; less than hosts of models wait for a tool."""

USUAL_WAIT: Final = 20


class RunWorkflow(Input):
    """Begin an approved workflow on a machine, which does its steps alone; follow it by get_run."""

    name = "run_workflow"
    title = "Run a workflow"

    workflow: UUID
    values: Annotated[dict[str, str], Field(max_length=MOST_VALUES)] = Field(
        default_factory=dict, description="A text for each of its parameters."
    )

    async def do(self, desk: Desk) -> Said:
        # The key is named even where the host gave none: a repeated call begins no second run.
        key = desk.key or str(uuid4())
        begun = await desk.runs.create(
            workflow=self.workflow, machine=self.machine, values=self.values, key=key
        )
        return Said({**_told(begun.run), "idempotency_key": key})


class GetRun(Overview):
    """See how far a run has come, once it has ended or is halted, or the wait is over."""

    name = "get_run"
    title = "Look at a run"

    run: UUID = Field(description="The run that run_workflow named.")
    wait: Annotated[int, Field(strict=True, ge=0, le=LONGEST_WAIT)] = Field(
        USUAL_WAIT, description="Seconds."
    )

    async def look(self, farhand: AsyncFarhand) -> Said:
        return Said(_told(await farhand.runs.wait(self.run, timeout=self.wait, halts=True)))


def _told(run: RunWithSteps) -> dict[str, Any]:
    """What a model needs to know of a run."""
    facts: dict[str, Any] = {
        "run": str(run.id),
        "status": run.status,
        "step": run.step,
        "steps": run.step_count,
    }
    if run.halted is not None:
        facts["halted"] = {"reason": run.halted.reason, "detail": run.halted.detail}
    if run.error is not None:
        facts["error"] = run.error
    return facts
