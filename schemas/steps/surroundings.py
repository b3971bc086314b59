"""What stood around a step's target when it was recorded."""

from typing import Annotated, Final, Literal

from pydantic import Field

from schemas.inputs.globs import Glob
from schemas.inputs.selectors import KnownRole
from schemas.values.scalars import StrictBool
from schemas.values.strict import StrictModel

MOST_NEIGHBOURS: Final = 16

Side = Literal["left", "right", "above"]


class Neighbour(StrictModel):
    """Something with a name that stands beside an element."""

    side: Side
    role: KnownRole | None = None
    name: Glob = Field(description="A glob of its whole name.")


class Around(StrictModel):
    """What stands around an element: its program, its window, and what is in its line.

    All of it has to be there again, so that no element of another line or window is taken for it.
    """

    application: Glob | None = Field(None, description="A glob of what its program calls itself.")
    window: Glob | None = Field(None, description="A glob of the title of its window.")
    neighbours: Annotated[tuple[Neighbour, ...], Field(max_length=MOST_NEIGHBOURS)] = Field(
        (), description="What is to the left and to the right of it; else what is above it."
    )
    is_empty: StrictBool = Field(
        False, description="true where it is a field that had nothing in it when keys came."
    )
    is_checked: StrictBool | None = Field(
        None,
        description="Whether it was checked or pressed, of what can be: to click it where it is so "
        "already would undo that. null of all else.",
    )
