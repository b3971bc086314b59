"""Templates: what stands in them for values, and for braces."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from schemas.steps.parameters import (
    Parameter,
    filled,
    literal,
    names_in,
    placed,
    with_parameter,
)

texts = st.text(alphabet="{}ab 4711", max_size=30)
names = st.sampled_from(["order", "a", "_x1"])


def test_value_stands_where_its_name_did() -> None:
    assert filled("Order {{order}}!", {"order": "4711"}) == "Order 4711!"
    assert filled("{{a}}{{b}}{{a}}", {"a": "1", "b": "2"}) == "121"
    assert names_in("{{a}} and {{b}}, {{{{c}}") == {"a", "b"}


@given(text=texts)
def test_any_text_can_be_said_as_it_is(text: str) -> None:
    assert filled(literal(text), {}) == text


@given(before=texts, name=names, after=texts, value=texts)
def test_any_text_can_stand_beside_a_parameter(
    before: str, name: str, after: str, value: str
) -> None:
    template = literal(before) + placed(name) + literal(after)
    assert filled(template, {name: value}) == before + value + after


@given(text=texts, value=st.text(alphabet="{}ab 4711", min_size=1, max_size=4))
def test_what_became_a_parameter_is_the_same_text_with_the_same_value(
    text: str, value: str
) -> None:
    template, times = with_parameter(literal(text), value, "order")
    assert times == text.count(value)
    assert filled(template, {"order": value}) == text


def test_parameter_is_put_beside_those_that_are_there() -> None:
    template, times = with_parameter("{{a}}-4711-{{{{-4711{{a}}", "4711", "order")
    assert (template, times) == ("{{a}}-{{order}}-{{{{-{{order}}{{a}}", 2)


@pytest.mark.parametrize("template", ["{{", "{{or der}}", "{{{{{{", "{{1}}", "a{{order}"])
def test_braces_that_say_nothing_are_refused(template: str) -> None:
    with pytest.raises(ValueError, match="begins no parameter such as"):
        names_in(template)


@pytest.mark.parametrize(
    ("parameter", "value", "why"),
    [
        ({}, "any text, whatever", None),
        ({"max_length": 3}, "4711", "has 4 characters, and may have 3"),
        ({}, "a\nb", "has a tab or an end of line, which this parameter does not allow"),
        ({"control_characters": True}, "a\nb\tc\r\n", None),
        ({"control_characters": True}, "\x1b", "has U+001B, a control code, which no key types"),
        ({"type": "integer"}, "-12", None),
        ({"type": "integer"}, "1.5", "must be an integer, in digits"),
        (
            {"type": "integer"},
            "12\n",
            "has a tab or an end of line, which this parameter does not allow",
        ),
        ({"type": "integer", "control_characters": True}, "12\n", "must be an integer, in digits"),
        ({"type": "number"}, "1.5", None),
        ({"type": "number"}, "1e5", "must be a number, in digits with a point at most"),
    ],
)
def test_value_is_checked_by_its_parameter(
    parameter: dict[str, object], value: str, why: str | None
) -> None:
    assert Parameter.model_validate(parameter).why_refused(value) == why


def test_parameter_takes_its_own_example() -> None:
    with pytest.raises(ValidationError, match="its example must be an integer"):
        Parameter.model_validate({"type": "integer", "example": "x"})
