"""Stretches of what somebody did on a machine: of each the audit has one entry for all of it.

The entry is written when a stretch begins, so that who did it is on the disk whatever becomes of
this process, and says then how much was done "so far".  It is said anew as the stretch goes on, and
at its end.
"""

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from itertools import islice
from typing import Final
from uuid import uuid4

from schemas.resources.actions import Action
from server.dispatch.command import Sender
from server.errors import StoreUnavailable
from server.store.audit import AuditedInput, AuditEntry, AuditStore
from server.store.retrying import always, retry
from server.store.times import now
from server.tasks import Tasks

GATHER_SECONDS: Final = 0.2
"""What is to be written waits so long for more."""

AGAIN_SECONDS: Final = 300.0
"""After which a stretch that goes on is said anew: of a killed process's, no more is left out."""

CAPACITY: Final = 10_000
MOST_AT_ONCE: Final = 1000


Became = Callable[[datetime | None], AuditedInput]
"""What became of the inputs of a stretch that ended then, or goes on."""


class Stretch:
    """What somebody does until they rest; ``done`` says in words how much that was.

    Times are this process's own, in seconds.
    """

    def __init__(self, entry: AuditEntry, done: Callable[[], str], became: Became | None) -> None:
        self._entry = entry
        self._done = done
        self._became = became
        self._last_at: datetime = entry.created_at
        self.began = self.last = self.said = time.monotonic()
        self.is_over = False

    def goes_on(self) -> None:
        """More was done."""
        self._last_at, self.last = now(), time.monotonic()

    @property
    def entry(self) -> AuditEntry:
        """The entry about it, as it is now."""
        seconds = (self._last_at - self._entry.created_at).total_seconds()
        so_far = "" if self.is_over else " so far"
        note = f"{self._done()}{so_far}, in {_in_words(max(0, round(seconds)))}"
        became = self._became and self._became(self._last_at if self.is_over else None)
        return replace(self._entry, note=note, input=became)


class StretchRecorder:
    """Writes stretches in the audit, behind the back of whoever does something.

    ``record_inputs`` takes those of inputs, which are written, told and counted with all others.
    """

    def __init__(
        self,
        audit: AuditStore,
        background: Tasks,
        record_inputs: Callable[[AuditEntry], None] | None = None,
    ) -> None:
        self._audit = audit
        self._record_inputs = record_inputs
        self._background = background
        self._waiting: dict[Stretch, None] = {}
        self._writing: asyncio.Task[None] | None = None

    def check_room(self) -> None:
        """Raise StoreUnavailable where no further stretch could be recorded."""
        if len(self._waiting) >= CAPACITY:
            raise StoreUnavailable("The audit has not been written for too long.")

    def begin(
        self,
        sender: Sender,
        machine_id: str,
        action: Action,
        done: Callable[[], str],
        *,
        became: Became | None = None,
    ) -> Stretch:
        """The stretch that begins with what was just done.

        Of inputs ``became`` says what became of them all: they are recorded as one input.
        """
        entry = AuditEntry(
            id=uuid4().bytes,
            organization_id=sender.organization_id,
            created_at=now(),
            action=action,
            token_id=sender.token_id,
            token_name=sender.token_name,
            target=machine_id,
            machine_id=machine_id,
            request_id=sender.request_id,
        )
        stretch = Stretch(entry, done, became)
        self._say(stretch)
        return stretch

    def go_on(self, stretch: Stretch) -> None:
        """More was done in a stretch."""
        stretch.goes_on()
        if stretch.last - stretch.said >= AGAIN_SECONDS:
            self._say(stretch)

    def end(self, stretch: Stretch) -> None:
        """Nothing more will be done in a stretch."""
        stretch.is_over = True
        self._say(stretch)

    def _say(self, stretch: Stretch) -> None:
        stretch.said = time.monotonic()
        if self._record_inputs and (entry := stretch.entry).input is not None:
            self._record_inputs(entry)
            return
        self._waiting[stretch] = None
        if self._writing is None or self._writing.done():
            self._writing = self._background.start_and_report(
                self._write_all(), "record stretches in the audit"
            )

    async def _write_all(self) -> None:
        while self._waiting:
            await asyncio.sleep(GATHER_SECONDS)
            await self._write_some()

    async def _write_some(self) -> None:
        some = tuple(islice(self._waiting, MOST_AT_ONCE))
        for stretch in some:
            # One that ends while it is written waits again.
            del self._waiting[stretch]
        entries = [stretch.entry for stretch in some]
        await retry(lambda: self._audit.put_stretches(entries), is_worthwhile=always)


def counted(count: int, one: str, many: str) -> str:
    """So many of something, in words; nothing where there is none."""
    return f"{count} {one if count == 1 else many}" if count else ""


def _in_words(seconds: int) -> str:
    if seconds >= 60:
        return f"{seconds // 60} min {seconds % 60} s"
    return counted(seconds, "second", "seconds") or "less than a second"
