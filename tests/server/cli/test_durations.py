"""Lengths of time as people type them."""

from datetime import UTC, datetime, timedelta

import click
import pytest

from schemas.values.times import parse_time
from server.cli.durations import Duration, Moment, time_from_now


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


def test_moment_is_so_long_ago_or_a_time() -> None:
    ago = datetime.now(UTC) - parse_time(Moment().convert("2h", None, None))
    assert timedelta(hours=2) <= ago < timedelta(hours=2, minutes=1)
    for typed, meant in (
        ("2026-11-21", "2026-11-21T00:00:00.000Z"),
        ("2026-11-21T09:30+02:00", "2026-11-21T07:30:00.000Z"),
    ):
        assert Moment().convert(typed, None, None) == meant


@pytest.mark.parametrize("typed", ["", "h", "-2h", "2 h", "yesterday", "1700000000", "2026-13-01"])
def test_what_is_no_moment_is_used_wrongly(typed: str) -> None:
    with pytest.raises(click.UsageError):
        Moment().convert(typed, None, None)
    with pytest.raises(click.UsageError, match="before the year 1"):
        Moment().convert("999999d", None, None)
