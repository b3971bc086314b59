"""Delivers what is in the outbox: any node takes what is due, and tries it once."""

import asyncio
import json
import logging
import random
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from schemas.values.times import format_time
from server.errors import StoreUnavailable
from server.store.times import now
from server.store.webhooks.outbox import DIGEST, Outbox, OutboxSize, StoredDelivery
from server.store.webhooks.webhooks import StoredWebhook, WebhookStore
from server.tasks import Tasks
from server.webhooks.posting import Posted, Poster
from server.webhooks.signatures import signed_headers

logger = logging.getLogger(__name__)

TRIED_FOR: Final = timedelta(days=3)
PAUSES: Final = (5, 30, 120, 600, 1800, 3600, 7200, 14_400, 28_800, 43_200)
"""Seconds after each failed try; the last again and again."""

AT_ONCE: Final = 64
"""Tries of one node at the same time."""

AT_ONCE_TO_ONE: Final = 4
"""To one webhook; to one whose last try failed, one."""

SIZE_SECONDS: Final = 15.0
"""Between two counts of the outbox, for metrics: to count 100,000 takes a tenth of a second."""

LOOK_SECONDS: Final = 1.0
"""After how long to look again: another node may have stored something, and died."""


def envelope(event: str, moment: datetime, data: Mapping[str, Any]) -> str:
    """The body of a delivery."""
    return json.dumps({"type": event, "timestamp": format_time(moment), "data": data})


class Delivering:
    """Tries what is due, for ever; ``failed`` and ``delivered`` count the tries of this node."""

    def __init__(
        self, outbox: Outbox, webhooks: WebhookStore, poster: Poster, background: Tasks
    ) -> None:
        self._outbox = outbox
        self._webhooks = webhooks
        self._poster = poster
        self._background = background
        self._under_way: Counter[UUID] = Counter()
        self._failing: set[UUID] = set()
        self._woken = asyncio.Event()
        self.delivered = 0
        self.failed = 0
        self.dropped = 0
        self.size = OutboxSize()

    async def add(self, delivery: StoredDelivery) -> None:
        """Have something delivered: from its return on it is, whoever dies."""
        self._note_dropped(delivery.organization_id, await self._outbox.add(delivery))
        self.look_soon()

    async def make_room(self, organization_id: UUID) -> None:
        """As ``add``, for what was stored together with something else."""
        self._note_dropped(organization_id, await self._outbox.make_room(organization_id))
        self.look_soon()

    def _note_dropped(self, organization_id: UUID, dropped: int) -> None:
        if dropped:
            self.dropped += dropped
            words = "webhooks: %d deliveries of organization %s were dropped unsent: too many wait"
            logger.warning(words, dropped, organization_id)

    @property
    def oldest_seconds(self) -> float:
        """How long the oldest that waits has waited; 0 where none does."""
        oldest = self.size.oldest
        return 0.0 if oldest is None else max((now() - oldest).total_seconds(), 0.0)

    def look_soon(self) -> None:
        """Something may be due."""
        self._woken.set()

    async def run(self) -> None:
        """Try whatever is due, for ever."""
        counted_at = time.monotonic() - SIZE_SECONDS
        while True:
            self._woken.clear()
            try:
                await self._start_what_is_due()
                if time.monotonic() - counted_at >= SIZE_SECONDS:
                    counted_at = time.monotonic()
                    self.size = await self._outbox.size()
            except StoreUnavailable as error:
                logger.warning("webhooks: nothing is delivered: %s", error)
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_SECONDS):
                    await self._woken.wait()

    async def _start_what_is_due(self) -> None:
        due = await self._outbox.first_due()
        self._failing &= due.keys()
        for webhook_id in sorted(due, key=lambda each: due[each]):
            if due[webhook_id] > now():
                return
            room = 1 if webhook_id in self._failing else AT_ONCE_TO_ONE
            while self._under_way[webhook_id] < room and self._under_way.total() < AT_ONCE:
                claimed = await self._outbox.claim(webhook_id)
                if claimed is None:
                    break
                self._under_way[webhook_id] += 1
                self._background.start_and_report(self._try(claimed), "post to a webhook")

    async def _try(self, claimed: StoredDelivery) -> None:
        try:
            with suppress(StoreUnavailable):  # It is due again, when its lease is over.
                await self._post(claimed)
        finally:
            self._under_way[claimed.webhook_id] -= 1
            if not self._under_way[claimed.webhook_id]:
                del self._under_way[claimed.webhook_id]
            self.look_soon()

    async def _post(self, claimed: StoredDelivery) -> None:
        webhook = await self._webhooks.find(claimed.webhook_id)
        if webhook is None:
            await self._outbox.forget([claimed])
            return
        moment, body = now(), _digest(claimed) if claimed.events else claimed.body
        headers = signed_headers(_secrets(webhook, moment), str(claimed.id), moment, body)
        headers |= {"content-type": "application/json", "user-agent": "Farhand"}
        posted = await self._poster.post(webhook.url, headers, body.encode())
        await self._note(claimed, posted)

    async def _note(self, claimed: StoredDelivery, posted: Posted) -> None:
        again_at = None
        if posted.error is None:
            self.delivered += 1
            self._failing.discard(claimed.webhook_id)
        else:
            self.failed += 1
            self._failing.add(claimed.webhook_id)
            again_at = next_try(claimed.attempts, claimed.queued_at)
        await self._outbox.note(claimed, posted.status, posted.error, again_at=again_at)


def _digest(claimed: StoredDelivery) -> str:
    data = {"total": claimed.events_total, "events": claimed.events}
    return envelope(DIGEST, claimed.created_at, data)


def next_try(attempts: int, queued_at: datetime) -> datetime | None:
    """When to try again after so many tries; None once that would be after three days."""
    seconds = PAUSES[min(attempts, len(PAUSES)) - 1] * random.uniform(0.9, 1.1)  # noqa: S311
    again_at = now() + timedelta(seconds=seconds)
    return again_at if again_at <= queued_at + TRIED_FOR else None


def _secrets(webhook: StoredWebhook, moment: datetime) -> list[str]:
    secrets = [webhook.secret]
    if webhook.earlier_secret is not None and (webhook.earlier_until or moment) > moment:
        secrets.append(webhook.earlier_secret)
    return secrets
