"""What a run brings, held against what its steps need."""

from typing import Any

import pytest
from pydantic import ValidationError

from schemas.steps.parameters import Parameter
from schemas.steps.step import Step
from schemas.values.validation_errors import entries_of
from server.runs.values import checked, filled

ORDER = Step(
    operation="keyboard.type",
    body={"text": "No. {{order}}"},
    parameters={"order": Parameter(type="integer", max_length=6)},
)
NOTE = Step(
    operation="keyboard.type",
    body={"text": "{{note}}"},
    parameters={"note": Parameter(max_length=20)},
)
PASSWORD = Step(operation="keyboard.type", body={}, secret="password")
KEYS = Step(operation="keyboard.key", body={"text": "ctrl+a"})
BRACES = Step(operation="keyboard.type", body={"text": "{{order}}"})

GOOD: dict[str, str] = {"order": "4711", "note": "urgent"}
SECRET = {"password": "hunter2"}


def refusals(values: dict[str, str], secrets: dict[str, str], **options: Any) -> list[str]:
    """Where something is wrong, and what; nothing where all is right."""
    try:
        checked([ORDER, KEYS, NOTE, PASSWORD], options.get("schema"), values, secrets)
    except ValidationError as error:
        entries = entries_of(error.errors(), "body")
        assert all(each.input is None for each in entries)
        told = str(error)
        assert "hunter2" not in told
        assert "canary" not in told
        return [f"{'.'.join(each.loc)}: {each.msg}" for each in entries]
    return []


def test_values_are_in_texts_and_nowhere_else() -> None:
    assert refusals(GOOD, SECRET) == []
    assert filled(ORDER, GOOD) == {"text": "No. 4711"}
    assert filled(PASSWORD, SECRET) == {"text": "hunter2"}
    assert filled(KEYS, GOOD) == {"text": "ctrl+a"}
    assert filled(BRACES, GOOD) == {"text": "{{order}}"}
    with pytest.raises(ValueError, match="no value for order"):
        filled(ORDER, {})


@pytest.mark.parametrize(
    ("values", "secrets", "said"),
    [
        ({"note": "a"}, SECRET, "input_values.order: is needed: a step's text has this parameter"),
        (GOOD, {}, "sensitive_input_values.password: is needed: a step types this secret"),
        ({**GOOD, "order": "canary"}, SECRET, "input_values.order: must be an integer, in digits"),
        (
            {**GOOD, "order": "1234567"},
            SECRET,
            "input_values.order: has 7 characters, and may have 6",
        ),
        (
            {**GOOD, "note": "canary\n"},
            SECRET,
            "input_values.note: has a tab or an end of line, which this parameter does not allow",
        ),
        (
            {**GOOD, "note": "canary\x1b"},
            SECRET,
            "input_values.note: has U+001B, a control code, which no key types",
        ),
        (
            GOOD,
            {"password": "canary\t"},
            "sensitive_input_values.password: has a tab or an end of line, which this parameter "
            "does not allow",
        ),
        (GOOD, {"password": ""}, "sensitive_input_values.password: is empty, and is to be typed"),
        (
            {**GOOD, "other": "canary"},
            SECRET,
            "input_values.other: is no parameter of the workflow, and no step has it",
        ),
        (
            {**GOOD, **SECRET},
            {},
            "input_values.password: is a secret: give it in sensitive_input_values",
        ),
        (
            GOOD,
            {**SECRET, "note": "canary"},
            "input_values.note: stands in input_values and in sensitive_input_values: give it once",
        ),
        (
            {**GOOD, "note": ""},
            SECRET,
            "input_values.note: makes a text of step 3 that cannot be: String should have at least "
            "1 character",
        ),
    ],
)
def test_what_is_wrong_is_said_with_its_place_and_without_the_value(
    values: dict[str, str], secrets: dict[str, str], said: str
) -> None:
    assert f"body.{said}" in refusals(values, secrets)


def test_workflow_says_what_its_values_may_be_as_well() -> None:
    schema = {"order": Parameter(max_length=3), "kept": Parameter(control_characters=True)}
    said = refusals({**GOOD, "kept": "a\nb"}, SECRET, schema=schema)
    assert said == ["body.input_values.order: has 4 characters, and may have 3"]
    assert refusals({"order": "471", "note": "a"}, SECRET, schema=schema) == []


def test_secret_value_may_stand_for_a_parameter() -> None:
    assert refusals({"order": "4711"}, {**SECRET, "note": "hidden"}) == []
