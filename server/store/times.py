"""Points in time as the store keeps them."""

from datetime import UTC, datetime


def now() -> datetime:
    """The time in UTC, cut to the milliseconds that the store keeps."""
    time = datetime.now(UTC)
    return time.replace(microsecond=time.microsecond // 1000 * 1000)
