"""Help: programs ask, people answer."""

import asyncio
from typing import Final
from uuid import UUID

from pydantic import BaseModel

from schemas.help.requests import (
    HelpListQuery,
    HelpPage,
    HelpQuery,
    HelpRequest,
    NewHelp,
    NewHelpAnswer,
)
from schemas.http import problems
from schemas.http.problems import ProblemError
from schemas.resources.tokens import Scope
from server.api.machines.asking import AskingHandler
from server.events.event import Event, Subscription
from server.events.hub import TooManySubscribersError
from server.web.auditing import record
from server.web.authorization import server_stopping
from server.web.changes import REPLAYED, ChangingHandler, CreationHeaders, refusals
from server.web.endpoint import Endpoint

LOOK_AGAIN_SECONDS: Final = 5.0
"""How often one who waits looks for what no event has told."""

MOST_WAITS_OF_A_TOKEN: Final = 64
"""At once on one node."""


class HelpPath(BaseModel):
    """Names a help request."""

    help_id: UUID


class HelpsHandler(ChangingHandler, AskingHandler):
    @Endpoint(
        summary="List help requests",
        description="Those that are open and those that have ended, newest first; the latter are "
        "kept for 30 days.",
        scope=Scope.MACHINES_READ,
        for_bound=True,
        query=HelpListQuery,
        answers={200: HelpPage},
    )
    async def get(self, query: HelpListQuery) -> None:
        machines = self.services.machines
        within = await machines.reach.machines(self.principal)
        self.answer(200, await machines.help.page(self.organization_id, query, within))

    @Endpoint(
        summary="Ask people for help",
        description="Somebody with the scope help:answer answers; whoever asked never does.  Wait "
        "for it with GET and wait.  It is stored: nothing is lost where a program or server ends.",
        scope=Scope.INPUT_SEND,
        for_bound=True,
        headers=CreationHeaders,
        body=NewHelp,
        answers={201: HelpRequest},
        problems=(problems.NOT_FOUND, problems.WRONG_STATE),
        answer_headers={"Location": "Where the request is.", **REPLAYED},
    )
    async def post(self, headers: CreationHeaders, body: NewHelp) -> None:
        machines = self.services.machines
        await machines.fleet.check(self.organization_id, body.machine_id)
        await machines.reach.check(self.principal, body.machine_id)
        with refusals("help request"):
            made, is_replayed = await machines.help.ask(
                self.principal, body, self.keyed_request(headers, body)
            )
        self.note_replay(is_replayed)
        if not is_replayed:
            note = f"{made.kind}: {made.reason}"[:1000]
            await record(self, "help.requested", made.id, machine_id=made.machine_id, note=note)
        self.set_header("Location", f"/v1/help/{made.id}")
        self.answer(201, made)


class OneHelpHandler(AskingHandler):
    """What the handlers of one request share."""

    async def found(self, help_id: UUID) -> HelpRequest:
        """The request, where the caller reaches its machine.  Raises ProblemError."""
        machines = self.services.machines
        with refusals(f"help request {help_id}"):
            found = await machines.help.get(self.organization_id, help_id)
        if not await machines.reach.has(self.principal, found.machine_id):
            raise ProblemError(problems.NOT_FOUND, f"there is no help request {help_id}")
        return found


ONE_HELP: Final = Endpoint(
    summary="Get a help request",
    description="With wait, once it has ended, or after so many seconds as it is then.",
    scope=Scope.MACHINES_READ,
    for_bound=True,
    path=HelpPath,
    query=HelpQuery,
    answers={200: HelpRequest},
    problems=(problems.NOT_FOUND, problems.TOO_MANY_STREAMS),
)


class HelpHandler(OneHelpHandler):
    """One request, at once or once it has ended."""

    _subscription: Subscription | None = None

    @ONE_HELP
    async def get(self, path: HelpPath, query: HelpQuery) -> None:
        found = await self.found(path.help_id)
        if query.wait and found.state == "open" and self.request.method == "GET":
            waits = self.services.machines.help_waits
            with self.place_among(waits, MOST_WAITS_OF_A_TOKEN, "waits for help"):
                found = await self._until_ended(found, query.wait)
        self.answer(200, found)

    def on_connection_close(self) -> None:
        """The caller has gone away."""
        super().on_connection_close()
        if self._subscription is not None:
            self._subscription.close()

    async def _until_ended(self, found: HelpRequest, seconds: int) -> HelpRequest:
        """The request once it has ended, on whichever node, or after so many seconds."""
        give_up_at = asyncio.get_running_loop().time() + seconds
        subscription = self._subscription = await self._subscribe(found.machine_id)
        try:
            # What ended before anybody listened is seen as well.
            found = await self.found(found.id)
            while found.state == "open" and not subscription.is_closed:
                left = give_up_at - asyncio.get_running_loop().time()
                if left <= 0:
                    break
                await subscription.wait(min(left, LOOK_AGAIN_SECONDS))
                subscription.take(MOST_WAITS_OF_A_TOKEN)
                await self.authorize(ONE_HELP)
                found = await self.found(found.id)
        finally:
            subscription.close()
        if found.state == "open" and self.services.operation.leaving:
            raise server_stopping()  # Another node goes on.
        return found

    async def _subscribe(self, machine_id: str) -> Subscription:
        def is_wanted(event: Event) -> bool:
            is_end = event.type in ("help_answered", "help_ended", "reset")
            return is_end and event.machine_id in (machine_id, None)

        try:
            return await self.services.events.subscribe(self.organization_id, None, is_wanted)
        except TooManySubscribersError:
            raise ProblemError(
                problems.TOO_MANY_STREAMS,
                "the organization has as many streams and waits open as it may",
                headers={"Retry-After": "10"},
            ) from None


class AnswerHelpHandler(OneHelpHandler):
    @Endpoint(
        summary="Answer a help request",
        description="Once: a second answer is refused, and says who was first.  The token that "
        "asked, and every other of its user, cannot answer.",
        scope=Scope.HELP_ANSWER,
        for_bound=True,
        path=HelpPath,
        body=NewHelpAnswer,
        answers={200: HelpRequest},
        problems=(problems.NOT_FOUND, problems.WRONG_STATE),
    )
    async def post(self, path: HelpPath, body: NewHelpAnswer) -> None:
        asked = await self.found(path.help_id)
        with refusals(f"help request {asked.id}"):
            answered = await self.services.machines.help.answer(self.principal, asked.id, body)
        said = body.answer if body.comment is None else f"{body.answer}: {body.comment}"
        machine_id = answered.machine_id
        await record(self, "help.answered", asked.id, machine_id=machine_id, note=said[:1000])
        if answered.run_id is not None:
            await self.services.runs.runs.answered(self.organization_id, answered.run_id)
        self.answer(200, answered)


class WithdrawHelpHandler(OneHelpHandler):
    @Endpoint(
        summary="Withdraw a help request",
        description="Only whoever asked can: the same token, or another of its user.  One that "
        "was withdrawn stays as it is.",
        scope=Scope.INPUT_SEND,
        for_bound=True,
        path=HelpPath,
        answers={200: HelpRequest},
        problems=(problems.NOT_FOUND, problems.WRONG_STATE),
    )
    async def post(self, path: HelpPath) -> None:
        asked = await self.found(path.help_id)
        with refusals(f"help request {asked.id}"):
            withdrawn, was_open = await self.services.machines.help.withdraw(
                self.principal, asked.id
            )
        if was_open:
            await record(self, "help.withdrawn", asked.id, machine_id=asked.machine_id)
        self.answer(200, withdrawn)
