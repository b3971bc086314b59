from typing import Any

import pytest
from pydantic import ValidationError

from schemas.inputs.globs import MAX_GLOB_LENGTH
from schemas.inputs.selectors import Selector


@pytest.mark.parametrize(
    "selector",
    [
        {"role": "push button", "name": "Save", "window": "Invoice*"},
        {"name": "*"},
        {"text": "Total (3)"},
        {"ref": ":1.7/org/a11y/atspi/accessible/4~ab12"},
        {"role": "entry", "value": "4711", "application": "soffice"},
        {"name": "n" * MAX_GLOB_LENGTH},
    ],
)
def test_selector_is_kept_as_it_was_said(selector: dict[str, Any]) -> None:
    assert Selector.model_validate(selector).model_dump(mode="json") == selector


@pytest.mark.parametrize(
    ("selector", "where", "error"),
    [
        ({}, (), "selector_empty"),
        ({"window": "Invoice*"}, (), "selector_empty"),
        ({"role": None, "name": None}, (), "selector_empty"),
        ({"role": "knob"}, ("role",), "role_unknown"),
        ({"role": 43}, ("role",), "literal_error"),
        ({"name": "n" * 10_000}, ("name",), "string_too_long"),
        ({"name": "a\tb"}, ("name",), "control_character"),
        ({"text": "n" * 1_000_000}, ("text",), "string_too_long"),
        ({"text": ""}, ("text",), "string_too_short"),
        ({"ref": "a b"}, ("ref",), "string_pattern_mismatch"),
        ({"ref": "a" * 300}, ("ref",), "string_too_long"),
        ({"name": "a", "nth": 2}, ("nth",), "extra_forbidden"),
    ],
)
def test_selector_that_says_nothing_is_refused(
    selector: dict[str, Any], where: tuple[str, ...], error: str
) -> None:
    with pytest.raises(ValidationError) as raised:
        Selector.model_validate(selector)
    assert [(each["loc"], each["type"]) for each in raised.value.errors()] == [(where, error)]
