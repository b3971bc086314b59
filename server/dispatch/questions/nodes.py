"""What nodes ask each other about themselves, and about machines that are linked to them."""

from typing import Annotated, Final, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from schemas.link.messages import Capability, Display
from schemas.resources.machines import MAX_VIEWER_NAMES, MachineState
from schemas.values.scalars import MachineId
from server.dispatch.questions.question import NodeQuestion, Reply, ReplyWithContent

MOST_DESCRIBED: Final = 500
"""Machines in one question, so that its reply is short."""


class LiveMachine(BaseModel):
    """The live part of a machine: its state, why, and since when (milliseconds since 1970).

    ``displays``, ``screen`` and ``elements`` are None where the machine is not connected any more.
    ``node`` is what operators call the node that it is connected to.  ``viewers`` look at its live
    screen.
    """

    model_config = ConfigDict(frozen=True)

    state: MachineState
    reason: str
    since: int
    displays: tuple[Display, ...] | None = None
    screen: Capability | None = None
    elements: Capability | None = None
    round_trip_seconds: float | None = None
    node: str | None = None
    viewers: Annotated[tuple[str, ...], Field(max_length=MAX_VIEWER_NAMES)] = ()

    @property
    def is_dark(self) -> bool:
        """Whether its screen should be seen, and cannot."""
        screen = self.screen
        return screen is not None and not (screen.available or screen.switched_off)


class Described(Reply):
    """What the machines are like now that are there, by their ids."""

    type: Literal["described"] = "described"
    machines: dict[str, LiveMachine]


class DescribeMachines(NodeQuestion[Described]):
    """What are these machines like now?"""

    type: Literal["describe"] = "describe"
    organization_id: UUID
    machine_ids: list[MachineId] = Field(max_length=MOST_DESCRIBED)


class DescribeTroubled(NodeQuestion[Described]):
    """Which machines with a link here are not simply connected, the next after this id?

    The reply has ``MOST_DESCRIBED`` of them, or less where there are no more.
    """

    type: Literal["describe_troubled"] = "describe_troubled"
    organization_id: UUID
    after: str = Field(max_length=128)


class MetricsRead(ReplyWithContent):
    """A node's metrics, in Prometheus' text format, are the content."""

    type: Literal["metrics_read"] = "metrics_read"


class ReadMetrics(NodeQuestion[MetricsRead]):
    """What are this node's metrics?"""

    type: Literal["metrics"] = "metrics"
