"""What a node does to the recordings that are stored: takes them, fills them, and ends them.

A step is there once, however often it is written: by its command, and which of several actions it
is.  A node that takes a recording from another one marks that something may be missing.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final
from uuid import UUID, uuid4

from schemas.resources.recordings import MOST_STEP_BYTES, MOST_STEPS, WhyStopped
from schemas.steps.step import GAP, Step
from schemas.values.json_encoding import encode_long_json
from schemas.values.json_texts import JsonObjects
from server.errors import NotFound
from server.store.machines.recording_marks import RecordingMark
from server.store.recordings.recordings import (
    ENDING,
    STOPPED,
    StoredRecording,
    StoredStep,
    steps_document,
)
from server.store.recordings.writes import step_key
from server.store.times import now
from server.store.transactions import Transaction, Transactions

MOVED: Final = (
    "The server, or another node of it, has begun to record anew: what was done in the second "
    "before may be missing."
)


CUT_OFF: Final = (
    "The server that recorded has ended, or did not answer: what was done in the second before may "
    "be missing."
)

NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


class RecordingEndedError(Exception):
    """The recording takes no further steps."""


class RecordingWriter:
    """Writes the recordings of every organization.

    Of each one alone takes the steps at a time, which says what is under way; whoever had it before
    may still write what it had.

    ``tell`` is told of each that has got steps, or has ended.
    """

    def __init__(
        self,
        transactions: Transactions,
        tell: Callable[[StoredRecording], None],
    ) -> None:
        self._transactions = transactions
        self._tell = tell

    async def take(
        self, organization_id: UUID, recording_id: UUID, taker_id: UUID
    ) -> StoredRecording:
        """Go on with a recording; where another one still had it, a gap is marked.

        Raises RecordingEndedError, and NotFound where its trajectory takes no more.
        """

        async def work(transaction: Transaction) -> StoredRecording:
            stored = await _running(transaction, organization_id, recording_id)
            if stored.taker_id == taker_id:
                return stored
            steps = stored.open_steps
            if stored.taker_id is not None:
                steps = (*steps, _gap(MOVED))
            taken = await _filled(transaction, stored, steps)
            await transaction.recordings.move(taken, taker_id)
            return replace(taken, taker_id=taker_id, open_steps=())

        taken = await self._transactions.run(work)
        self._tell(taken)
        return taken

    async def append(
        self,
        recording: StoredRecording,
        taker_id: UUID,
        steps: Sequence[StoredStep],
        open_steps: Sequence[StoredStep],
        *,
        pictures: int,
        picture_bytes: int,
    ) -> StoredRecording:
        """Put steps behind those that are there, but those that are; the recording then.

        ``open_steps`` are not over yet, and take the place of those before.  So many pictures of
        it are kept by then.  Raises RecordingEndedError, and NotFound where its trajectory takes
        no more.
        """
        organization_id = recording.organization_id

        async def work(transaction: Transaction) -> StoredRecording:
            stored = await _running(transaction, organization_id, recording.id)
            fields: dict[str, Any] = {}
            if stored.taker_id == taker_id:
                fields["open_steps"] = steps_document(open_steps)
            counts = {"pictures": pictures, "picture_bytes": picture_bytes}
            filled = await _filled(transaction, stored, steps, {**fields, **counts})
            return replace(filled, pictures=pictures, picture_bytes=picture_bytes)

        filled = await self._transactions.run(work)
        if steps:
            self._tell(filled)
        return filled

    async def make_up(
        self,
        organization_id: UUID,
        machine_id: str,
        steps_of: Callable[[RecordingMark], Sequence[StoredStep]],
    ) -> None:
        """Put steps into the recordings of a machine that lack them, and will not have them else.

        What is under way stays with whoever takes the steps.
        """

        async def work(transaction: Transaction) -> list[StoredRecording]:
            changed = []
            for stored in await transaction.recordings.of_machine(organization_id, machine_id):
                under_way = {step.key for step in stored.open_steps}
                steps = [each for each in steps_of(stored.mark) if each.key not in under_way]
                with suppress(NotFound):
                    filled = await _filled(transaction, stored, steps)
                    if filled is not stored:
                        changed.append(filled)
            return changed

        for filled in await self._transactions.run(work):
            self._tell(filled)

    async def release(self, recording: StoredRecording, taker_id: UUID) -> None:
        """Leave a recording to whoever takes it next: nothing of it is missing."""

        async def work(transaction: Transaction) -> None:
            stored = await transaction.recordings.get(recording.organization_id, recording.id)
            if stored is not None and stored.runs and stored.taker_id == taker_id:
                await transaction.recordings.move(stored, None)

        await self._transactions.run(work)

    async def end(
        self, organization_id: UUID, recording_id: UUID, why: WhyStopped
    ) -> StoredRecording | None:
        """Have a recording take no steps any more, but what was under way; None where none is.

        One that has ended stays as it is.
        """

        async def finish(transaction: Transaction) -> None:
            stored = await _running(transaction, organization_id, recording_id)
            steps = stored.open_steps
            if stored.taker_id is not None:
                # Nobody has said that all is written.
                steps = (*steps, _gap(CUT_OFF))
            await _filled(transaction, stored, steps)
            await transaction.recordings.move(stored, None)

        async def work(transaction: Transaction) -> tuple[StoredRecording | None, bool]:
            stored = await transaction.recordings.get(organization_id, recording_id)
            if stored is None or not stored.runs:
                return stored, False
            fields: dict[str, Any] = {"state": ENDING, "stopped_at": now(), "why_stopped": why}
            await transaction.recordings.change(stored, fields)
            await transaction.recordings.move(stored, None)
            await transaction.recordings.unmark(stored)
            return replace(stored, **fields, taker_id=None, open_steps=()), True

        if why != "trajectory":
            try:
                await self._transactions.run(finish)
            except RecordingEndedError:
                pass
            except NotFound:
                why = "trajectory"
        ended, is_new = await self._transactions.run(work)
        if ended is not None and is_new:
            self._tell(ended)
        return ended

    async def stopped(self, recording: StoredRecording) -> None:
        """One that was ending has nothing left to be done."""

        async def work(transaction: Transaction) -> None:
            await transaction.recordings.change(recording, {"state": STOPPED})

        await self._transactions.run(work)


def is_full(recording: StoredRecording) -> WhyStopped | None:
    """Why a recording takes no further steps; None where it does."""
    if recording.steps >= MOST_STEPS:
        return "steps"
    return "bytes" if recording.step_bytes >= MOST_STEP_BYTES else None


async def _running(
    transaction: Transaction, organization_id: UUID, recording_id: UUID
) -> StoredRecording:
    stored = await transaction.recordings.get(organization_id, recording_id)
    if stored is None or not stored.runs:
        raise RecordingEndedError
    return stored


async def _filled(
    transaction: Transaction,
    stored: StoredRecording,
    steps: Sequence[StoredStep],
    changed: Mapping[str, Any] = NOTHING,
) -> StoredRecording:
    """A recording, and its trajectory, with those of these steps that are not there yet.

    ``changed`` are fields of its document to write along with them.  Raises NotFound where its
    trajectory takes none.
    """
    recordings = transaction.recordings
    known = await recordings.known(stored.id, [step.key for step in steps]) if steps else set()
    fresh: dict[bytes, StoredStep] = {}
    for step in steps:
        if step.key not in known and len(fresh) < MOST_STEPS - stored.steps:
            fresh.setdefault(step.key, step)
    if not fresh:
        await recordings.change(stored, changed)
        return stored
    opened = await transaction.trajectories.open(stored.organization_id, stored.trajectory_id, None)
    if opened.stored.is_generated:
        raise NotFound("The trajectory takes no further steps.")
    text = b",".join(step.content for step in fresh.values())
    authors = dict.fromkeys((*opened.stored.authors, *_authors(fresh.values())))
    await opened.append(JsonObjects(b"[%b]" % text, len(fresh)), {"authors": tuple(authors)})
    await recordings.note(stored.id, fresh.keys())
    fields: dict[str, Any] = {
        "steps": stored.steps + len(fresh),
        "step_bytes": stored.step_bytes + len(text),
        "gaps": stored.gaps + sum(step.is_gap for step in fresh.values()),
        "secrets": stored.secrets + sum(step.has_secret for step in fresh.values()),
        "last_step_at": now(),
    }
    await recordings.change(stored, {**changed, **fields})
    return replace(stored, **fields)


def _authors(steps: Iterable[StoredStep]) -> Iterator[str]:
    return (step.author for step in steps if step.author is not None)


def _gap(reason: str) -> StoredStep:
    step = Step(operation=GAP, body={"reason": reason})
    return StoredStep(step_key(uuid4(), 0), encode_long_json(step.stored()), is_gap=True)
