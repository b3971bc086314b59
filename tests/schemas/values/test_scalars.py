from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from schemas.values.scalars import Int32, Name, StrictBool, Text

INTEGER, BOOLEAN = TypeAdapter(Int32), TypeAdapter(StrictBool)
TEXT, NAME = TypeAdapter(Text), TypeAdapter(Name)


@pytest.mark.parametrize("value", [0, -(2**31), 2**31 - 1])
def test_integer_of_32_bits_is_taken(value: int) -> None:
    assert INTEGER.validate_python(value) == value


@pytest.mark.parametrize("value", [2**31, -(2**31) - 1, True, 1.0, "1", None])
def test_anything_else_is_no_integer(value: Any) -> None:
    with pytest.raises(ValidationError):
        INTEGER.validate_python(value)


@pytest.mark.parametrize("value", [0, 1, "true", None])
def test_what_resembles_a_boolean_is_none(value: Any) -> None:
    with pytest.raises(ValidationError):
        BOOLEAN.validate_python(value)


def test_lone_surrogate_is_no_text() -> None:
    for adapter in (TEXT, NAME):
        with pytest.raises(ValidationError, match="lone surrogates"):
            adapter.validate_python("a\ud800")


def test_name_counts_characters_and_says_so() -> None:
    assert NAME.validate_python("\U0001f600" * 255)
    for value in ("", "\U0001f600" * 256):
        with pytest.raises(ValidationError, match="character"):
            NAME.validate_python(value)
