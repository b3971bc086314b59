"""Frames that machines show for their waits: looked at here, and answered on the same link."""

from typing import Protocol
from uuid import UUID

from schemas.link.messages import FrameJudged
from server.clock import server_time
from server.machines.link.questions.screen import FrameArrived
from server.tasks import Tasks
from server.vision.findings import Findings
from server.vision.vision import Vision, VisionError


class ShowingLink(Protocol):
    """What is needed of the link that a frame came on."""

    organization_id: UUID
    machine_id: str

    def judged(self, judged: FrameJudged) -> None:
        """Tell the machine what its frame shows; a link that is over hears nothing."""


class ShownFrames:
    """Has each frame looked at, in its machine's turn."""

    def __init__(self, vision: Vision, background: Tasks) -> None:
        self._vision = vision
        self._background = background

    def arrived(self, link: ShowingLink, frame: FrameArrived) -> None:
        """Look at a frame; never takes any time."""
        self._background.start_and_report(self._answer(link, frame), "judge a frame")

    async def _answer(self, link: ShowingLink, frame: FrameArrived) -> None:
        caller = caller_of(link.organization_id, link.machine_id)
        try:
            found = await self._vision.judge(caller, frame.conditions, frame.picture)
        except VisionError as error:
            found = Findings(failed=str(error))
        link.judged(
            FrameJudged(
                number=frame.number,
                matched=found.matched,
                at=found.at,
                seen=found.seen,
                failed=found.failed,
                server_time=server_time(),
            )
        )


def caller_of(organization_id: UUID, machine_id: str) -> str:
    """By whom a machine's pictures wait, whoever wants them looked at."""
    return f"{organization_id}/{machine_id}"
