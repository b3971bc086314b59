"""Pauses of machines that end by themselves."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID, uuid4

from schemas.http.problems import InvalidRequestError
from schemas.values.times import format_time
from server.dispatch.dispatcher import Dispatcher
from server.dispatch.questions.control import PauseChanged
from server.errors import StoreUnavailable
from server.store.audit import AuditEntry, AuditStore
from server.store.machines.pauses import EndingPause, PauseStore
from server.store.retrying import always, retry
from server.store.times import now

LONGEST_PAUSE: Final = timedelta(days=30)

POLL_SECONDS: Final = 5.0
"""After how long to look again at the latest: another node may have begun a pause, and died."""

AGAIN_SECONDS: Final = 1.0
"""The same where the database does not answer."""


class Pauses:
    """Ends those that are over; every node looks, and one of them ends each.

    ``changed`` is told of every machine that is not paused any more.
    """

    def __init__(
        self,
        pauses: PauseStore,
        audit: AuditStore,
        dispatcher: Dispatcher,
        changed: Callable[[UUID, str], None],
    ) -> None:
        self._pauses = pauses
        self._audit = audit
        self._dispatcher = dispatcher
        self._changed = changed
        self._woken = asyncio.Event()

    def look_soon(self) -> None:
        """There is a pause that may end before all others."""
        self._woken.set()

    async def run(self) -> None:
        """End what is over, for ever."""
        while True:
            self._woken.clear()
            seconds = await self._end_what_is_over()
            with suppress(TimeoutError):
                async with asyncio.timeout(min(seconds, POLL_SECONDS)):
                    await self._woken.wait()

    async def _end_what_is_over(self) -> float:
        """End the pauses that are over; in how many seconds the next will be."""
        try:
            while (first := await self._pauses.first_to_end()) is not None:
                if first.seconds_left > 0:
                    return first.seconds_left
                if await self._pauses.end_if_over(first.organization_id, first.machine_id):
                    await self._tell_end(first)
        except StoreUnavailable:
            return AGAIN_SECONDS
        return POLL_SECONDS

    async def _tell_end(self, ended: EndingPause) -> None:
        """Have the machine take inputs again; a link that cannot be told finds out by itself."""
        key = ended.organization_id, ended.machine_id
        self._changed(*key)
        with suppress(StoreUnavailable):
            await self._dispatcher.ask(PauseChanged(organization_id=key[0], machine_id=key[1]))
        # After that, as a machine must not stay paused for want of an entry.
        entry = _entry(ended)
        await retry(lambda: self._audit.add(entry), is_worthwhile=always)


def check_end(until: datetime | None) -> None:
    """Raise a validation error for the end of a pause that is past, or too far off."""
    if until is None:
        return
    moment = datetime.now(UTC)
    if until <= moment:
        raise InvalidRequestError.single(
            ("body", "pause_until"), "must lie in the future", "future_time"
        )
    if until > moment + LONGEST_PAUSE:
        raise InvalidRequestError.single(
            ("body", "pause_until"),
            f"must be within {LONGEST_PAUSE.days} days from now; without an end, a pause lasts "
            "until somebody resumes the machine",
            "pause_too_long",
            format_time(until),
        )


def _entry(ended: EndingPause) -> AuditEntry:
    return AuditEntry(
        id=uuid4().bytes,
        organization_id=ended.organization_id,
        created_at=now(),
        action="machine.pause_ended",
        token_id=None,
        token_name=ended.details.by,
        target=ended.machine_id,
        machine_id=ended.machine_id,
        request_id="",
    )
