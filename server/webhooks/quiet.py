"""Quiet hours: when they end, in the time zone of whoever sleeps."""

from datetime import UTC, datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from schemas.resources.webhooks import QuietHours

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
