"""Who may send inputs on a link, whether it is there at all, and which one has to go."""

from typing import Final, Literal
from uuid import UUID

from pydantic import Field

from schemas.values.scalars import MachineId
from server.dispatch.questions.question import Done, LinkQuestion, NodeQuestion, Refusal, Reply
from server.dispatch.refusals import not_interrupted
from server.machines.link.rivals import Rival

INTERRUPT_SECONDS: Final = 5.0
"""For a machine to end what runs, which takes it a fraction of a second."""

MOST_EPOCH: Final = 2**53


class FindLink(LinkQuestion[Done]):
    """Is a link of the machine there?

    ``rival`` is a second host that comes with the machine's token, which the link is told of.
    """

    type: Literal["find_link"] = "find_link"
    rival: Rival | None = None


class ControlChanged(LinkQuestion[Done]):
    """Control of the machine changed; the database says who has it.

    It is done when the machine has confirmed that nothing runs and nothing is held of whoever had
    it before, and if the lease of this ``lease_hash`` is in force by then; None is that none need
    be.  A link before ``epoch``, which was the newest when the lease began, cannot confirm it.
    """

    answer_seconds = INTERRUPT_SECONDS + 1.0

    type: Literal["control_changed"] = "control_changed"
    lease_hash: str | None = Field(max_length=64)
    epoch: int = Field(ge=0, le=MOST_EPOCH)

    def lost(self) -> Refusal:
        """Nobody has confirmed it."""
        return not_interrupted()


class PauseChanged(LinkQuestion[Done]):
    """The machine was paused or resumed; the database says which.

    Where the node of its link cannot be told, that reads it from the database within a second.
    """

    answer_seconds = 6.0

    type: Literal["pause_changed"] = "pause_changed"


class RotateToken(LinkQuestion[Done]):
    """Have the machine make itself a new token, and come back with this code."""

    type: Literal["rotate_token"] = "rotate_token"
    code: str = Field(max_length=64, repr=False)


class MachineRemoved(LinkQuestion[Done]):
    """The machine was removed: all its links are to be closed.

    Where the node of one cannot be told, that finds its token revoked within seconds.
    """

    type: Literal["removed"] = "removed"


class GaveWay(Reply):
    """The links are closed; ``was_up`` is whether one was up until now."""

    type: Literal["gave_way"] = "gave_way"
    was_up: bool


class GiveWay(NodeQuestion[GaveWay]):
    """A newer link of the machine is on another node: close those with an earlier epoch."""

    type: Literal["give_way"] = "give_way"
    organization_id: UUID
    machine_id: MachineId
    epoch: int = Field(ge=0, le=MOST_EPOCH)
