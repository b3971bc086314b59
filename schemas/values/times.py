"""Points in time as text: ISO 8601 in, ISO 8601 with ``Z`` and milliseconds out."""

import re
from datetime import UTC, date, datetime, timedelta, timezone
from datetime import time as time_of_day
from typing import Annotated, Any

from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema
from pydantic_core import PydanticCustomError

_TIME_OF_DAY = re.compile(
    r"(?P<hour>\d\d):?(?P<minute>\d\d)(?::?(?P<second>\d\d)(?:[.,](?P<fraction>\d+))?)?"
    r"(?P<zone>[Zz]|[+\- ]\d\d(?::?\d\d)?)?",
    re.ASCII,
)
_DATE = re.compile(r"\d{4}-?\d\d-?\d\d|\d{4}-?W\d\d-?\d", re.ASCII)
_NO_TIME = "must be an ISO 8601 time, such as 2024-05-06T07:08:09Z"
_DIGITS = re.compile(r"[+-]?[0-9.]+", re.ASCII)


def format_time(time: datetime) -> str:
    """``2024-05-06T07:08:09.012Z``: UTC, always exactly three digits of a second."""
    utc = time.astimezone(UTC).isoformat(timespec="milliseconds")
    return utc.removesuffix("+00:00") + "Z"


def parse_time(text: str, *, round_up: bool = False) -> datetime:
    """Read an ISO 8601 time; UTC where it names no zone, midnight where it names no hour.

    A space in place of the zone's sign is a ``+`` that a URL's decoding took away.  What is finer
    than a microsecond is cut off, or rounded up.  Raises ValueError with a sentence; also for a
    bare number, which could be seconds or milliseconds of any epoch.
    """
    if _DIGITS.fullmatch(text):
        raise ValueError(f"{_NO_TIME}, not a number")
    day_text, separator, clock_text = _split(text)
    clock = _TIME_OF_DAY.fullmatch(clock_text) if separator else None
    if not _DATE.fullmatch(day_text) or (separator and clock is None):
        raise ValueError(_NO_TIME)
    zone = _zone(clock["zone"] if clock else None)
    digits = (clock["fraction"] if clock else None) or ""
    try:
        time = datetime.combine(date.fromisoformat(day_text), _time_of_day(clock), zone)
        time = time.astimezone(UTC)
        if round_up and digits[6:].strip("0"):
            time += timedelta(microseconds=1)
    except OverflowError:
        raise ValueError("must be a time between the years 1 and 9999 of UTC") from None
    except ValueError:
        # Such as the 30th of February.
        raise ValueError(_NO_TIME) from None
    return time


def _time_of_day(clock: re.Match[str] | None) -> time_of_day:
    if clock is None:
        return time_of_day()
    hour, minute, second = (int(clock[name] or 0) for name in ("hour", "minute", "second"))
    return time_of_day(hour, minute, second, int((clock["fraction"] or "")[:6].ljust(6, "0")))


def whole_milliseconds(time: datetime, *, round_up: bool = False) -> datetime:
    """The time cut to milliseconds, or rounded up to them (at the end of all time, cut)."""
    beyond = time.microsecond % 1000
    cut = time - timedelta(microseconds=beyond)
    if not (round_up and beyond):
        return cut
    try:
        return cut + timedelta(milliseconds=1)
    except OverflowError:
        return cut


def _split(text: str) -> tuple[str, str, str]:
    for separator in ("T", "t", " "):
        day, found, clock = text.partition(separator)
        if found:
            return day, found, clock
    return text, "", ""


def _zone(text: str | None) -> timezone:
    if text is None or text in "Zz":
        return UTC
    digits = text[1:].replace(":", "").ljust(4, "0")
    hours, minutes = int(digits[:2]), int(digits[2:])
    if hours > 23 or minutes > 59:
        raise ValueError("must have a zone between -23:59 and +23:59")
    offset = timedelta(hours=hours, minutes=minutes)
    return timezone(-offset if text[0] == "-" else offset)


def _from_json(value: Any, *, round_up: bool = False) -> datetime:
    if isinstance(value, datetime):
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    if not isinstance(value, str):
        raise PydanticCustomError("datetime_type", "must be text in ISO 8601")
    try:
        return parse_time(value, round_up=round_up)
    except ValueError as error:
        raise PydanticCustomError("datetime_parsing", "{error}", {"error": str(error)}) from None


def _from_json_up(value: Any) -> datetime:
    return _from_json(value, round_up=True)


_AS_TEXT = PlainSerializer(format_time, return_type=str)
_SCHEMA = WithJsonSchema({"type": "string", "format": "date-time"})

Time = Annotated[datetime, BeforeValidator(_from_json), _AS_TEXT, _SCHEMA]
"""A point in time, UTC in Python and ISO 8601 text in JSON."""

TimeRoundedUp = Annotated[datetime, BeforeValidator(_from_json_up), _AS_TEXT, _SCHEMA]
"""A ``Time`` for the beginning of a range: digits beyond the microsecond round it up."""
