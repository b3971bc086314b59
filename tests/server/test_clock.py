from datetime import UTC, datetime, timedelta, timezone

from server.clock import iso_time, milliseconds, server_time


def test_times_have_milliseconds_and_z() -> None:
    assert iso_time(0) == "1970-01-01T00:00:00.000Z"
    assert iso_time(1_700_000_000_050) == "2023-11-14T22:13:20.050Z"


def test_milliseconds_are_those_of_utc() -> None:
    time = datetime(2023, 11, 15, 0, 13, 20, 50_000, timezone(timedelta(hours=2)))
    assert milliseconds(time) == 1_700_000_000_050
    assert milliseconds(time.astimezone(UTC)) == 1_700_000_000_050


def test_now_is_now() -> None:
    before = datetime.now(UTC) - timedelta(milliseconds=1)
    now = datetime.fromtimestamp(server_time() / 1000, UTC)
    assert before <= now <= datetime.now(UTC)
