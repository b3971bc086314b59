"""What happens in the organization, as server-sent events, for as long as a client reads them."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final

from tornado.iostream import StreamClosedError

from schemas.http import problems
from schemas.http.problems import ProblemError
from schemas.resources.events import (
    MAX_EVENT_ID_CHARACTERS,
    UNASKED,
    EventHeaders,
    EventQuery,
    EventType,
    MachineRemoved,
    Reset,
)
from schemas.resources.tokens import Scope
from server.api.machines.asking import AskingHandler
from server.errors import StoreUnavailable
from server.events.event import Event, Subscription
from server.events.hub import TooManySubscribersError
from server.web.closing import close_connection
from server.web.endpoint import Endpoint

HEARTBEAT_SECONDS = 15.0
STALL_SECONDS = 15.0
"""How long a subscriber may take nothing at all."""

RETRY_MILLISECONDS = 1000
EVENTS_PER_WRITE = 100

OF_SCOPES: Final[Mapping[EventType, Scope]] = {"audit": Scope.AUDIT_READ, "run": Scope.RUNS_READ}
"""What is told to tokens alone that may read it as well."""

OF_NO_MACHINE = ("trajectory", "reset")
"""What a token that is bound to pools hears as any other, where it is no machine's."""

EVENTS_ENDPOINT = Endpoint(
    summary="Listen to events",
    description="Server-sent events: machine (its data is the machine), machine_removed, "
    "machine_released (what a killed machine client had left pressed was released), "
    "control_requested (somebody asks whoever has control to give it back), help_requested, "
    "help_answered and help_ended (its data is the help request), run (the run, to tokens with "
    "runs:read), command (an input "
    "that ended, or whose outcome is pending; or work by hand), trajectory, audit (an entry of the "
    "audit that is not told as a command; only where types names it), and reset, which means that "
    "some events are not known any more: read everything again.  Listen first, then read, so that "
    "nothing is missed between.  A comment comes every 15 s; whoever reads too slowly is dropped, "
    "and may come back with Last-Event-ID.",
    scope=Scope.MACHINES_READ,
    for_bound=True,
    query=EventQuery,
    headers=EventHeaders,
    answers={200: None},
    media_type="text/event-stream",
    problems=(problems.NOT_FOUND, problems.TOO_MANY_STREAMS),
    endless=True,
)


class EventsHandler(AskingHandler):
    """One subscriber's stream."""

    _subscription: Subscription | None = None
    _known: set[str] | None = None
    """The machines that a token which is bound to pools was told of; None is all there are."""

    @EVENTS_ENDPOINT
    async def get(self, query: EventQuery, headers: EventHeaders) -> None:
        """Subscribe, and write until either side ends it."""
        for kind, scope in OF_SCOPES.items():
            if kind in (query.types or ()):
                self.principal.require(scope)
        if query.machine_id is not None:
            await self._check_machine(query.machine_id)
        subscription = self._subscription = await self._subscribe(query, headers.last_event_id)
        self._known = await self.services.machines.reach.machines(self.principal)
        if self._known is not None and headers.last_event_id is not None:
            # Nobody knows which machines have left its pools meanwhile.
            subscription.must_reset = True
        try:
            self.set_header("Content-Type", "text/event-stream")
            # A reverse proxy would keep events until it has a page of them.
            self.set_header("X-Accel-Buffering", "no")
            if self.request.method == "HEAD":
                await self.finish_after_headers()
                return
            # The reader has gone: there is nobody to write to.
            with suppress(StreamClosedError):
                await self._stream(subscription)
        finally:
            subscription.close()

    def on_connection_close(self) -> None:
        """The reader has gone away."""
        super().on_connection_close()
        if self._subscription is not None:
            self._subscription.close()

    async def _check_machine(self, machine_id: str) -> None:
        await self.services.machines.fleet.check(self.organization_id, machine_id)
        await self.services.machines.reach.check(self.principal, machine_id)

    async def _subscribe(self, query: EventQuery, last_event_id: str | None) -> Subscription:
        may_read = self.principal.scopes
        withheld = {each for each, scope in OF_SCOPES.items() if scope not in may_read}
        types = UNASKED - withheld if query.types is None else query.types

        def is_wanted(event: Event) -> bool:
            return event.type == "reset" or (
                event.type in types
                and (query.machine_id is None or event.machine_id == query.machine_id)
            )

        if last_event_id is not None:
            last_event_id = last_event_id[: MAX_EVENT_ID_CHARACTERS + 1]
        try:
            return await self.services.events.subscribe(
                self.organization_id, last_event_id, is_wanted
            )
        except TooManySubscribersError:
            raise ProblemError(
                problems.TOO_MANY_STREAMS,
                "the organization has as many event streams open as it may",
                headers={"Retry-After": "10"},
            ) from None

    async def _stream(self, subscription: Subscription) -> None:
        self.write(f"retry: {RETRY_MILLISECONDS}\n")
        if subscription.must_reset:
            reset = Reset(reason="what happened since then is not known any more")
            self.write(f"event: reset\ndata: {reset.model_dump_json()}\n")
        last_id = subscription.id_of(subscription.last_number)
        self.write(f"id: {last_id}\n\n")
        end_comment = await self._flushed()
        heartbeat_at = time.monotonic() + HEARTBEAT_SECONDS
        while end_comment is None:
            await subscription.wait(self.services.settings.token_check)
            events = subscription.take(EVENTS_PER_WRITE)
            try:
                written = await self._write_events(subscription, events)
            except StoreUnavailable:
                end_comment = "the database does not answer; come back with Last-Event-ID"
                break
            if written:
                last_id = subscription.id_of(events[-1].number)
            elif time.monotonic() >= heartbeat_at:
                self.write(": nothing new\n\n")
                if (moved_id := subscription.id_of(subscription.last_number)) != last_id:
                    # What was not wanted here has moved on; an id alone is no event.
                    last_id = moved_id
                    self.write(f"id: {last_id}\n\n")
            else:
                end_comment = await self._end_reason()
                continue
            heartbeat_at = time.monotonic() + HEARTBEAT_SECONDS
            end_comment = await self._flushed()
        if end_comment:
            await self.finish(f": {end_comment}\n\n")
        if self.services.operation.leaving:
            # On this connection its reader would come back here.
            close_connection(self.request)

    async def _write_events(self, subscription: Subscription, events: Sequence[Event]) -> bool:
        """Write those that the token may hear; whether there were any."""
        told = [event.machine_id for event in events if event.machine_id is not None]
        if self._known is None or not events:
            reached = None
        else:
            reached = await self.services.machines.reach.machines(self.principal, told)
        written = False
        for event in events:
            if reached is None:
                self._write_event(subscription, event)
            elif event.machine_id in reached or _is_of_no_machine(event):
                self._know(event.machine_id)
                self._write_event(subscription, event)
            elif event.type in ("machine", "machine_removed") and self._forgets(event.machine_id):
                self._write_removed(subscription, event)
            else:
                continue
            written = True
        return written

    def _know(self, machine_id: str | None) -> None:
        if self._known is not None and machine_id is not None:
            self._known.add(machine_id)

    def _forgets(self, machine_id: str | None) -> bool:
        """Whether a machine that was told of is gone for the token."""
        if self._known is None or machine_id not in self._known:
            return False
        self._known.discard(machine_id)
        return True

    def _write_removed(self, subscription: Subscription, event: Event) -> None:
        """A machine that has left the token's pools is gone for it."""
        removed = MachineRemoved(id=event.machine_id or "").model_dump_json()
        self.write(f"id: {subscription.id_of(event.number)}\nevent: machine_removed\n")
        self.write(f"data: {removed}\n\n")

    def _write_event(self, subscription: Subscription, event: Event) -> None:
        self.write(f"id: {subscription.id_of(event.number)}\nevent: {event.type}\ndata: ")
        self.write(event.data)
        self.write(b"\n\n")

    async def _flushed(self) -> str | None:
        """Send what was written; None to go on, else the comment that ends the stream.

        It is empty where the reader takes nothing any more, so that none would arrive:
        then the connection is cut.
        """
        flushing = self.flush()
        stalled_at = time.monotonic() + STALL_SECONDS
        while True:
            done, _ = await asyncio.wait((flushing,), timeout=self.services.settings.token_check)
            reason = await self._end_reason()
            if done:
                return reason
            if reason is not None or time.monotonic() >= stalled_at:
                close_connection(self.request)
                return ""

    async def _end_reason(self) -> str | None:
        """Why the stream ends now, for a person; None where it does not."""
        subscription = self._subscription
        if subscription is None or subscription.is_dropped:
            return "dropped: you read too slowly; come back with Last-Event-ID"
        if self.services.operation.leaving:
            return "the server is stopping; come back with Last-Event-ID"
        if subscription.is_closed:
            return "the end"
        try:
            await self.authorize(EVENTS_ENDPOINT)
        except ProblemError as problem:
            return problem.detail
        except StoreUnavailable:
            return None  # Nobody can revoke anything now either; the next look tells.
        return None


def _is_of_no_machine(event: Event) -> bool:
    return event.machine_id is None and event.type in OF_NO_MACHINE
