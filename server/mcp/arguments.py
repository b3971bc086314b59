"""What the arguments of tools have in common.

Their names are those that models were trained with: Anthropic's computer tool has ``coordinate``,
``text`` for the keys that are held, ``scroll_direction`` and the rest
(https://docs.anthropic.com/en/docs/agents-and-tools/tool-use/computer-use-tool).
"""

from typing import Annotated, Any, ClassVar

from pydantic import Field

from farhand import AsyncFarhand
from schemas.values.scalars import MachineId
from schemas.values.strict import StrictModel
from server.mcp.desk import LONGEST, Desk, Said

Coordinate = Annotated[
    list[Annotated[int, Field(strict=True, ge=0, lt=LONGEST)]], Field(min_length=2, max_length=2)
]
Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]

AT = "[x, y] in pixels of the last screenshot"


class Tool(StrictModel):
    """A tool, with its arguments as fields; its docstring is what a model reads of it."""

    name: ClassVar[str]
    title: ClassVar[str]
    reads: ClassVar[bool] = False
    """Whether it changes nothing."""
    destroys: ClassVar[bool] = True
    """Whether what it does may be impossible to take back."""


class Overview(Tool):
    """A tool that looks at what belongs to no one machine."""

    reads = True

    async def look(self, farhand: AsyncFarhand) -> Said:
        """What there is.  Raises a FarhandError."""
        raise NotImplementedError


class MachineTool(Tool):
    """A tool that works on one machine."""

    machine: MachineId = Field(description="An id of list_machines.")

    async def do(self, desk: Desk) -> Said:
        """Do it, and say what came of it.  Raises a FarhandError."""
        raise NotImplementedError


class Look(MachineTool):
    """A tool that looks at a machine."""

    reads = True


class Input(MachineTool):
    """A tool that sends a machine input."""

    idempotency_key: (
        Annotated[str, Field(min_length=1, max_length=255, pattern=r"^[\x21-\x7e]+$")] | None
    ) = Field(
        None,
        description="Only to repeat a call: the key that its result named. It is not done twice.",
    )


class AtPlace(Input):
    """An input of the mouse at a place, or where the pointer is."""

    coordinate: Coordinate | None = Field(
        None, description=f"{AT}; where the pointer is, if left out."
    )
    text: str | None = Field(
        None, max_length=100, description="Keys held meanwhile, such as ctrl or ctrl+shift."
    )

    @property
    def where(self) -> dict[str, Any]:
        """The place and the modifiers, as `farhand.actions` takes them."""
        x, y = self.coordinate or (None, None)
        return {"x": x, "y": y, "modifiers": held(self.text)}


def held(text: str | None) -> tuple[str, ...]:
    """The modifiers that a text such as ``ctrl+shift`` names."""
    return tuple(text.split("+")) if text else ()
