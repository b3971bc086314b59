"""Recordings: what is done on a machine becomes the steps of a trajectory."""

from uuid import UUID

from pydantic import BaseModel

from schemas.http import problems
from schemas.http.problems import ProblemError
from schemas.resources.actions import Action
from schemas.resources.recordings import (
    NewRecording,
    Recording,
    RecordingPage,
    RecordingQuery,
    SecretTyping,
)
from schemas.resources.tokens import Scope
from server.api.machines.asking import AskingHandler
from server.api.machines.paths import MachinePath
from server.web.auditing import record
from server.web.changes import refusals
from server.web.endpoint import Endpoint


class RecordingPath(BaseModel):
    """Names a recording."""

    recording_id: UUID


class MachineRecordingsHandler(AskingHandler):
    @Endpoint(
        summary="Record a machine",
        description="From then on every input that is completed becomes a step of a pending "
        "trajectory, through whichever node and by whichever way it comes.  Needs screen:read as "
        "well: steps have pictures.  Everybody who sees the machine sees that it is recorded.",
        scope=Scope.RECORDINGS_WRITE,
        path=MachinePath,
        body=NewRecording,
        body_required=False,
        answers={201: Recording},
        problems=(problems.NOT_FOUND, problems.WRONG_STATE, problems.MACHINE_UNAVAILABLE),
        answer_headers={"Location": "Where the recording is."},
    )
    async def post(self, path: MachinePath, body: NewRecording) -> None:
        principal = self.principal
        principal.require(Scope.SCREEN_READ)
        with refusals(f"machine {path.machine_id!r}"):
            made = await self.services.machines.recordings.begin(principal, path.machine_id, body)
        await record(
            self,
            "recording.started",
            made.id,
            machine_id=path.machine_id,
            note="texts are kept" if body.keep_texts else None,
        )
        self.set_header("Location", f"/v1/recordings/{made.id}")
        self.answer(201, made)


class RecordingsHandler(AskingHandler):
    @Endpoint(
        summary="List recordings",
        description="Those that run and those that have ended, newest first.",
        scope=Scope.MACHINES_READ,
        for_bound=True,
        query=RecordingQuery,
        answers={200: RecordingPage},
    )
    async def get(self, query: RecordingQuery) -> None:
        within = await self.services.machines.reach.machines(self.principal)
        recordings = self.services.machines.recordings
        self.answer(200, await recordings.page(self.organization_id, query, within))


class OneRecordingHandler(AskingHandler):
    """What the handlers of one recording share."""

    async def found(self, recording_id: UUID) -> Recording:
        """The recording, where the caller reaches its machine.  Raises ProblemError."""
        found = await self.services.machines.recordings.get(self.organization_id, recording_id)
        reach = self.services.machines.reach
        if found is None or not await reach.has(self.principal, found.machine_id):
            raise ProblemError(problems.NOT_FOUND, f"there is no recording {recording_id}")
        return found


class RecordingHandler(OneRecordingHandler):
    @Endpoint(
        summary="Get a recording",
        scope=Scope.MACHINES_READ,
        for_bound=True,
        path=RecordingPath,
        answers={200: Recording},
        problems=(problems.NOT_FOUND,),
    )
    async def get(self, path: RecordingPath) -> None:
        self.answer(200, await self.found(path.recording_id))


class StopRecordingHandler(OneRecordingHandler):
    @Endpoint(
        summary="Stop a recording",
        description="When it is answered, all steps are in the trajectory, which is generated "
        "from then on, if it has any.  One that has ended stays as it is.",
        scope=Scope.RECORDINGS_WRITE,
        for_bound=True,
        path=RecordingPath,
        answers={200: Recording},
        problems=(problems.NOT_FOUND,),
    )
    async def post(self, path: RecordingPath) -> None:
        before = await self.found(path.recording_id)
        recordings = self.services.machines.recordings
        stopped = await recordings.stop(self.organization_id, before.id) or before
        if before.state == "recording":
            await record(self, "recording.stopped", stopped.id, machine_id=stopped.machine_id)
        self.answer(200, stopped)


class SecretRecordingHandler(OneRecordingHandler):
    @Endpoint(
        summary="Say that what is typed is a secret",
        description="When it is answered, whatever is typed is a secret, until that is said to be "
        "over: its text is not kept, and its field is blacked out on pictures for as long as it is "
        "on the screen.  Where nothing tells which field it is, there are no pictures until then.  "
        "503: it is so from the machine's next link on.",
        scope=Scope.RECORDINGS_WRITE,
        for_bound=True,
        path=RecordingPath,
        body=SecretTyping,
        answers={200: Recording},
        problems=(problems.NOT_FOUND, problems.WRONG_STATE, problems.MACHINE_UNAVAILABLE),
    )
    async def post(self, path: RecordingPath, body: SecretTyping) -> None:
        before = await self.found(path.recording_id)
        recordings = self.services.machines.recordings
        with refusals(f"recording {before.id}"):
            changed = await recordings.type_secret(self.organization_id, before.id, secret=body.on)
        try:
            await recordings.confirm(self.organization_id, before.machine_id)
        finally:
            # It is so, be it from the machine's next link on.
            if before.secret != body.on:
                action: Action = "recording.secret_on" if body.on else "recording.secret_off"
                await record(self, action, before.id, machine_id=before.machine_id)
        self.answer(200, changed or before)
