import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from schemas.inputs.globs import MAX_GLOB_LENGTH, Glob, Pattern, glob_of

GLOB: TypeAdapter[str] = TypeAdapter(Glob)


@pytest.mark.parametrize(
    ("glob", "fitting", "other"),
    [
        ("Save", "Save", "Save as"),
        ("Save*", "Save as", "Do not Save"),
        ("*Save*", "Do not Save it", "save"),
        ("Invoice ?", "Invoice 7", "Invoice 17"),
        ("*", "", None),
        (r"Document \*", "Document *", "Document 1"),
        (r"a\\b\?", r"a\b?", "a\\bc"),
        ("a*b*c", "a1b2b3c", "a1b2b3"),
        ("[ab]", "[ab]", "a"),
    ],
)
def test_pattern_fits_the_whole_text(glob: str, fitting: str, other: str | None) -> None:
    pattern = Pattern(GLOB.validate_python(glob))
    assert pattern.fits(fitting)
    assert other is None or not pattern.fits(other)


@given(st.text("ab*?", min_size=1, max_size=8), st.text("abc", max_size=12))
def test_pattern_means_what_a_regular_expression_means(glob: str, text: str) -> None:
    expression = "".join({"*": ".*", "?": "."}.get(sign, sign) for sign in glob)
    assert Pattern(glob).fits(text) == (re.fullmatch(expression, text) is not None)


def test_hostile_pattern_is_held_against_a_long_text_in_bounded_time() -> None:
    pattern = Pattern(GLOB.validate_python("*a" * (MAX_GLOB_LENGTH // 2 - 1) + "*b"))
    assert not pattern.fits("a" * 10_000)


@given(st.text(max_size=80))
def test_text_fits_the_pattern_of_it(text: str) -> None:
    glob = glob_of(text)
    assert Pattern(glob).fits(text)
    if text:
        GLOB.validate_python(glob)


def test_pattern_of_a_long_text_has_its_beginning() -> None:
    glob = glob_of("*" * 10_000)
    assert len(GLOB.validate_python(glob)) < MAX_GLOB_LENGTH
    assert Pattern(glob).fits("*" * 10_000)
    assert not Pattern(glob).fits("*" * 10)


@pytest.mark.parametrize(
    ("glob", "error"),
    [
        ("", "string_too_short"),
        ("a" * 10_000, "string_too_long"),
        ("a\nb", "control_character"),
        ("a\x00", "control_character"),
        ("a\\", "glob_incomplete"),
        ("\ud800", "value_error"),
    ],
)
def test_pattern_that_is_none_is_refused(glob: str, error: str) -> None:
    with pytest.raises(ValidationError) as raised:
        GLOB.validate_python(glob)
    assert [each["type"] for each in raised.value.errors()] == [error]
