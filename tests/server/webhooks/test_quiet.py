"""When quiet hours end, and what is kept for then."""

from datetime import datetime
from typing import Any

import pytest

from schemas.resources.webhooks import QuietHours
from schemas.values.times import parse_time
from server.webhooks.quiet import quiet_until

NIGHT = QuietHours(begin="22:00", end="06:00", time_zone="Europe/Berlin")


def end_at(quiet: QuietHours, text: str) -> datetime | None:
    return quiet_until(quiet, parse_time(text))


@pytest.mark.parametrize(
    ("moment", "end"),
    [
        ("2026-06-01T19:59Z", None),
        ("2026-06-01T20:00Z", "2026-06-02T04:00Z"),
        ("2026-06-02T03:59Z", "2026-06-02T04:00Z"),
        ("2026-06-02T04:00Z", None),
        # In winter, and in the two nights in which clocks are changed.
        ("2026-12-01T21:00Z", "2026-12-02T05:00Z"),
        ("2026-03-28T21:00Z", "2026-03-29T04:00Z"),
        ("2026-10-24T20:00Z", "2026-10-25T05:00Z"),
    ],
)
def test_night_ends_in_its_time_zone(moment: str, end: str | None) -> None:
    assert end_at(NIGHT, moment) == (None if end is None else parse_time(end))


def test_hours_of_one_day_and_all_day() -> None:
    noon = QuietHours(begin="12:00", end="13:00", time_zone="UTC")
    assert end_at(noon, "2026-06-01T12:30Z") == parse_time("2026-06-01T13:00Z")
    assert end_at(noon, "2026-06-01T13:30Z") is None
    always: Any = QuietHours(begin="00:00", end="00:00", time_zone="UTC")
    assert end_at(always, "2026-06-01T12:30Z") == parse_time("2026-06-02T00:00Z")
