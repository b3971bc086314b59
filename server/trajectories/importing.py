"""Trajectories that are imported many at once: each is stored, is there already, or is refused."""

import logging
from collections.abc import Collection, Mapping, Sequence
from contextlib import aclosing, suppress
from enum import Enum
from typing import Final
from uuid import UUID

from schemas.resources.trajectories import ImportedTrajectory
from schemas.steps.reviews import Editor
from server.errors import AlreadyExists, NotFound, StoreError, TooLarge
from server.store.trajectories.documents import StoredTrajectory
from server.store.trajectories.parts import PartStore
from server.store.trajectories.store import TrajectoryStore
from server.trajectories.creation import new_trajectory, without_second_main
from server.trajectories.rendering import has_steps_text, step_chunks

logger = logging.getLogger(__name__)

_TRIES: Final = 5
"""Of what is there when it is stored and gone when it is compared; nobody does that for long."""

_CONTENT: Final = (
    *("workflow_id", "run_id", "name", "description", "dimensions", "original_input_values"),
    *("is_approved", "is_generated"),
)
_TIMES: Final = ("created_at", "updated_at")


class ImportOutcome(Enum):
    """What became of one of them."""

    IMPORTED = "imported"
    THERE_ALREADY = "there already, with all that was given"
    ANOTHER_IS_THERE = "its id is another's"
    ID_IS_TAKEN = "its id is taken, and whoever asks may not know by what"
    TOO_LARGE = "larger than the database takes"
    FAILED = "the database refused it"


class TrajectoryImport:
    """Imports trajectories, each with an id of its own."""

    def __init__(self, store: TrajectoryStore) -> None:
        self._store = store

    async def add(
        self,
        organization_id: UUID,
        by: Editor,
        given: Mapping[UUID, ImportedTrajectory],
        *,
        may_read: bool,
        within: Collection[str] | None = None,
    ) -> dict[UUID, ImportOutcome]:
        """Store those that are not there yet; what became of each, by its id.

        Only for who ``may_read`` it is compared what is there already; where ``within`` is given,
        what was recorded on another machine than these is another one, whatever it is.  Raises
        StoreUnavailable, and then any of them may have been stored.
        """
        outcomes = dict.fromkeys(given, ImportOutcome.FAILED)
        waiting: Sequence[StoredTrajectory] = [
            self._store.with_pictures(
                new_trajectory(organization_id, by, each.model_copy(update={"id": own}))
            )
            for own, each in given.items()
        ]
        for _ in range(_TRIES):
            if not waiting:
                break
            waiting = await self._with_one_main_each(organization_id, waiting)
            refused = await self._store.insert_many(waiting)
            outcomes |= {each.id: _outcome(refused.get(each.id)) for each in waiting}
            taken = [each for each in waiting if isinstance(refused.get(each.id), AlreadyExists)]
            if not may_read:
                break
            waiting = await self._compared(organization_id, taken, given, outcomes, within)
        else:
            outcomes |= {each.id: ImportOutcome.FAILED for each in waiting}
        return outcomes

    async def _with_one_main_each(
        self, organization_id: UUID, made: Sequence[StoredTrajectory]
    ) -> list[StoredTrajectory]:
        """The same, of which none is a second main one of its workflow: the first one stays it."""
        claimed = {each.workflow_id for each in made if each.is_main}
        mains = await self._store.mains(organization_id, claimed) if claimed else set()
        checked = []
        for each in made:
            checked.append(without_second_main(each, mains) if each.is_main else each)
            if each.is_main:
                mains.add(each.workflow_id)
        return checked

    async def _compared(
        self,
        organization_id: UUID,
        made: Sequence[StoredTrajectory],
        given: Mapping[UUID, ImportedTrajectory],
        outcomes: dict[UUID, ImportOutcome],
        within: Collection[str] | None,
    ) -> list[StoredTrajectory]:
        """Compare each with what is there under its id; those that have been deleted meanwhile."""
        missing = {each.id: each for each in made}
        async with aclosing(self._store.get_many(organization_id, list(missing))) as found:
            async for there in found:
                with suppress(NotFound):
                    is_hidden = within is not None and there.machine_id not in {None, *within}
                    is_same = not is_hidden and await says_the_same(
                        self._store.parts, given[there.id], missing[there.id], there
                    )
                    del missing[there.id]
                    outcomes[there.id] = (
                        ImportOutcome.THERE_ALREADY if is_same else ImportOutcome.ANOTHER_IS_THERE
                    )
        return list(missing.values())


def _outcome(error: StoreError | None) -> ImportOutcome:
    """What became of one that was stored, or why it was not."""
    match error:
        case None:
            return ImportOutcome.IMPORTED
        case AlreadyExists():
            return ImportOutcome.ID_IS_TAKEN
        case TooLarge():
            return ImportOutcome.TOO_LARGE
        case _:
            logger.error("a trajectory was not imported: %s", error)
            return ImportOutcome.FAILED


async def says_the_same(
    parts: PartStore,
    given: ImportedTrajectory,
    made: StoredTrajectory,
    there: StoredTrajectory,
) -> bool:
    """Whether what is there is what was given, as far as that says it; ``made`` is made of it.

    Raises NotFound where it is deleted meanwhile.
    """
    names = [*_CONTENT, *(name for name in _TIMES if getattr(given, name) is not None)]
    if any(getattr(made, name) != getattr(there, name) for name in names):
        return False
    if made.trajectory_data is None or not has_steps_text(there):
        return (made.trajectory_data is not None) == has_steps_text(there)
    steps = memoryview(made.trajectory_data)[1:-1]
    place = 0
    async with aclosing(step_chunks(parts, there)) as chunks:
        async for chunk in chunks:
            if steps[place : place + len(chunk)] != chunk:
                return False
            place += len(chunk)
    return place == len(steps)
