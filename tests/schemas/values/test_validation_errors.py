import json
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from schemas.http.problems import (
    InvalidRequestError,
    ValidationErrorBody,
)
from schemas.values.validation_errors import (
    MAX_ECHO_CHARACTERS,
    MAX_ENTRIES,
    entries_of,
    sentence,
)


class Example(BaseModel):
    """What the tests get wrong."""

    number: int
    names: list[str] = []
    anything: dict[str, int] = {}


def entries(**fields: Any) -> list[Any]:
    with pytest.raises(ValidationError) as caught:
        Example.model_validate({"number": 1, **fields})
    return entries_of(caught.value.errors(include_url=False), "body")


def test_places_are_strings_with_their_part_in_front() -> None:
    (entry,) = entries(names=["a", 2])
    assert entry.loc == ["body", "names", "1"]
    assert entry.input == 2
    assert entry.type == "string_type"


def test_only_so_many_entries_go_back() -> None:
    assert len(entries(names=[1] * 100)) == MAX_ENTRIES


@pytest.mark.parametrize(
    "value",
    [
        "x" * 5000,
        ["x"] * 5000,
        {str(number): 1 for number in range(5000)},
        {"deep": ["x" * 5000]},
        "\ud800",
        float("inf"),
        float("nan"),
        10**2000,
        b"\xff",
        object(),
    ],
)
def test_whatever_was_wrong_can_be_told_back_in_short(value: Any) -> None:
    (entry,) = entries_of([{"loc": ("x",), "msg": "wrong", "type": "t", "input": value}])
    body = ValidationErrorBody(detail=[entry]).model_dump_json()
    json.loads(body, parse_constant=pytest.fail)
    assert len(body) < MAX_ECHO_CHARACTERS + 500


def test_small_values_are_told_back_as_they_were() -> None:
    for value in (None, True, 7, 1.5, "text", ["a", 1], {"a": [None]}):
        (entry,) = entries_of([{"loc": (), "msg": "wrong", "type": "t", "input": value}])
        assert entry.input == value


def test_context_holds_facts_and_no_exceptions() -> None:
    error = {
        "loc": ("x",),
        "msg": "Value error, must be even",
        "type": "value_error",
        "input": 3,
        "ctx": {"error": ValueError("must be even"), "le": 4, "class_name": "Inside"},
    }
    (entry,) = entries_of([error])
    assert entry.msg == "must be even"
    assert entry.ctx == {"error": "must be even", "le": 4}


def test_sentence_says_where_and_what() -> None:
    invalid = InvalidRequestError.single(("query", "limit"), "too large", "less_than", 7)
    assert str(invalid) == sentence(invalid.entries[0]) == "query.limit: too large"
    assert str(InvalidRequestError.single((), "all wrong")) == "all wrong"
