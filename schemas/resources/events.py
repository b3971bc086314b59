"""What ``GET /v1/events`` tells: server-sent events, each with one line of JSON as its data."""

from typing import Annotated, Any, Final, Literal, get_args
from uuid import UUID

from pydantic import BaseModel, BeforeValidator, Field
from pydantic_core import PydanticCustomError

from schemas.http.queries import NullText, Query
from schemas.inputs.outcomes import Point
from schemas.link.messages import Released
from schemas.resources.commands import CommandItem
from schemas.values.scalars import MachineId
from schemas.values.strict import StrictModel

EventType = Literal[
    "machine",
    "machine_removed",
    "machine_released",
    "control_requested",
    "command",
    "trajectory",
    "recording",
    "help_requested",
    "help_answered",
    "help_ended",
    "run",
    "audit",
    "reset",
]
"""What an event is about, as its ``event`` line says.

``reset`` means that some events are not known any more: read everything again.
"""

UNASKED: Final = frozenset(get_args(EventType)) - {"audit"}
"""What comes to whoever names no types: the audit is for whom may read it, and asks for it."""

SELECTABLE: Final = tuple(kind for kind in get_args(EventType) if kind != "reset")

MAX_EVENT_ID_CHARACTERS: Final = 64

TrajectoryChangeName = Literal["created", "changed", "deleted"]


class MachineRemoved(BaseModel):
    """The data of ``machine_removed``; that of ``machine`` is the machine itself."""

    id: str


class MachineReleased(Released):
    """The data of ``machine_released``: what a killed machine client had left pressed there."""

    id: str


class ControlRequested(BaseModel):
    """The data of ``control_requested``: somebody asks whoever has control to give it back."""

    id: str
    by: str = Field(description="Who asks: the token's name.")
    note: str | None


class TrajectoryChanged(BaseModel):
    """The data of ``trajectory``."""

    id: UUID
    change: TrajectoryChangeName


class CommandEvent(CommandItem):
    """The data of ``command``, and its machine.

    An input that ended or was left open, or a stretch of work by hand that is over.
    """

    machine_id: str
    pointer: Point | None = Field(
        None,
        description="Where an input of the mouse left the pointer; null of all others, and where "
        "it was not completed.  No list of inputs has it.",
    )


class Reset(BaseModel):
    """The data of ``reset``."""

    reason: str = Field(description="Why, for a person.")


def _types(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    chosen = frozenset(value.split(","))
    if not chosen <= set(SELECTABLE):
        raise PydanticCustomError(
            "event_types", "must be one or more of {types}", {"types": ", ".join(SELECTABLE)}
        )
    return chosen


class EventQuery(Query):
    """Which events are wanted; all of the organization, unless told otherwise."""

    machine_id: Annotated[MachineId | None, NullText] = Field(
        None, description="Only what is about this machine."
    )
    types: Annotated[
        Annotated[frozenset[str], BeforeValidator(_types, json_schema_input_type=str)] | None,
        NullText,
    ] = Field(
        None,
        description=f"Only these, with commas between: {', '.join(SELECTABLE)}; if not given, all "
        "but audit, which needs the scope audit:read as well.",
    )


class EventHeaders(StrictModel):
    """Headers of the stream."""

    last_event_id: str | None = Field(
        None,
        alias="Last-Event-ID",
        description="The id of the event that was heard last: what happened since comes first.",
    )
