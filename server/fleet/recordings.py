"""Recordings of machines: begun, stopped, and ended where nobody stops them."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import Final
from uuid import UUID, uuid4

from schemas.http.problems import InvalidRequestError
from schemas.resources.recordings import (
    IDLE_MINUTES,
    LONGEST_HOURS,
    WORDS,
    NewRecording,
    Recording,
    RecordingPage,
    RecordingQuery,
    WhyStopped,
)
from schemas.steps.reviews import Editor
from server.dispatch.dispatcher import Dispatcher
from server.dispatch.questions.control import FindLink
from server.dispatch.questions.question import Done, LinkQuestion, Refusal
from server.dispatch.questions.recordings import FinishRecording, RecordingsChanged
from server.dispatch.recording.writing import RecordingWriter, is_full
from server.dispatch.refusals import RefusedError, accepted, unknown_machine
from server.errors import NotFound, StoreError, StoreUnavailable, WrongState
from server.fleet.lasting_rights import Begun, LastingRights, WhyNoRight
from server.identity.authentication import Principal
from server.store.audit import AuditEntry, AuditStore
from server.store.machines.documents import Machine
from server.store.machines.machines import MachineStore
from server.store.recordings.recordings import RecordingStore, StoredRecording
from server.store.times import now
from server.store.trajectories.documents import NO_STEPS, NO_VALUES, StoredTrajectory
from server.store.trajectories.workflows import StoredWorkflow
from server.store.transactions import Transaction, Transactions
from server.store.versions import first_version

POLL_SECONDS: Final = 1.0
"""How often it is looked which recordings have to end."""

LEAVING_SECONDS: Final = 2.0
LEAVING_POLL_SECONDS: Final = 0.05

_IDLE: Final = timedelta(minutes=IDLE_MINUTES)
_LONGEST: Final = timedelta(hours=LONGEST_HOURS)


class Recordings:
    """Begins, lists and ends recordings.

    ``generate`` ends the generation of the trajectory of one that has ended.  ``changed`` is told
    of every machine that is recorded by others than before.
    """

    def __init__(
        self,
        store: RecordingStore,
        writer: RecordingWriter,
        transactions: Transactions,
        machines: MachineStore,
        rights: LastingRights,
        audit: AuditStore,
        dispatcher: Dispatcher,
        generate: Callable[[StoredRecording], Awaitable[None]],
        changed: Callable[[UUID, str], None],
    ) -> None:
        self._store = store
        self._writer = writer
        self._transactions = transactions
        self._machines = machines
        self._rights = rights
        self._audit = audit
        self._dispatcher = dispatcher
        self._generate = generate
        self._changed = changed

    async def begin(self, principal: Principal, machine_id: str, new: NewRecording) -> Recording:
        """Record a machine: what is done once this has returned is recorded.

        Raises RefusedError where the machine is not there, WrongState where as many record it as
        may, and a validation error for a workflow that is not there.
        """
        organization_id = principal.organization_id
        machine = await self._machines.get(organization_id, machine_id)
        if machine is None:
            raise RefusedError(unknown_machine(machine_id))
        about = {"organization_id": organization_id, "machine_id": machine_id}
        await self._ask(FindLink(**about))
        stored = await self._insert(principal, machine, new)
        try:
            await self._ask(RecordingsChanged(**about))
        except (RefusedError, StoreUnavailable):
            await self._undo(stored, new)
            raise
        self._changed(organization_id, machine_id)
        return recording_view(stored)

    async def get(self, organization_id: UUID, recording_id: UUID) -> Recording | None:
        """A recording, or None."""
        stored = await self._store.get(organization_id, recording_id)
        return None if stored is None else recording_view(stored)

    async def page(
        self,
        organization_id: UUID,
        query: RecordingQuery,
        machine_ids: Collection[str] | None,
    ) -> RecordingPage:
        """One page of the recordings, of these machines alone where they are given."""
        if query.machine_id is not None:
            asked = {query.machine_id}
            machine_ids = asked if machine_ids is None else asked & set(machine_ids)
        found, total = await self._store.list(
            organization_id,
            machine_ids=machine_ids,
            state=query.state,
            skip=query.skip,
            limit=query.limit,
        )
        items = [recording_view(each) for each in found]
        return RecordingPage(items=items, total=total, skip=query.skip, limit=query.limit)

    async def stop(self, organization_id: UUID, recording_id: UUID) -> Recording | None:
        """End a recording, with all that was done until now; None where there is none.

        One that has ended stays as it is.
        """
        stored = await self._store.get(organization_id, recording_id)
        if stored is None or not stored.runs:
            return None if stored is None else recording_view(stored)
        ended = await self._end(stored, "asked")
        return None if ended is None else recording_view(ended)

    async def type_secret(
        self, organization_id: UUID, recording_id: UUID, *, secret: bool
    ) -> Recording | None:
        """Say that what is typed is a secret, or is not said to be; None where there is none.

        It is so once it is confirmed.  Raises WrongState where the recording has ended.
        """

        async def work(transaction: Transaction) -> StoredRecording | None:
            stored = await transaction.recordings.get(organization_id, recording_id)
            if stored is None:
                return None
            if not stored.runs:
                raise WrongState("The recording has ended: nothing that is typed is in it.")
            await transaction.recordings.mark_secret(stored, secret=secret)
            return replace(stored, secret=secret)

        changed = await self._transactions.run(work)
        if changed is None:
            return None
        self._changed(organization_id, changed.machine_id)
        return recording_view(changed)

    async def confirm(self, organization_id: UUID, machine_id: str) -> None:
        """Have the machine's node act on what was said of its recordings.

        Raises RefusedError where it does not: it is so from the machine's next link on.
        """
        await self._ask(RecordingsChanged(organization_id=organization_id, machine_id=machine_id))

    async def run(self) -> None:
        """End what nobody stops, for ever; whichever node sees it first."""
        while True:
            await asyncio.sleep(POLL_SECONDS)
            with suppress(StoreUnavailable):
                found = await self._store.not_stopped()
                over = await self._rights.over_among({_begun(stored) for stored in found})
                for stored in found:
                    if not stored.runs:
                        await self._finish(stored)
                    elif (why := await self._why_over(stored, over)) is not None:
                        await self._end(stored, why)

    async def _end(self, stored: StoredRecording, why: WhyStopped) -> StoredRecording | None:
        """Have all written that was noted, and end the recording everywhere."""
        about = {"organization_id": stored.organization_id, "machine_id": stored.machine_id}
        with suppress(StoreUnavailable):
            await self._until_written(stored)
        ended = await self._writer.end(stored.organization_id, stored.id, why)
        if ended is not None:
            await self._finish(ended)
        self._changed(stored.organization_id, stored.machine_id)
        with suppress(StoreUnavailable):
            await self._dispatcher.ask(RecordingsChanged(**about))
        if ended is not None and why != "asked" and ended.why_stopped == why:
            await self._audit.add(_ended_by_itself(ended, why))
        return ended

    async def _finish(self, ended: StoredRecording) -> None:
        """Have the trajectory of one that has ended generated; done again, it changes nothing."""
        await self._generate(ended)
        await self._writer.stopped(ended)

    async def _until_written(self, stored: StoredRecording) -> None:
        """Have what was noted written by the node of the machine's link, or of one that has ended.

        Where that link cannot be reached it is waited for, but not long.
        """
        asked = FinishRecording(
            organization_id=stored.organization_id,
            machine_id=stored.machine_id,
            recording_id=stored.id,
        )
        give_up_at = asyncio.get_running_loop().time() + LEAVING_SECONDS
        while True:
            reply = await self._dispatcher.ask(asked)
            is_over = asyncio.get_running_loop().time() >= give_up_at
            if not isinstance(reply, Refusal) or is_over:
                return
            if not await self._may_be_written(stored):
                return
            await asyncio.sleep(LEAVING_POLL_SECONDS)

    async def _may_be_written(self, stored: StoredRecording) -> bool:
        """Whether a node still writes what it noted, or has a link that others cannot find yet."""
        about = stored.organization_id, stored.machine_id
        now_stored, machine = await asyncio.gather(
            self._store.get(stored.organization_id, stored.id), self._machines.get(*about)
        )
        is_taken = now_stored is not None and now_stored.taker_id is not None
        return is_taken or (machine is not None and machine.is_linked)

    async def _why_over(
        self, stored: StoredRecording, over: Mapping[Begun, WhyNoRight]
    ) -> WhyStopped | None:
        """Why a recording has to end; None where it goes on."""
        if (why := is_full(stored)) is not None:
            return why
        moment = now()
        if moment - stored.created_at >= _LONGEST:
            return "hours"
        if moment - (stored.last_step_at or stored.created_at) >= _IDLE:
            return "idle"
        machine = await self._machines.get_together(stored.organization_id, stored.machine_id)
        marks = () if machine is None else machine.recordings
        # One that was added again under the same id is another machine.
        if all(mark.id != stored.id for mark in marks):
            return "machine"
        return over.get(_begun(stored))

    async def _insert(
        self, principal: Principal, machine: Machine, new: NewRecording
    ) -> StoredRecording:
        """Store the recording, its trajectory, and a workflow for that where none is given."""
        stored = StoredRecording(
            id=uuid4(),
            organization_id=principal.organization_id,
            machine_id=machine.machine_id,
            trajectory_id=uuid4(),
            workflow_id=new.workflow_id or uuid4(),
            by=principal.token_name,
            token_id=principal.token_id,
            user_id=principal.user_id,
            created_at=now(),
            of_all=new.of == "everybody",
            keep_texts=new.keep_texts,
        )

        async def work(transaction: Transaction) -> StoredRecording:
            if new.workflow_id is None:
                await transaction.workflows.insert(_workflow(stored, new))
            else:
                await _check_workflow(transaction, principal.organization_id, new.workflow_id)
            await transaction.trajectories.insert(_trajectory(stored, principal, machine, new))
            return await transaction.recordings.insert(stored)

        return await self._transactions.run(work)

    async def _undo(self, stored: StoredRecording, new: NewRecording) -> None:
        """Nobody has confirmed that it is recorded: then there is nothing that `_insert` stored."""

        async def work(transaction: Transaction) -> None:
            trajectories = transaction.trajectories
            await transaction.recordings.delete(stored)
            opened = await trajectories.open(stored.organization_id, stored.trajectory_id, None)
            await opened.delete()
            of_workflow = stored.organization_id, stored.workflow_id
            if new.workflow_id is None and not await trajectories.refer_to_workflow(*of_workflow):
                await transaction.workflows.delete(_workflow(stored, new))

        with suppress(StoreError):
            await self._transactions.run(work)

    async def _ask(self, question: LinkQuestion[Done]) -> None:
        reply = await self._dispatcher.ask(question)
        accepted(reply)


def _begun(stored: StoredRecording) -> Begun:
    return stored.organization_id, stored.token_id, stored.machine_id


def recording_view(stored: StoredRecording) -> Recording:
    """A recording as it is answered, and told."""
    why = stored.why_stopped
    return Recording(
        id=stored.id,
        machine_id=stored.machine_id,
        trajectory_id=stored.trajectory_id,
        workflow_id=stored.workflow_id,
        by=stored.by,
        since=stored.created_at,
        of=stored.of,
        keep_texts=stored.keep_texts,
        secret=stored.secret,
        state="recording" if stored.runs else "stopped",
        stopped_at=stored.stopped_at,
        why_stopped=why,
        reason=None if why is None else WORDS[why],
        steps=stored.steps,
        gaps=stored.gaps,
        secrets=stored.secrets,
        pictures=stored.pictures,
        picture_bytes=stored.picture_bytes,
        last_step_at=stored.last_step_at,
    )


async def _check_workflow(
    transaction: Transaction, organization_id: UUID, workflow_id: UUID
) -> None:
    try:
        await transaction.workflows.get(organization_id, workflow_id, None)
    except NotFound:
        raise InvalidRequestError.single(
            ("body", "workflow_id"), "there is no such workflow", "workflow_unknown"
        ) from None


def _workflow(stored: StoredRecording, new: NewRecording) -> StoredWorkflow:
    """Not named by its machine: all tokens see workflows, and not all of them the machine."""
    return StoredWorkflow(
        id=stored.workflow_id,
        organization_id=stored.organization_id,
        name=new.name or f"Recorded at {stored.created_at:%Y-%m-%d %H:%M}",
        description=None,
        created_at=stored.created_at,
        updated_at=stored.created_at,
        version=first_version(stored.created_at),
    )


def _trajectory(
    stored: StoredRecording, principal: Principal, machine: Machine, new: NewRecording
) -> StoredTrajectory:
    """The one that the recording fills: it is pending until that ends."""
    return StoredTrajectory(
        id=stored.trajectory_id,
        organization_id=stored.organization_id,
        user_id=principal.user_id,
        workflow_id=stored.workflow_id,
        run_id=None,
        name=new.name,
        description=None,
        is_approved=False,
        is_generated=False,
        step_count=0,
        trajectory_data=NO_STEPS,
        dimensions=_dimensions(machine),
        original_input_values=NO_VALUES,
        created_at=stored.created_at,
        updated_at=stored.created_at,
        version=first_version(stored.created_at),
        authors=(editor_of(stored).author,),
        machine_id=machine.machine_id,
    )


def editor_of(stored: StoredRecording) -> Editor:
    """Who records, as trajectories know whoever makes them."""
    return Editor(token_id=stored.token_id, token_name=stored.by, user_id=stored.user_id)


def _dimensions(machine: Machine) -> bytes:
    """The desktop's size, and its displays, as the machine last said."""
    displays = () if machine.client is None else machine.client.displays
    left = min((each.x for each in displays), default=0)
    top = min((each.y for each in displays), default=0)
    width = max((each.x + each.width for each in displays), default=left + 1) - left
    height = max((each.y + each.height for each in displays), default=top + 1) - top
    told = [each.model_dump() for each in displays]
    return json.dumps({"width": width, "height": height, "displays": told}).encode()


def _ended_by_itself(stored: StoredRecording, why: WhyStopped) -> AuditEntry:
    return AuditEntry(
        id=uuid4().bytes,
        organization_id=stored.organization_id,
        created_at=now(),
        action="recording.stopped",
        token_id=None,
        token_name=stored.by,
        target=str(stored.id),
        machine_id=stored.machine_id,
        request_id="",
        note=f"it ended by itself: {WORDS[why]}",
    )
