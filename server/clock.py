"""This server's clock: milliseconds since 1970, as messages, commands and answers have them."""

import time
from datetime import UTC, datetime
from functools import lru_cache

from schemas.values.times import format_time


def server_time() -> int:
    """Milliseconds since 1970 by this server's clock."""
    return time.time_ns() // 1_000_000


def seconds_until(moment: int) -> float:
    """How long it is until a moment in milliseconds since 1970; less than 0 where it has passed."""
    return (moment - server_time()) / 1000


def milliseconds(time: datetime) -> int:
    """A time as milliseconds since 1970."""
    return round(time.astimezone(UTC).timestamp() * 1000)


def from_milliseconds(milliseconds: int) -> datetime:
    """Milliseconds since 1970 as a time in UTC."""
    return datetime.fromtimestamp(milliseconds / 1000, UTC)


def iso_time(milliseconds: int) -> str:
    """Milliseconds since 1970 as ISO 8601."""
    seconds, rest = divmod(milliseconds, 1000)
    return f"{_whole_second(seconds)}.{rest:03d}Z"


@lru_cache(maxsize=16)
def _whole_second(seconds: int) -> str:
    """All answers of one second begin their times alike."""
    return format_time(datetime.fromtimestamp(seconds, UTC)).removesuffix(".000Z")
