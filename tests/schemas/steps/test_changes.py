"""Changes of a step: what is named, and nothing else."""

from typing import Any

import pytest
from pydantic import ValidationError

from schemas.steps.changes import ChangedStep, changed_step

PICTURE = "a" * 64
TYPE = {"operation": "keyboard.type", "body": {"text": "Order 4711 {{"}, "after_ms": 20}
MADE = {
    "operation": "keyboard.type",
    "body": {"text": "Order {{order}} {{{{"},
    "after_ms": 20,
    "parameters": {"order": {"example": "4711"}},
}


def changed(step: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return changed_step(step, ChangedStep.model_validate(fields))


def parameter(**fields: Any) -> dict[str, Any]:
    return {"name": "order", "text": "4711", **fields}


def test_what_is_named_changes_and_null_takes_it_away() -> None:
    named = changed(TYPE, name="Type it", expect={"any": [{"still": 1.0}]})
    assert named == {**TYPE, "name": "Type it", "expect": {"any": [{"still": 1.0}]}}
    assert changed(named, name=None, expect=None, target=None) == TYPE
    assert changed(TYPE, body={"text": "x"}) == {**TYPE, "body": {"text": "x"}}


def test_part_of_the_text_becomes_a_parameter() -> None:
    assert changed(TYPE, parameter=parameter()) == MADE
    said = changed(TYPE, parameter=parameter(type="integer", example="7", max_length=9))
    assert said["parameters"] == {"order": {"type": "integer", "example": "7", "max_length": 9}}
    both = changed(MADE, parameter={"name": "what", "text": "Order"})
    assert both["body"] == {"text": "{{what}} {{order}} {{{{"}
    assert both["parameters"] == {"order": {"example": "4711"}, "what": {"example": "Order"}}


def test_parameters_are_taken_away_with_a_text_of_its_own() -> None:
    assert changed(MADE, parameters=None, body=TYPE["body"]) == TYPE


def test_secret_takes_the_text_and_what_shows_it() -> None:
    step = {**MADE, "picture": PICTURE, "picture_after": PICTURE}
    secret = changed(step, secret="password")
    assert secret == {
        "operation": "keyboard.type",
        "body": {},
        "after_ms": 20,
        "picture": PICTURE,
        "picture_after": None,
        "secret": "password",
    }
    shown = changed(secret, secret=None, body={"text": "x"})
    assert ("secret" in shown, shown["body"]) == (False, {"text": "x"})


@pytest.mark.parametrize(
    ("step", "fields", "where", "words"),
    [
        (TYPE, {"parameter": parameter(text="12")}, ("parameter", "text"), "does not stand in"),
        (TYPE, {"parameter": parameter(type="number", text="Order", example="x")},
         ("parameter",), "its example must be a number"),
        (TYPE, {"parameter": parameter(text="Order", type="number")},
         ("parameters", "order"), "its example must be a number"),
        ({"operation": "keyboard.key", "body": {"text": "a"}}, {"parameter": parameter()},
         ("parameter", "name"), "no text that is typed"),
        ({"operation": "mouse.click", "body": {}}, {"secret": "s"}, (), "only the text of"),
        (TYPE, {"body": {"text": "\x1b"}}, ("body", "text"), "a control code"),
        (TYPE, {"parameters": {"n": {}}}, (), "begins no parameter"),
        ({**TYPE, "secret": "s", "body": {}}, {"secret": None}, ("body", "text"), "required"),
    ],
)  # fmt: skip
def test_step_that_could_not_run_is_refused(
    step: dict[str, Any], fields: dict[str, Any], where: tuple[str, ...], words: str
) -> None:
    with pytest.raises(ValidationError, match=words) as caught:
        changed(step, **fields)
    assert caught.value.errors()[0]["loc"] == where


def test_what_belongs_to_the_recording_is_not_changed() -> None:
    for name in ("operation", "by", "command_id", "picture"):
        with pytest.raises(ValidationError, match="extra_forbidden"):
            ChangedStep.model_validate({name: None})
