"""Lengths of time as people type them."""

from datetime import UTC, datetime, timedelta

import click
import pytest

from schemas.values.times import parse_time
from server.cli.durations import Duration, time_from_now


@pytest.mark.parametrize(
    ("typed", "length"),
    [
        ("90s", timedelta(seconds=90)),
        ("45m", timedelta(minutes=45)),
        ("12h", timedelta(hours=12)),
        ("30d", timedelta(days=30)),
        ("2w", timedelta(weeks=2)),
    ],
)
def test_length_is_a_number_and_a_unit(typed: str, length: timedelta) -> None:
    assert Duration().convert(typed, None, None) == length


@pytest.mark.parametrize("typed", ["", "30", "d", "-1d", "1.5h", "1y", "1d2h", "999999999w"])
def test_what_is_no_length_is_used_wrongly(typed: str) -> None:
    with pytest.raises(click.UsageError):
        Duration().convert(typed, None, None)


def test_end_is_counted_from_now() -> None:
    end = parse_time(time_from_now(timedelta(hours=1), "--for") or "")
    assert timedelta(minutes=59) < end - datetime.now(UTC) <= timedelta(hours=1)
    assert time_from_now(None, "--for") is None
    with pytest.raises(click.UsageError, match="--for: that is beyond the year 9999"):
        time_from_now(timedelta(days=999_999_9), "--for")
