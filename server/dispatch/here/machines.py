"""The machines whose links are on this node: who answers which question about them."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar
from uuid import UUID

from schemas.link.close_codes import CloseCode
from server.clock import seconds_until
from server.dispatch.command import Command, CommandReply, Ended, Pending
from server.dispatch.forwarding.remote_viewers import RemoteViewers
from server.dispatch.here import clipboard, elements, pictures, screens, texts
from server.dispatch.here.looking import looking
from server.dispatch.here.waits import WaitsHere
from server.dispatch.ledger.ledger import Ledger
from server.dispatch.ledger.timings import Timings
from server.dispatch.questions.clipboard import ReadClipboard
from server.dispatch.questions.control import (
    INTERRUPT_SECONDS,
    ControlChanged,
    FindLink,
    MachineRemoved,
    PauseChanged,
    RotateToken,
)
from server.dispatch.questions.elements import FindElements
from server.dispatch.questions.inputs import ResolveCommand
from server.dispatch.questions.pictures import FindRecorded
from server.dispatch.questions.question import Done, LinkQuestion, Look, Refusal
from server.dispatch.questions.recordings import FinishRecording, RecordingsChanged
from server.dispatch.questions.screens import (
    AwaitScreen,
    FetchPicture,
    FindScreen,
    LookAtDesktop,
    NextPicture,
    StopWaiting,
    StopWatching,
    TakeScreenshot,
)
from server.dispatch.questions.texts import ReadTexts
from server.dispatch.recorder import InputRecorder
from server.dispatch.recording.here import RecordingsHere
from server.dispatch.refusals import (
    RefusedError,
    control_ended,
    control_held,
    not_interrupted,
    recording_ended,
    refused,
)
from server.errors import StoreUnavailable
from server.machines.admission import Admission
from server.machines.link.errors import LinkDownError, SubmissionRefusedError
from server.machines.registry import LinkRegistry
from server.machines.socket import LinkSocket
from server.store.commands import CommandRecord
from server.store.trajectories.pictures import PictureStore
from server.vision.vision import Vision

R = TypeVar("R")

Answers = Callable[["MachinesHere", LinkSocket, Any], Awaitable[Any]]
"""Answers a question about the machine of a link that is up.  May raise RefusedError."""


class MachinesHere:
    """Has the links of this node do what is asked, whichever node was asked."""

    def __init__(
        self,
        registry: LinkRegistry,
        admission: Admission,
        ledger: Ledger,
        recorder: InputRecorder,
        vision: Vision,
        recordings: RecordingsHere,
        pictures: PictureStore,
    ) -> None:
        self._registry = registry
        self._admission = admission
        self._ledger = ledger
        self._recorder = recorder
        self._recordings = recordings
        self.remote_viewers = RemoteViewers()
        self.waits = WaitsHere()
        self.vision = vision
        self.pictures = pictures

    def find(self, organization_id: UUID, machine_id: str) -> LinkSocket | None:
        """The machine's link that is up, paused or not, or None."""
        return self._registry.find(organization_id, machine_id)

    async def answer(self, link: LinkSocket, question: LinkQuestion[R]) -> R | Refusal:
        """What a machine of this node answers."""
        answers: Callable[[MachinesHere, LinkSocket, LinkQuestion[R]], Awaitable[R]]
        answers = ANSWERS[type(question)]
        try:
            if not isinstance(question, Look):
                return await answers(self, link, question)
            since = question.since if isinstance(question, FetchPicture) else None
            async with looking(link, question.looker, since):
                return await answers(self, link, question)
        except RefusedError as error:
            return error.refusal

    def check_room(self) -> None:
        """Raise StoreUnavailable where no further input could be recorded in the audit."""
        self._recorder.check_room()

    async def carry_out(self, command: Command, link: LinkSocket) -> CommandReply:
        """What becomes of a command that its machine's link is here for."""
        try:
            await _until_restricted(link, command)
        except SubmissionRefusedError as error:
            return await self.known(command, refused(error, command.accepted_at))
        if not self._recordings.has(command):
            return await self.known(command, recording_ended())
        recorded, timings = self._recordings.began(command), Timings()
        reply: CommandReply | None = None
        try:
            reply = self._counted(command, await self._ledger.answer(command, link, timings))
        finally:
            recorded.ended(reply, timings)
        if recorded.is_too_late:
            await self._told(command, reply)
        return reply

    async def known(self, command: Command, why_not: Refusal | Pending) -> CommandReply:
        """What became of a command that nothing can be sent of; ``why_not`` where none is known."""
        reply = self._counted(command, await self._ledger.known(command, why_not))
        await self._told(command, reply)
        return reply

    async def _told(self, command: Command, reply: CommandReply) -> None:
        """Have an end recorded that no recording here takes any more."""
        if isinstance(reply, Ended):
            await self._recordings.told(command, reply)

    def _counted(self, command: Command, reply: CommandReply) -> CommandReply:
        """A reply to a command, which is counted where it tells of no new end."""
        match reply:
            case Ended():
                how = "replayed" if reply.is_replayed else None
            case Pending():
                how = "outcome-pending"
            case Refusal():
                how = reply.kind.value
        if how is not None:
            self._recorder.answered_without_end(command, how)
        return reply

    async def look_up(self, record: CommandRecord, link: LinkSocket) -> CommandRecord | None:
        """A record of the ledger as it is when its machine was asked, where that settles it."""
        return await self._ledger.look_up(record, link)

    @property
    def viewers(self) -> int:
        """How many look at the live screens of this node's machines."""
        seen = (each.watched_screen for each in self._registry)
        return sum(screen.viewers for screen in seen if screen is not None)

    async def restrictions_changed(self, organization_id: UUID, machine_id: str) -> None:
        """A machine was paused or resumed, or control of it changed.

        When this returns, its link keeps to that or is closed.
        """
        link = self.find(organization_id, machine_id)
        if link is not None:
            await self._admission.restrictions_changed(link)

    def disconnect(self, organization_id: UUID, machine_id: str) -> None:
        """Close all links of a machine that was removed."""
        for link in self._registry.links_of(organization_id, machine_id):
            link.close(CloseCode.MACHINE_REMOVED, "this machine was removed")

    def give_way(self, organization_id: UUID, machine_id: str, epoch: int) -> bool:
        """Close the links of a machine that are older than ``epoch``; whether one was up."""
        was_up = False
        for link in self._registry.links_of(organization_id, machine_id):
            if link.epoch == 0:
                # The database may have counted it already, before the newer one.
                link.newest_epoch = max(link.newest_epoch, epoch)
            elif link.epoch < epoch:
                was_up = was_up or link.is_up
                link.give_way()
        return was_up

    async def control_changed(self, link: LinkSocket, changed: ControlChanged) -> None:
        """Control of the machine of a link that is up has changed: have it interrupted.

        Raises RefusedError where nobody confirms that nothing runs and nothing is held of whoever
        had control before, or where the lease of its hash is not in force by then.
        """
        lease_hash = changed.lease_hash
        try:
            async with asyncio.timeout(INTERRUPT_SECONDS):
                await self._admission.restrictions_changed(link)
                await link.until_interrupted()
        except (TimeoutError, LinkDownError):
            raise RefusedError(not_interrupted()) from None
        if link.epoch < changed.epoch:
            raise RefusedError(not_interrupted())
        control = link.availability.restrictions.control
        if lease_hash is None or (control is not None and control.lease_hash == lease_hash):
            return
        raise RefusedError(
            control_ended() if control is None else control_held(control.by, control.since)
        )

    async def recordings_changed(self, organization_id: UUID, machine_id: str) -> None:
        """Somebody records a machine, or does no more; when this returns, its link keeps to it."""
        await self.restrictions_changed(organization_id, machine_id)
        await self._recordings.until_seen(organization_id, machine_id)

    async def finish_recording(self, question: FinishRecording) -> None:
        """Have all written that was noted for a recording, which ends."""
        await self._recordings.finish(
            question.organization_id, question.machine_id, question.recording_id
        )

    async def resolve(self, link: LinkSocket, question: ResolveCommand) -> None:
        """Have the machine of a link say what became of a command."""
        record = await self._ledger.find(
            question.organization_id, question.command_id, question.machine_id
        )
        if record is not None:
            await self._ledger.look_up(record, link)


async def _until_restricted(link: LinkSocket, command: Command) -> None:
    """Wait until a new link knows who has control of its machine, and who records it.

    Raises a SubmissionRefusedError, and StoreUnavailable where the database does not say it before
    the command's time to begin has passed.
    """
    if link.privacy.is_known:
        return
    try:
        async with asyncio.timeout(seconds_until(command.expires_at)):
            await link.until_restricted()
    except TimeoutError:
        raise StoreUnavailable("The database did not say in time who has control.") from None


async def _found(_here: MachinesHere, link: LinkSocket, question: FindLink) -> Done:
    if question.rival is not None:
        link.met(question.rival)
    return Done()


async def _seen(_here: MachinesHere, link: LinkSocket, _: FindScreen) -> Done:
    screens.check_screen(link)
    return Done()


async def _resolved(here: MachinesHere, link: LinkSocket, question: ResolveCommand) -> Done:
    await here.resolve(link, question)
    return Done()


async def _paused(here: MachinesHere, _link: LinkSocket, question: PauseChanged) -> Done:
    await here.restrictions_changed(question.organization_id, question.machine_id)
    return Done()


async def _controlled(here: MachinesHere, link: LinkSocket, question: ControlChanged) -> Done:
    await here.control_changed(link, question)
    return Done()


async def _rotated(_here: MachinesHere, link: LinkSocket, question: RotateToken) -> Done:
    link.want_new_token(question.code)
    return Done()


async def _recordings_changed(
    here: MachinesHere, _link: LinkSocket, question: RecordingsChanged
) -> Done:
    await here.recordings_changed(question.organization_id, question.machine_id)
    return Done()


async def _recording_finished(
    here: MachinesHere, _link: LinkSocket, question: FinishRecording
) -> Done:
    await here.finish_recording(question)
    return Done()


async def _removed(here: MachinesHere, _link: LinkSocket, question: MachineRemoved) -> Done:
    here.disconnect(question.organization_id, question.machine_id)
    return Done()


async def _stopped(here: MachinesHere, _link: LinkSocket, question: StopWatching) -> Done:
    here.remote_viewers.stop(question)
    return Done()


async def _stopped_waiting(here: MachinesHere, _link: LinkSocket, asked: StopWaiting) -> Done:
    here.waits.stop(asked)
    return Done()


ANSWERS: Final[dict[type[LinkQuestion[Any]], Answers]] = {
    FindLink: _found,
    FindScreen: _seen,
    ResolveCommand: _resolved,
    TakeScreenshot: lambda _, link, question: screens.screenshot(link, question),
    AwaitScreen: lambda here, link, asked: here.waits.seen(link, asked),
    StopWaiting: _stopped_waiting,
    ReadTexts: lambda here, link, asked: texts.read_texts(here.vision, link, asked),
    FindRecorded: lambda here, link, asked: pictures.find_recorded(
        here.vision, here.pictures, link, asked
    ),
    FetchPicture: lambda _, link, question: screens.fetch_picture(link, question),
    LookAtDesktop: lambda _, link, question: screens.look(link, question),
    FindElements: lambda _, link, question: elements.find_elements(link, question),
    NextPicture: lambda here, link, asked: here.remote_viewers.next_picture(link, asked),
    StopWatching: _stopped,
    ReadClipboard: lambda _, link, question: clipboard.read_clipboard(link, question),
    PauseChanged: _paused,
    ControlChanged: _controlled,
    RecordingsChanged: _recordings_changed,
    FinishRecording: _recording_finished,
    MachineRemoved: _removed,
    RotateToken: _rotated,
}
"""Who answers what is asked of a machine with a link here.  A command goes to the ledger."""
