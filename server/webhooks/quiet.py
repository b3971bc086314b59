"""Quiet hours: when they end, in the time zone of whoever sleeps, and what waits for that."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from typing import Any, Final
from uuid import UUID, uuid5
from zoneinfo import ZoneInfo

from schemas.resources.webhooks import QuietHours
from schemas.values.times import format_time
from server.store.webhooks.outbox import DIGEST, StoredDelivery, new_delivery
from server.store.webhooks.webhooks import StoredWebhook
from server.webhooks.delivering import envelope

LAST_MOMENT: Final = timedelta(seconds=30)
"""Before their end nothing is kept for it any more: what is kept may be posted already."""


def quiet_until(quiet: QuietHours, moment: datetime) -> datetime | None:
    """When the quiet hours end that it is now; None where it is none of them."""
    zone = ZoneInfo(quiet.time_zone)
    today = moment.astimezone(zone).date()
    begin, end = time.fromisoformat(quiet.begin), time.fromisoformat(quiet.end)
    for day in (today - timedelta(days=1), today):
        last = day if end > begin else day + timedelta(days=1)
        begins_at = datetime.combine(day, begin, zone).astimezone(UTC)
        ends_at = datetime.combine(last, end, zone).astimezone(UTC)
        if begins_at <= moment < ends_at - LAST_MOMENT:
            return ends_at
    return None


def delivery_of(
    webhook: StoredWebhook,
    event: str,
    moment: datetime,
    data: Mapping[str, Any],
    delivery_id: UUID,
) -> StoredDelivery:
    """What is posted of an event: now, or in the digest at the end of the webhook's quiet hours."""
    quiet = webhook.quiet_hours
    end = quiet and quiet_until(QuietHours.model_validate(quiet), moment)
    if not end:
        body = envelope(event, moment, data)
        return new_delivery(webhook.organization_id, webhook.id, delivery_id, event, body)
    told = {"type": event, "timestamp": format_time(moment), "data": data}
    digest_id = uuid5(webhook.id, format_time(end))
    digest = new_delivery(webhook.organization_id, webhook.id, digest_id, DIGEST, "")
    return replace(digest, events=(told,), events_total=1, queued_at=end, next_attempt_at=end)
