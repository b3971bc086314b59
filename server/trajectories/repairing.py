"""What the repairs of a run propose: a new version of what it runs, which somebody else reviews."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final
from uuid import UUID

from schemas.steps.reviews import Editor
from server.errors import NotFound, WrongState
from server.store.trajectories.documents import StoredTrajectory
from server.store.trajectories.store import TrajectoryStore
from server.store.trajectories.writes import OpenTrajectory
from server.store.transactions import Transaction
from server.trajectories.creation import duplicate_of, marked_name
from server.trajectories.editing import Texts, read_steps, write_steps
from server.trajectories.reviewing import with_author

MOST_BY_HAND: Final = 200
"""Steps that may take the place of one."""

_MARK: Final = " (repaired)"


@dataclass(frozen=True)
class Repaired:
    """What takes the place of a step, each as JSON text, and who has done or found it."""

    number: int
    steps: tuple[str, ...]
    by: Editor


@dataclass(frozen=True)
class Proposed:
    """A proposal as a run left it: another content is somebody else's work since."""

    id: UUID
    content_hash: bytes


class RepairProposals:
    """Makes proposals of repairs, each a trajectory of the same workflow that nobody has reviewed.

    The authors of what was approved are those of the proposal, and so are all who repaired it:
    none of them can approve it.
    """

    def __init__(self, store: TrajectoryStore) -> None:
        self._store = store

    async def by_hand(
        self, organization_id: UUID, trajectory_id: UUID, machine_id: str | None
    ) -> StoredTrajectory:
        """A recording of what was done by hand.  Raises WrongState where it repairs no step.

        Of one of another machine nothing is told, not even that it is there: whoever asks need not
        reach that.
        """
        found = await self._store.get(organization_id, trajectory_id)
        if found is None or found.machine_id is None or found.machine_id != machine_id:
            raise WrongState(f"there is no recording {trajectory_id} of the run's machine")
        if not found.is_generated:
            raise WrongState("it is still recorded: stop the recording first")
        if not 1 <= found.step_count <= MOST_BY_HAND:
            raise WrongState(
                f"the recording has {found.step_count:,} steps, and one step is repaired by 1 to "
                f"{MOST_BY_HAND}"
            )
        return found

    async def texts(self, trajectory: StoredTrajectory) -> Texts:
        """Its steps, each as JSON text."""
        return await read_steps(self._store.parts, trajectory)

    async def propose(
        self,
        transaction: Transaction,
        approved: tuple[StoredTrajectory, Texts],
        run_id: UUID,
        repairs: Sequence[Repaired],
        before: Proposed | None,
    ) -> StoredTrajectory:
        """What was approved, with all repairs of a run; the last of them is the newest.

        The proposal from ``before`` is changed where nobody has touched or reviewed it; else there
        is another one.  Raises WrongState where it is too large, or has too many authors.
        """
        original, texts = approved
        by = repairs[-1].by
        opened = None if before is None else await _untouched(transaction, original, before)
        if opened is None:
            opened = await _copy(transaction, original, run_id, repairs)
        replaced = {each.number: each.steps for each in repairs}
        after = [replaced.get(number, (text,)) for number, text in enumerate(texts, 1)]
        steps = list(chain.from_iterable(after))
        written, _ = await write_steps(opened, by, steps, len(steps))
        return written


async def _untouched(
    transaction: Transaction, original: StoredTrajectory, before: Proposed
) -> OpenTrajectory | None:
    """The proposal of before, to be changed; None where it is somebody else's work by now."""
    try:
        opened = await transaction.trajectories.open(original.organization_id, before.id, None)
    except NotFound:
        return None
    stored = opened.stored
    is_as_left = stored.content_hash == before.content_hash and stored.review.state == "open"
    return opened if is_as_left else None


async def _copy(
    transaction: Transaction,
    original: StoredTrajectory,
    run_id: UUID,
    repairs: Sequence[Repaired],
) -> OpenTrajectory:
    """A copy of what was approved, of which all who repaired it are authors."""
    by = repairs[-1].by
    copy = duplicate_of(original, by, marked_name(original.name, _MARK))
    for each in repairs:
        copy = replace(copy, authors=with_author(copy.authors, each.by))
    copy = replace(copy, run_id=run_id)
    await transaction.trajectories.insert_duplicate(copy, original.id)
    return await transaction.trajectories.open(copy.organization_id, copy.id, None)
