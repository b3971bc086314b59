"""The recordings of the machines whose links are on this node."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from server.clock import milliseconds
from server.dispatch.command import Command, CommandReply, Ended
from server.dispatch.ledger.timings import Timings
from server.dispatch.recording.album import Album
from server.dispatch.recording.before_and_after import BeforeAndAfter, Beneath
from server.dispatch.recording.notes import Taken
from server.dispatch.recording.session import RecordingSession
from server.dispatch.recording.steps import takes, told_late
from server.dispatch.recording.surroundings import Surroundings
from server.dispatch.recording.writing import RecordingWriter
from server.errors import StoreError
from server.machines.socket import LinkSocket
from server.store.machines.recording_marks import RecordingMark
from server.store.recordings.recordings import StoredStep
from server.store.trajectories.pictures import PictureStore
from server.tasks import Tasks

Key = tuple[UUID, str]


@dataclass(frozen=True, slots=True)
class RecordedInput:
    """An input that is on its way, and those recordings that it is a part of."""

    taken: Sequence[tuple[RecordingSession, Taken]]
    command: Command | None = None
    surroundings: Surroundings | None = None
    beneath: Beneath | None = None
    around: BeforeAndAfter | None = None

    @property
    def is_too_late(self) -> bool:
        """Whether a recording that it is a part of writes nothing here any more."""
        return any(session.writes_no_more for session, _ in self.taken)

    def ended(self, reply: CommandReply | None, timings: Timings) -> None:
        """It is answered in a moment; None is that it was given up."""
        if self.command is not None and self.surroundings is not None:
            self.surroundings.ended(self.command, self.beneath, self.around)
        for session, taken in self.taken:
            session.ended(taken, reply, timings)


NOT_RECORDED: Final = RecordedInput(())


class RecordingsHere:
    """Has what the links of this node carry out recorded.

    A recording is here for as long as a link of its machine is: the next link goes on with it,
    wherever that is.
    """

    def __init__(
        self,
        writer: RecordingWriter,
        pictures: PictureStore,
        background: Tasks,
    ) -> None:
        self._writer = writer
        self._pictures = pictures
        self._background = background
        self._sessions: dict[Key, Sequence[RecordingSession]] = {}
        self._surroundings: dict[LinkSocket, Surroundings] = {}
        # Those that write what they have noted, for the next ones to wait for.
        self._leaving: dict[UUID, RecordingSession] = {}

    @property
    def running(self) -> int:
        """How many there are."""
        return sum(map(len, self._sessions.values()))

    @property
    def waiting(self) -> int:
        """How many steps of all of them are not written yet."""
        return sum(session.waiting for each in self._sessions.values() for session in each)

    def recordings_read(self, link: LinkSocket, marks: Sequence[RecordingMark]) -> None:
        """A link that is up knows who records its machine.

        One before it may not be closed yet, as of a machine that is gone: it records no more.
        """
        if link.is_over:
            return
        key = link.organization_id, link.machine_id
        for session in self._sessions.get(key, ()):
            if session.link is not link:
                self._leave(session)
        before = {
            session.mark.id: session
            for session in self._sessions.get(key, ())
            if session.link is link and not session.is_over
        }
        sessions = [
            before.pop(mark.id) if mark.id in before else self._begin(link, mark) for mark in marks
        ]
        for session, mark in zip(sessions, marks, strict=True):
            session.mark = mark
            session.private_is(link.privacy.is_private)
        for session in before.values():
            session.close()
        if sessions:
            self._sessions[key] = sessions
            if link not in self._surroundings:
                self._surroundings[link] = Surroundings(link, self._background)
            self._surroundings[link].private_is(link.privacy.is_private)
        else:
            self._sessions.pop(key, None)
            self._see_no_more(link)

    def link_closed(self, link: LinkSocket) -> None:
        """A link is closed: what was noted of its machine is written."""
        key = link.organization_id, link.machine_id
        left = [session for session in self._sessions.get(key, ()) if session.link is link]
        if left:
            stays = [each for each in self._sessions[key] if each not in left]
            self._sessions[key] = stays
            if not stays:
                del self._sessions[key]
        self._see_no_more(link)
        for session in left:
            self._leave(session)

    async def finish(self, organization_id: UUID, machine_id: str, recording_id: UUID) -> None:
        """Write all that is noted for a recording, which ends."""
        for session in self._sessions.get((organization_id, machine_id), ()):
            if session.mark.id == recording_id:
                await session.finish()
        if (leaving := self._leaving.get(recording_id)) is not None:
            # Its link has just ended.
            await leaving.until_over()

    async def until_seen(self, organization_id: UUID, machine_id: str) -> None:
        """Wait until the screen of a machine that is recorded is seen, but not for long."""
        for session in self._sessions.get((organization_id, machine_id), ()):
            await session.until_seen()

    def has(self, command: Command) -> bool:
        """Whether the recording runs that an input names as its own, if it names one."""
        if command.sender.recording is None:
            return True
        wanted = command.sender.recording, command.sender.token_id
        return any(
            (session.mark.id, session.mark.token_id) == wanted and not session.is_over
            for session in self._sessions.get((command.organization_id, command.machine_id), ())
        )

    def began(self, command: Command) -> RecordedInput:
        """An input is on its way to a machine of this node."""
        sessions = self._sessions.get((command.organization_id, command.machine_id))
        if sessions is None:
            return NOT_RECORDED
        for session in sessions:
            session.passes(command)
        takers = [each for each in sessions if each.takes(command)]
        surroundings = self._surroundings.get(sessions[0].link)
        beneath, around = None, None
        if surroundings is not None:
            beneath, around = surroundings.began(command, is_recorded=bool(takers))
        taken = [(each, each.began(command, beneath, around)) for each in takers]
        return RecordedInput(taken, command, surroundings, beneath, around)

    async def told(self, command: Command, reply: Ended) -> None:
        """An end is told that no recording here takes: its recorder may have been killed just then.

        It is recorded by the time that this returns, if the database takes it.
        """
        if command.sender.lease_hash is not None:
            # Nobody here knows whether control was private then.
            return

        def steps_of(mark: RecordingMark) -> Sequence[StoredStep]:
            is_within = reply.accepted_at >= milliseconds(mark.since)
            return told_late(command, reply) if is_within and takes(mark, command) else ()

        with suppress(StoreError):
            await self._writer.make_up(command.organization_id, command.machine_id, steps_of)

    def _begin(self, link: LinkSocket, mark: RecordingMark) -> RecordingSession:
        return RecordingSession(
            link,
            mark,
            self._writer,
            Album(self._pictures, link.organization_id, link.machine_id),
            self._background,
            before=self._leaving.get(mark.id),
        )

    def _see_no_more(self, link: LinkSocket) -> None:
        if (surroundings := self._surroundings.pop(link, None)) is not None:
            surroundings.close()

    def _leave(self, session: RecordingSession) -> None:
        self._leaving[session.mark.id] = session
        leaving = self._background.start_and_report(session.finish(), "end a recording here")
        leaving.add_done_callback(lambda _: self._has_left(session))

    def _has_left(self, session: RecordingSession) -> None:
        if self._leaving.get(session.mark.id) is session:
            del self._leaving[session.mark.id]
