"""Many runs begun by one request, answered run by run."""

from typing import Annotated, Final, Literal
from uuid import UUID

from pydantic import BaseModel, Field

from schemas.runs.requests import NewRun
from schemas.values.scalars import StrictBool
from schemas.values.strict import StrictModel

MOST_RUNS: Final = 1_000
"""In one request."""

OTHERS_REFUSED: Final = "nothing is wrong with it: another was refused, and all or none begin"
"""What is said of a run that was not begun as another could not be."""


class NewRuns(StrictModel):
    """The body of ``POST /v1/runs/bulk``."""

    items: Annotated[list[NewRun], Field(min_length=1, max_length=MOST_RUNS)] = Field(
        description="Each as POST /v1/runs takes it."
    )
    all_or_none: StrictBool = Field(
        False, description="true begins none of them where one would be refused."
    )


class BulkRun(BaseModel):
    """What became of one of them."""

    machine_id: str | None = Field(None, description="The one that was asked for.")
    status: Literal["begun", "refused"] = Field(
        description="begun: it waits for its turn.  refused: nothing was done about this one."
    )
    run_id: UUID | None = Field(None, description="Of a run that was begun.")
    detail: str | None = Field(None, description="What was wrong, for a person.")


class BulkRuns(BaseModel):
    """What became of each, in the order in which they were asked for."""

    items: list[BulkRun]
    begun: int
    refused: int
