"""Lengths of time, and moments, as people type them, such as 30d."""

import re
from datetime import UTC, datetime, timedelta

import click

from schemas.values.times import format_time, parse_time

UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


class Duration(click.ParamType[timedelta]):
    """A length of time such as 30d, 12h, 45m or 90s."""

    name = "duration"

    def convert(
        self, value: str, param: click.Parameter | None, ctx: click.Context | None
    ) -> timedelta:
        """Read it, or fail with a usage error."""
        found = re.fullmatch(r"([0-9]{1,9})([smhdw])", value)
        if found is None:
            self.fail("must be a number and s, m, h, d or w, such as 30d", param, ctx)
        try:
            return timedelta(**{UNITS[found[2]]: int(found[1])})
        except OverflowError:
            self.fail("is beyond the year 9999", param, ctx)


class Moment(click.ParamType[str]):
    """A time as requests have it: such as 2h, which is so long ago, or any in ISO 8601."""

    name = "time"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Read it, or fail with a usage error."""
        try:
            if value[-1:] in UNITS:
                return format_time(datetime.now(UTC) - Duration().convert(value, param, ctx))
            return format_time(parse_time(value))
        except OverflowError:
            self.fail("is before the year 1", param, ctx)
        except ValueError as error:
            self.fail(f"{error}; or how long ago, such as 2h", param, ctx)


def time_from_now(duration: timedelta | None, option: str) -> str | None:
    """When it will be over, as requests have it; ``option`` is what it was given with."""
    if duration is None:
        return None
    try:
        return format_time(datetime.now(UTC) + duration)
    except OverflowError:
        raise click.UsageError(f"{option}: that is beyond the year 9999") from None
