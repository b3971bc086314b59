"""Lets a halted run go on as a person says, and keeps what they did as a proposal."""

from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

from schemas.runs.requests import ContinuedRun
from schemas.runs.runs import Halted
from schemas.steps.reviews import Editor
from schemas.steps.step import Step
from schemas.values.json_encoding import encode_json
from server.dispatch.dispatcher import Dispatcher
from server.errors import WrongState
from server.runs.machine import RunMachine
from server.runs.repairing.pointing import Pointing
from server.store.runs.documents import StoredProposal, StoredRepair, StoredRepairs, StoredRun
from server.store.times import now
from server.store.trajectories.documents import StoredTrajectory
from server.store.trajectories.pictures import PictureStore
from server.store.transactions import Transaction, Transactions
from server.trajectories.editing import Texts
from server.trajectories.repairing import Proposed, Repaired, RepairProposals
from server.trajectories.running import RunContent, RunContents

OTHERS_WERE_FASTER: Final = "somebody else has it go on already, or it has ended"


class RunRepairs:
    """Takes repairs of the runs of any organization."""

    def __init__(
        self,
        contents: RunContents,
        proposals: RepairProposals,
        transactions: Transactions,
        dispatcher: Dispatcher,
        pictures: PictureStore,
    ) -> None:
        self._contents = contents
        self._proposals = proposals
        self._transactions = transactions
        self._dispatcher = dispatcher
        self._pictures = pictures
        self._pointing = Pointing(pictures)

    async def resume(
        self, run: StoredRun, how: ContinuedRun, by: Editor, changes: dict[str, Any]
    ) -> tuple[StoredRun, StoredTrajectory]:
        """Let a run go on with these ``changes``, and keep the repair: both, or neither.

        Raises WrongState, and RefusedError where the machine does not show what is
        pointed at.
        """
        content = await self._content(run)
        made = await self._made(run, content.steps, how, by)
        numbers = {each.number for each in made}
        # The newest comes last: whoever made that proposes it.
        repairs = [*(each for each in run.repairs if each.number not in numbers), *made]
        approved = content.trajectory, await self._proposals.texts(content.trajectory)
        left = run.proposal
        before = None if left is None else Proposed(left.id, left.content_hash)
        repaired = [Repaired(each.number, each.steps, each.editor) for each in repairs]

        async def work(transaction: Transaction) -> tuple[StoredRun, StoredTrajectory]:
            proposed = await self._proposals.propose(
                transaction, approved, run.id, repaired, before
            )
            assert proposed.content_hash is not None  # noqa: S101  it is generated
            proposal = StoredProposal(proposed.id, proposed.content_hash)
            kept = StoredRepairs(repairs, proposal)
            if (resumed := await transaction.runs.resume(run, changes, kept)) is None:
                raise WrongState(OTHERS_WERE_FASTER)
            return resumed, proposed

        return await self._transactions.run(work)

    async def _content(self, run: StoredRun) -> RunContent:
        """What was approved.  Raises WrongState where that is not so any more."""
        if run.secrets:
            raise WrongState(
                "it has secrets, of which nothing that its screen shows is kept: do the step by "
                "hand and give skip, and correct the trajectory in its review"
            )
        content = await self._contents.as_before(run.organization_id, run.trajectory_id)
        if content.trajectory.content_hash != run.content_hash:
            raise WrongState("the trajectory has another content by now: cancel the run")
        return content

    async def _made(
        self, run: StoredRun, steps: Sequence[Step], how: ContinuedRun, by: Editor
    ) -> list[StoredRepair]:
        """The repairs of a request: of the step that a run is at, and of those that go with it."""
        halted = run.halted
        assert halted is not None and run.machine_id is not None  # noqa: S101, PT018  it is
        moment = now()
        if how.by_hand is not None:
            done = await self._by_hand(run, halted, how.by_hand, by)
            return [StoredRepair(run.step, "by_hand", by, moment, tuple(done))]
        if halted.is_done or halted.is_unknown:
            raise WrongState(
                f"step {run.step} was done, or perhaps: only one that was not done can be done to "
                "something else"
            )
        machine = RunMachine(run.organization_id, run.machine_id, self._dispatcher, self._pictures)
        found = await self._pointing.pointed(machine, run.repaired(steps), run.step, how)
        return [
            StoredRepair(number, "pointed", by, moment, (encode_json(step.stored()).decode(),))
            for number, step in found.items()
        ]

    async def _by_hand(
        self, run: StoredRun, halted: Halted, trajectory_id: UUID, by: Editor
    ) -> Texts:
        """What takes the place of the step that somebody did; behind it, where it was done."""
        about = run.organization_id, trajectory_id, run.machine_id
        recorded = await self._proposals.by_hand(*about)
        if recorded.created_at < halted.at:
            raise WrongState("it was not recorded since the run is halted")
        if set(recorded.authors) != {by.author}:
            raise WrongState("others took part in the recording: give one of what you did alone")
        done = await self._proposals.texts(recorded)
        if not halted.is_done:
            return done
        content = await self._contents.of(run.organization_id, run.trajectory_id)
        return [(await self._proposals.texts(content.trajectory))[run.step - 1], *done]
