"""Points in time as text."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from schemas.values.times import Time, format_time, parse_time, whole_milliseconds

TIME: TypeAdapter[datetime] = TypeAdapter(Time)
MOMENT = datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024-05-06T07:08:09Z", MOMENT),
        ("2024-05-06t07:08:09z", MOMENT),
        ("2024-05-06T07:08:09", MOMENT),
        ("2024-05-06 07:08:09", MOMENT),
        ("2024-05-06T09:08:09+02:00", MOMENT),
        ("2024-05-06T09:08:09 02:00", MOMENT),
        ("2024-05-06 09:08:09 0200", MOMENT),
        ("2024-05-06T06:08:09-01", MOMENT),
        ("20240506T070809Z", MOMENT),
        ("2024-W19-1T07:08:09Z", MOMENT),
        ("2024-05-06T07:08:09.1", MOMENT.replace(microsecond=100_000)),
        ("2024-05-06T07:08:09,123456789Z", MOMENT.replace(microsecond=123_456)),
        ("2024-05-06T07:08", MOMENT.replace(second=0)),
        ("2024-05-06", MOMENT.replace(hour=0, minute=0, second=0)),
        ("9999-12-31T23:59:59.999999Z", datetime.max.replace(tzinfo=UTC)),
        ("0001-01-01T00:00:00Z", datetime.min.replace(tzinfo=UTC)),
    ],
)
def test_iso_8601_is_understood(text: str, expected: datetime) -> None:
    parsed = parse_time(text)
    assert parsed == expected
    assert parsed.tzinfo is UTC


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1714979289",
        "1714979289.5",
        "-1",
        "20240506",
        "now",
        "2024-13-01",
        "2024-02-30T00:00:00Z",
        "2024-05-06T24:00:00Z",
        "2024-05-06T07:08:60Z",
        "2024-05-06T07:08:09+24:00",
        "2024-05-06T07:08:09+02:60",
        "2024-05-06T07",
        "2024-05-06T",
        "2024-05-06T07:08:09Z ",
        "2024-05-06T07:08:09 UTC",
        "2024-05-06T07:08:09.Z",
        "0001-01-01T00:00:00+01:00",
        "9999-12-31T23:59:59-01:00",
        "\u0662\u0660\u0662\u0664-05-06T07:08:09Z",
        "02024-05-06T07:08:09Z",
    ],
)
def test_anything_else_is_refused_in_words(text: str) -> None:
    with pytest.raises(ValueError, match=r"^must "):
        parse_time(text)
    with pytest.raises(ValidationError) as caught:
        TIME.validate_python(text)
    (entry,) = caught.value.errors()
    assert entry["type"] == "datetime_parsing"


def test_a_number_is_no_time() -> None:
    for value in (1714979289, 1714979289.5, True, None):
        with pytest.raises(ValidationError):
            TIME.validate_python(value)


def test_answers_have_three_digits_and_z() -> None:
    assert format_time(MOMENT) == "2024-05-06T07:08:09.000Z"
    elsewhere = MOMENT.replace(microsecond=12_999).astimezone(timezone(timedelta(hours=-5)))
    assert format_time(elsewhere) == "2024-05-06T07:08:09.012Z"
    assert format_time(datetime(1, 1, 1, tzinfo=UTC)) == "0001-01-01T00:00:00.000Z"


@given(st.datetimes(timezones=st.just(UTC)).map(whole_milliseconds))
def test_what_is_answered_reads_back(time: datetime) -> None:
    assert parse_time(format_time(time)) == time


def test_digits_beyond_the_microsecond_round_as_asked() -> None:
    text = "2024-05-06T07:08:09.0000000001"
    assert parse_time(text) == MOMENT
    assert parse_time(text, round_up=True) == MOMENT + timedelta(microseconds=1)
    assert parse_time("2024-05-06T07:08:09.0000000", round_up=True) == MOMENT


def test_milliseconds_round_as_asked() -> None:
    finer = MOMENT + timedelta(microseconds=1)
    assert whole_milliseconds(finer) == MOMENT
    assert whole_milliseconds(finer, round_up=True) == MOMENT + timedelta(milliseconds=1)
    assert whole_milliseconds(MOMENT, round_up=True) == MOMENT
    last = datetime.max.replace(tzinfo=UTC)
    assert whole_milliseconds(last, round_up=True) == last.replace(microsecond=999_000)
