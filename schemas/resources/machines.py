"""Machines as operators and HTTP clients see them."""

from typing import Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, field_validator
from pydantic_core import PydanticCustomError

from schemas.inputs.bodies import Operation
from schemas.inputs.outcomes import Point
from schemas.link.messages import Capability, Display
from schemas.resources.tokens import CreatedToken
from schemas.values.scalars import MachineId, Name, StrictBool
from schemas.values.times import Time

MachineState = Literal["online", "offline", "paused", "no_input"]


class NewMachine(BaseModel):
    """The body of ``POST /v1/machines``."""

    model_config = ConfigDict(extra="forbid")

    id: MachineId | None = Field(None, description="Left out, the server chooses one.")
    name: Name | None = None

    @field_validator("id")
    @classmethod
    def _not_an_address(cls, machine_id: str | None) -> str | None:
        if machine_id == "connect":
            raise PydanticCustomError("reserved", "connect is reserved: choose another id")
        return machine_id


class MachineChange(BaseModel):
    """The body of ``PATCH /v1/machines/{machine_id}``; what is left out stays."""

    model_config = ConfigDict(extra="forbid")

    name: Name | None = None
    paused: StrictBool | None = Field(None, description="true refuses inputs until false.")


class InputCounts(BaseModel):
    """How many inputs a machine was sent, since it was added, by how they ended."""

    completed: int
    failed: int = Field(description="Everything final that is not completed.")


class Machine(BaseModel):
    """A machine and how it is."""

    id: str
    organization_id: UUID
    name: str
    state: MachineState
    reason: str = Field(description="Why the machine is in this state, for a person.")
    since: Time = Field(description="When it came into this state.")
    paused: bool
    platform: str | None
    client_version: str | None
    displays: list[Display]
    round_trip_ms: float | None = Field(description="Of the last heartbeat, while connected.")
    inputs: InputCounts
    last_input_at: Time | None = Field(description="When the last one that ended was accepted.")
    screen: Capability = Field(description="Whether its screen can be looked at, or why not.")
    created_at: Time


class CreatedMachine(Machine):
    """The only answer that shows the token that the machine connects with."""

    token: CreatedToken


class MachinePage(BaseModel):
    """A page of machines."""

    items: list[Machine]
    total: int
    skip: int
    limit: int


class Dimensions(BaseModel):
    """Where the displays are, in the pixels that inputs use: all of them, and each."""

    x: int
    y: int
    width: int
    height: int
    displays: list[Display]


class InputResult(BaseModel):
    """The answer to an input that was carried out."""

    command_id: UUID
    machine_id: str
    operation: Operation
    status: Literal["completed"] = "completed"
    accepted_at: Time
    completed_at: Time
    duration_ms: float = Field(description="The machine's own time spent injecting.")
    pointer: Point = Field(description="Where the pointer was afterwards.")
