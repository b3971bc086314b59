"""Trajectories as the API offers them: each method is one operation, with its rules."""

from collections.abc import AsyncGenerator, Collection
from dataclasses import replace
from typing import Any, Final
from uuid import UUID

from schemas.resources.trajectories import (
    ChangedTrajectory,
    ExportQuery,
    NewTrajectory,
    TrajectoryQuery,
)
from schemas.steps.reviews import Editor
from schemas.values.json_texts import JsonObjects
from server.errors import AlreadyExists, WrongState
from server.store.idempotency import KeyedRequest
from server.store.trajectories.documents import StoredTrajectory
from server.store.trajectories.store import TrajectoryStore
from server.store.trajectories.workflows import WorkflowStore
from server.store.transactions import Transaction, Transactions
from server.store.versions import Versions
from server.trajectories.answers import (
    KeyedAnswer,
    TrajectoryAnswer,
    head_answer,
    head_result,
)
from server.trajectories.creation import (
    changed_fields,
    duplicate_of,
    new_trajectory,
    without_second_main,
)
from server.trajectories.digests import StepsDigests
from server.trajectories.export import export_chunks
from server.trajectories.listing import page_chunks
from server.trajectories.reviewing import with_author
from server.trajectories.states import refused_change, refused_steps

_MADE_ANEW: Final = (
    *("id", "user_id", "created_at", "updated_at", "version", "is_main"),
    "pictures_until",
)
"""What a new trajectory has that is not in the request, or not always."""


class Trajectories:
    """Every method sees the trajectories of the organization it is given, and no others.

    With a ``request`` under an idempotency key it is done once, and the answer is that of the
    first time.  The store's errors say what was wrong: see ``server.errors``.  ``within`` leaves
    out what was recorded on other machines than these, where it is given.
    """

    def __init__(
        self, store: TrajectoryStore, workflows: WorkflowStore, transactions: Transactions
    ) -> None:
        self._store = store
        self._workflows = workflows
        self._transactions = transactions

    async def list(
        self, organization_id: UUID, query: TrajectoryQuery, within: Collection[str] | None = None
    ) -> AsyncGenerator[bytes, None]:
        """One page as JSON text, chunk by chunk."""
        listing = await self._store.list(organization_id, query, within)
        return page_chunks(listing, self._store.parts, self._workflows, organization_id, query)

    def export(
        self, organization_id: UUID, query: ExportQuery, within: Collection[str] | None = None
    ) -> AsyncGenerator[bytes, None]:
        """What the query finds, oldest first, as lines of JSON that an import takes."""
        return export_chunks(self._store, organization_id, query, within)

    async def get(
        self, organization_id: UUID, trajectory_id: UUID, *, with_workflow: bool = False
    ) -> TrajectoryAnswer | None:
        """The trajectory, or None."""
        stored = await self._store.get(organization_id, trajectory_id)
        if stored is None:
            return None
        if not with_workflow:
            return self._answer(stored)
        workflows = await self._workflows.get_many(organization_id, [stored.workflow_id])
        return TrajectoryAnswer(self._store.parts, stored, workflows)

    async def latest(
        self, organization_id: UUID, workflow_id: UUID, within: Collection[str] | None = None
    ) -> TrajectoryAnswer | None:
        """The most recently updated one of the workflow that is generated and has a step."""
        stored = await self._store.latest(organization_id, workflow_id, within)
        return None if stored is None else self._answer(stored)

    async def create(
        self,
        organization_id: UUID,
        by: Editor,
        new: NewTrajectory,
        request: KeyedRequest | None = None,
    ) -> tuple[TrajectoryAnswer, bool]:
        """Make a trajectory, or import one with its own id and times; whether it is a replay.

        Raises AlreadyExists where an imported id is taken, TooLarge or KeyReused.
        """
        made = self._store.with_pictures(new_trajectory(organization_id, by, new))
        if request is None:
            return self._answer(await self._inserted(made)), False

        async def work(transaction: Transaction) -> dict[str, Any]:
            trajectories = transaction.trajectories
            new = made
            if made.is_main:
                new = without_second_main(made, await trajectories.mains(*_workflow_of(made)))
            await trajectories.insert(new)
            return {name: getattr(new, name) for name in _MADE_ANEW}

        # The same request says the same again; what it does not say is in the key's record.
        first, is_replayed = await self._transactions.run_once(request, work)
        return self._answer(replace(made, **first)), is_replayed

    async def _inserted(self, made: StoredTrajectory) -> StoredTrajectory:
        """Insert it, as its workflow's main one where that has none."""
        new = await self._with_one_main(made)
        try:
            await self._store.insert(new)
        except AlreadyExists:
            if not new.is_main:
                raise
            # Another one may have become the main one meanwhile.  A taken id is refused again.
            new = await self._with_one_main(made)
            await self._store.insert(new)
        return new

    async def _with_one_main(self, made: StoredTrajectory) -> StoredTrajectory:
        if not made.is_main:
            return made
        return without_second_main(made, await self._store.mains(*_workflow_of(made)))

    async def change(
        self,
        organization_id: UUID,
        by: Editor,
        trajectory_id: UUID,
        change: ChangedTrajectory,
        versions: Versions = None,
    ) -> TrajectoryAnswer:
        """Change what is named, and nothing else; the trajectory as it is then.

        Raises NotFound, VersionMismatch, WrongState, or TooLarge above 16 MiB in all.
        """
        digests = StepsDigests(self._store.parts)

        async def work(transaction: Transaction) -> TrajectoryAnswer:
            opened = await transaction.trajectories.open(organization_id, trajectory_id, versions)
            if refusal := refused_change(opened.stored, change):
                raise WrongState(refusal)
            digest = None
            if change.is_generated and opened.stored.steps_digest is None:
                digest = digests.of(await opened.whole())
            fields = changed_fields(opened.stored, change, by, digest)
            if fields.get("is_main"):
                await opened.replace_main(fields.get("workflow_id"))
            after = await opened.change(fields)
            return TrajectoryAnswer(self._store.parts, after, has_withdrawn="review" in fields)

        return await digests.known_for(lambda: self._transactions.run(work))

    async def delete(
        self, organization_id: UUID, trajectory_id: UUID, versions: Versions = None
    ) -> StoredTrajectory:
        """Delete a trajectory and its steps; what it was, without these.

        Raises NotFound or VersionMismatch.
        """

        async def work(transaction: Transaction) -> StoredTrajectory:
            opened = await transaction.trajectories.open(organization_id, trajectory_id, versions)
            await opened.delete()
            return opened.stored

        return await self._transactions.run(work)

    async def append(
        self,
        organization_id: UUID,
        by: Editor,
        trajectory_id: UUID,
        steps: JsonObjects,
        versions: Versions = None,
        request: KeyedRequest | None = None,
    ) -> KeyedAnswer:
        """Put steps behind those that are there; the trajectory then, without its steps.

        Raises NotFound, VersionMismatch, KeyReused, or WrongState where it is not pending
        generation.
        """

        async def work(transaction: Transaction) -> dict[str, Any]:
            opened = await transaction.trajectories.open(organization_id, trajectory_id, versions)
            if refusal := refused_steps(opened.stored):
                raise WrongState(refusal)
            authors = with_author(opened.stored.authors, by)
            return head_result(await opened.append(steps, {"authors": authors}))

        return head_answer(*await self._transactions.run_once(request, work))

    async def duplicate(
        self,
        organization_id: UUID,
        by: Editor,
        trajectory_id: UUID,
        name: str | None,
        request: KeyedRequest | None = None,
    ) -> KeyedAnswer:
        """Make a copy with an id and times of its own, not approved; the copy without its steps.

        Raises NotFound, KeyReused, or TooLarge where its longer name does not fit any more.
        """

        async def work(transaction: Transaction) -> dict[str, Any]:
            original = await transaction.trajectories.get(organization_id, trajectory_id)
            copy = self._store.with_pictures(duplicate_of(original, by, name))
            await transaction.trajectories.insert_duplicate(copy, original.id)
            return head_result(copy)

        return head_answer(*await self._transactions.run_once(request, work))

    def _answer(self, stored: StoredTrajectory) -> TrajectoryAnswer:
        return TrajectoryAnswer(self._store.parts, stored)


def _workflow_of(stored: StoredTrajectory) -> tuple[UUID, list[UUID]]:
    return stored.organization_id, [stored.workflow_id]
