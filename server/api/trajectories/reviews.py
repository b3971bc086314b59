"""Reviews: a trajectory is approved or rejected, as it was looked at."""

from typing import Final

from schemas.http import problems
from schemas.resources.actions import Action
from schemas.resources.tokens import Scope
from schemas.resources.trajectories import TrajectoryHead
from schemas.steps.reviews import Decision, NewReview
from server.api.trajectories.answering import AnsweringHandler
from server.api.trajectories.paths import TrajectoryPath
from server.web.changes import REPLAYED, TAGGED, AppendHeaders, refusals
from server.web.endpoint import Endpoint

_ACTIONS: Final[dict[Decision, Action]] = {
    "approve": "trajectory.approved",
    "reject": "trajectory.rejected",
    "withdraw": "trajectory.approval_withdrawn",
}


class ReviewHandler(AnsweringHandler):
    @Endpoint(
        summary="Review a trajectory",
        description="Approves or rejects exactly the content that content_hash names, or withdraws "
        "an approval.  Only what is approved so can be run; whatever changes the content ends the "
        "approval.  Nobody approves what they made or changed, unless the setting "
        "authors_may_approve allows it.",
        scope=Scope.TRAJECTORIES_APPROVE,
        path=TrajectoryPath,
        headers=AppendHeaders,
        body=NewReview,
        answers={200: TrajectoryHead},
        problems=(problems.NOT_FOUND, problems.WRONG_STATE, problems.PRECONDITION_FAILED),
        answer_headers={**TAGGED, **REPLAYED},
    )
    async def post(self, path: TrajectoryPath, headers: AppendHeaders, body: NewReview) -> None:
        with refusals(f"trajectory {path.trajectory_id}"):
            head = await self.services.library.reviews.decide(
                self.organization_id,
                self.editor,
                path.trajectory_id,
                body,
                headers.versions,
                self.keyed_request(headers, body),
                self.principal.makers,
            )
        await self.answer_edit(head, _ACTIONS[body.decision], note=body.comment)
