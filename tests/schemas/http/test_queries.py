"""What a query parameter may be."""

from typing import Annotated

import pytest
from pydantic import Field, ValidationError

from schemas.http.queries import (
    IntegerText,
    NullableBool,
    NullableSearch,
    NullableUuid,
    PageQuery,
    Query,
    QueryBool,
    QueryUuid,
)


class Example(Query):
    flag: NullableBool = True
    own: NullableUuid = None
    search: NullableSearch = None
    needed: QueryBool = False
    number: Annotated[int, Field(ge=-5, le=5), IntegerText] = 0
    always: QueryUuid | None = None


def error_type(model: type[Query], **parameters: str) -> str:
    with pytest.raises(ValidationError) as caught:
        model.model_validate(parameters)
    (entry,) = caught.value.errors()
    return entry["type"]


def test_null_and_nothing_mean_null() -> None:
    for text in ("null", ""):
        example = Example.model_validate({"flag": text, "own": text, "search": text})
        assert (example.flag, example.own, example.search) == (None, None, None)
    assert Example.model_validate({}).flag is True


def test_null_is_no_value_of_what_cannot_be_null() -> None:
    assert error_type(PageQuery, skip="null") == "int_parsing"
    assert error_type(PageQuery, limit="") == "int_parsing"
    assert error_type(Example, needed="null") == "bool_parsing"


def test_booleans_are_true_and_false() -> None:
    assert Example.model_validate({"flag": "true"}).flag is True
    assert Example.model_validate({"flag": "false"}).flag is False
    for text in ("True", "1", "0", "yes", "on", "t", " true", "NULL", "None"):
        assert error_type(Example, flag=text) == "bool_parsing"


def test_integers_are_decimal_digits() -> None:
    assert Example.model_validate({"number": "-3"}).number == -3
    for text in ("+1", "1.0", "1e0", "0x1", "1_0", " 1", "1 ", "\u0661", "-", "--1", "true"):
        assert error_type(Example, number=text) == "int_parsing"
    assert error_type(Example, number="9" * 5000) == "int_parsing_size"
    assert error_type(Example, number="6") == "less_than_equal"


def test_page_is_bounded() -> None:
    page = PageQuery.model_validate({"skip": str(2**63 - 1), "limit": "1000"})
    assert (page.skip, page.limit) == (2**63 - 1, 1000)
    assert (PageQuery().skip, PageQuery().limit) == (0, 100)
    assert error_type(PageQuery, skip=str(2**63)) == "less_than_equal"
    assert error_type(PageQuery, skip="-1") == "greater_than_equal"
    assert error_type(PageQuery, limit="0") == "greater_than_equal"
    assert error_type(PageQuery, limit="1001") == "less_than_equal"


def test_unknown_parameter_is_refused() -> None:
    assert error_type(PageQuery, page="1") == "extra_forbidden"


def test_uuid_is_refused_in_words() -> None:
    for text in ("x", "123", "g" * 32, "00000000-0000-0000-0000-00000000000"):
        assert error_type(Example, own=text) == "uuid_parsing"


def test_search_is_text_of_bounded_length() -> None:
    assert Example.model_validate({"search": " a "}).search == " a "
    assert error_type(Example, search="\ud800") == "value_error"
    assert error_type(Example, search="x" * 2001).endswith("too_long")


def test_schema_says_the_bounds() -> None:
    limit = PageQuery.model_json_schema()["properties"]["limit"]
    assert (limit["type"], limit["minimum"], limit["maximum"]) == ("integer", 1, 1000)
