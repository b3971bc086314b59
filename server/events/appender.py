"""Appends what waits in an outbox to the log, each batch at exactly the next number.

Of several nodes that append at once one is first.  The others learn what it told and try again at
the number after; whoever was first rests for a moment, so that it is soon the turn of each.  How
often a node tries is not bounded, since there is nothing better to do; what waits meanwhile is,
and becomes a reset where it is too much.

What is told last of a machine was read after its last change, on whichever node: the content is
read when this node knows all that was told before, and again where another node has told of the
same machine until it is appended.  So it was read after everything that was told before it.
"""

import asyncio
import logging
import secrets
import time
from collections.abc import Callable, Sequence
from typing import Final

from server.errors import AlreadyExists, StoreError, StoreUnavailable
from server.events.event import rendered
from server.events.outbox import Entry
from server.events.shared_channel import SharedChannel
from server.store.event_log import EventLog, LoggedEvent
from server.store.retrying import LONGEST_DELAY, always, retry

logger = logging.getLogger(__name__)

REST_SECONDS: Final = 0.02
"""After a batch: others have their turn, and more gathers."""

UNSEEN_SECONDS: Final = 0.005
"""Until another look for what is in the log and not held by a majority yet."""

TRIM_SECONDS: Final = 30.0
"""Between two trimmings of the log of one organization by one node that appends to it."""

Batch = Sequence[LoggedEvent]


class Appender:
    """Empties outboxes; ``notify`` is told of every batch that was appended."""

    def __init__(self, log: EventLog, notify: Callable[[SharedChannel, int, Batch], None]) -> None:
        self._log = log
        self._notify = notify

    async def append_all(self, channel: SharedChannel) -> None:
        """Append until nothing waits, however long the database is away."""
        is_away = False
        while channel.outbox:
            try:
                await self._append_some(channel)
                await self._trim(channel)
                is_away = False
            except StoreError as error:
                if not is_away:
                    logger.warning("events are told later: %s", error)
                is_away = True
            await asyncio.sleep(LONGEST_DELAY if is_away else REST_SECONDS)

    async def _append_some(self, channel: SharedChannel) -> None:
        is_appended = False
        while not is_appended:
            if not channel.is_fresh:
                await channel.catch_up()
            entries = channel.outbox.begin()
            while outdated := [entry for entry in entries if channel.is_outdated(entry)]:
                await self._read(channel, outdated)
                entries = channel.outbox.begin()
            # From here to the insert nothing is awaited: all of it is true at this number.
            events = [entry.made for entry in entries if entry.made is not None]
            is_appended = not events or await self._append(channel, channel.newest + 1, events)
        channel.outbox.end()

    async def _read(self, channel: SharedChannel, entries: Sequence[Entry]) -> None:
        after = channel.newest
        made = await asyncio.gather(*(_made(entry) for entry in entries), return_exceptions=True)
        for entry, each in zip(entries, made, strict=True):
            if isinstance(each, LoggedEvent):
                entry.made, entry.made_after = each, after
            elif isinstance(each, Exception) and not isinstance(each, StoreUnavailable):
                # The others' changes are to be told all the same.
                logger.error(
                    "machine=%s a change could not be told", entry.machine_id, exc_info=each
                )
                channel.outbox.drop(entry)
        for each in made:
            if isinstance(each, StoreUnavailable):
                raise each

    async def _append(self, channel: SharedChannel, number: int, events: Batch) -> bool:
        """Append at this number; False where another node was faster."""
        organization_id, attempt, since = channel.organization_id, secrets.token_bytes(12), 0.0

        async def insert() -> None:
            nonlocal since
            since = time.time()
            await self._log.append(organization_id, number, attempt, events)

        try:
            # The same one again and again: any of the tries may have been carried out.
            await retry(insert, is_worthwhile=always)
        except AlreadyExists:
            if await self._standing(channel, number) != attempt:
                await retry(channel.catch_up, is_worthwhile=always)
                return False
        if await self._is_in_place(channel, number):
            channel.appended(since, number, events)
            self._notify(channel, number, events)
        else:
            logger.warning("events were appended too late to be heard: a reset is told")
            channel.outbox.lose()
            await retry(channel.catch_up, is_worthwhile=always)
        return True

    async def _standing(self, channel: SharedChannel, number: int) -> bytes:
        """Whose attempt the batch of this number is."""
        while True:
            found = await retry(
                lambda: self._log.since(channel.organization_id, number - 1), is_worthwhile=always
            )
            if found:
                return found[0].attempt if found[0].number == number else b""
            await asyncio.sleep(UNSEEN_SECONDS)

    async def _is_in_place(self, channel: SharedChannel, number: int) -> bool:
        """Whether this number, where a batch was just inserted, had not been used before.

        It may have been, and deleted again, where this node was away for minutes meanwhile; then
        the end of the log is far from there.
        """
        if channel.is_fresh:
            return True
        newest = await retry(
            lambda: self._log.newest(channel.organization_id), is_worthwhile=always
        )
        return newest - number < (channel.history.maxlen or 0)

    async def _trim(self, channel: SharedChannel) -> None:
        if time.monotonic() - channel.trimmed_at >= TRIM_SECONDS:
            channel.trimmed_at = time.monotonic()
            kept = channel.history.maxlen or 0
            await self._log.trim(channel.organization_id, channel.newest + 1 - kept)


async def _made(entry: Entry) -> LoggedEvent:
    if entry.read is None:
        raise ValueError("there is nothing to read")
    kind, content = await entry.read()
    return LoggedEvent(kind, entry.machine_id, rendered(content))
