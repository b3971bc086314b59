from datetime import UTC, datetime, timedelta

from server.store.times import now


def test_now_is_utc_in_whole_milliseconds() -> None:
    time = now()
    assert time.tzinfo is UTC
    assert time.microsecond % 1000 == 0
    assert timedelta(0) <= datetime.now(UTC) - time < timedelta(minutes=1)
