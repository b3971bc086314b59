"""Waits until a machine's screen is still or has changed."""

import asyncio
from typing import Final
from uuid import uuid4

from pydantic import JsonValue

from schemas.http import problems
from schemas.inputs.waits import Wait
from schemas.resources.machines import WaitResult
from schemas.resources.tokens import Scope
from server.api.looks.pictures import fetched
from server.api.looks.sights import sought
from server.api.machines.asking import AskingHandler
from server.api.machines.paths import MachinePath
from server.dispatch.looks import LookedAt
from server.dispatch.questions.screens import (
    AwaitScreen,
    ScreenSeen,
    StillWaiting,
    StopWaiting,
    TakeScreenshot,
)
from server.web.authorization import server_stopping
from server.web.endpoint import Endpoint

MAX_BODY_BYTES: Final = 128 * 1024
"""Of several actions it is the same, which may wait for as many pictures."""

MOST_OF_A_TOKEN: Final = 16
"""Waits at once on one node."""


WAIT = Endpoint(
    summary="Wait for the screen",
    description="Answers once the screen meets one of the conditions, or with null once the "
    "time is over: both are 200.  The machine looks no more when the caller closes the "
    "connection.",
    scope=Scope.SCREEN_READ,
    path=MachinePath,
    body=Wait,
    max_body_bytes=MAX_BODY_BYTES,
    answers={200: WaitResult},
    problems=(
        problems.NOT_FOUND,
        problems.MACHINE_BUSY,
        problems.MACHINE_UNAVAILABLE,
        problems.TOO_MANY_STREAMS,
        problems.NO_ELEMENTS,
        problems.NOT_INSTALLED,
    ),
)


class WaitHandler(AskingHandler):
    """One wait, until its end or its caller's."""

    _waiting: asyncio.Task[ScreenSeen] | None = None
    _has_caller = True

    @WAIT
    async def post(self, path: MachinePath, body: Wait) -> None:
        self.services.machines.looks.check_room()
        body = body.model_copy(update={"any": await sought(self, body.any, ("body", "any"))})
        waits = self.services.machines.waits
        with self.place_among(waits, MOST_OF_A_TOKEN, "waits"):
            seen = await self._until_seen(path.machine_id, body)
        await self.authorize(WAIT)
        self.services.machines.looks.looked(self.sender(None), path.machine_id, LookedAt.SCREEN)
        content: dict[str, JsonValue] = {
            "matched": seen.matched,
            "at": seen.at and seen.at._asdict(),
            "elapsed": round(seen.elapsed, 3),
            "seen": [*seen.seen],
            "screenshot": None,
        }
        if body.screenshot is not None:
            question = TakeScreenshot(**self.looking_at(path.machine_id), wanted=body.screenshot)
            content["screenshot"] = await fetched(self, question, WAIT)
        self.answer(200, WaitResult.model_validate(content))

    def on_connection_close(self) -> None:
        """The caller has gone away."""
        super().on_connection_close()
        self._has_caller = False
        if self._waiting is not None:
            self._waiting.cancel()

    async def _until_seen(self, machine_id: str, body: Wait) -> ScreenSeen:
        """What is seen, while there is somebody whom to tell."""
        if not self._has_caller:
            raise server_stopping()  # Nobody hears it.
        waiting = self._waiting = self.services.background.start(
            self._seen(machine_id, body), f"wait of request {self.request_id}"
        )
        await asyncio.wait((waiting,))
        if waiting.cancelled():
            raise server_stopping()  # The caller has gone, and hears nothing of it.
        return waiting.result()

    async def _seen(self, machine_id: str, body: Wait) -> ScreenSeen:
        wait_id = uuid4()
        question = AwaitScreen(
            **self.looking_at(machine_id), wait_id=wait_id, any=body.any, timeout=body.timeout
        )
        seen: ScreenSeen | StillWaiting = StillWaiting()
        try:
            while isinstance(seen, StillWaiting):
                if self.services.operation.leaving:
                    raise server_stopping()  # noqa: TRY301  so that the machine is told
                await self.authorize(WAIT)
                seen = await self.ask(question)
        except BaseException:
            stop = StopWaiting(
                organization_id=self.organization_id, machine_id=machine_id, wait_id=wait_id
            )
            self.services.background.start_and_report(self._told(stop), "stop a wait")
            raise
        return seen

    async def _told(self, question: StopWaiting) -> None:
        await self.services.machines.dispatcher.ask(question)
