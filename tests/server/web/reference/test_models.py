"""What schemas say in words, and the smallest values of them."""

from typing import Any

import pytest

from server.web.reference.models import Field, Models, Word

MODELS = Models(
    {
        "Point": {
            "type": "object",
            "properties": {
                "x": {"type": "integer", "description": "From the left.", "minimum": 3},
                "label": {"type": "string"},
                "at": {"$ref": "#/components/schemas/Place"},
            },
            "required": ["x"],
        },
        "Place": {"type": "object", "properties": {"id": {"type": "string", "format": "uuid"}}},
        "Button": {"type": "string", "enum": ["left", "right"]},
    }
)
POINT = {"$ref": "#/components/schemas/Point"}
BUTTON = {"$ref": "#/components/schemas/Button"}


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({}, "any value"),
        ({"type": "boolean"}, "boolean"),
        ({"type": "string", "format": "date-time"}, "date-time"),
        ({"const": "completed"}, '"completed"'),
        ({"enum": ["a", 1]}, '"a", 1'),
        (BUTTON, '"left", "right"'),
        ({**BUTTON, "default": "left"}, '"left", "right", default "left"'),
        ({"type": "integer", "default": None}, "integer"),
        ({"type": "integer", "default": 0}, "integer, default 0"),
        ({"type": "integer", "minimum": 1, "maximum": 3}, "integer 1 to 3"),
        ({"type": "integer", "minimum": 0}, "integer from 0"),
        ({"type": "integer", "maximum": 3}, "integer up to 3"),
        ({"type": "number", "exclusiveMinimum": 0}, "number above 0"),
        ({"type": "number", "exclusiveMinimum": 0, "maximum": 30}, "number above 0, up to 30"),
        ({"type": "string", "minLength": 1, "maxLength": 9}, "string 1 to 9 characters"),
        ({"type": "string", "maxLength": 9}, "string up to 9 characters"),
        ({"type": "array", "items": {"type": "string"}}, "array of string"),
        ({"type": "array"}, "array of any value"),
        (
            {"type": "array", "items": POINT, "minItems": 1, "maxItems": 4},
            "array 1 to 4 entries of Point",
        ),
        ({"anyOf": [POINT, {"type": "null"}]}, "Point or null"),
    ],
)
def test_type_in_words(schema: dict[str, Any], words: str) -> None:
    assert "".join(word.text for word in MODELS.in_words(schema)) == words


def test_model_with_members_is_led_to_wherever_it_is_named() -> None:
    schema = {"anyOf": [{"type": "array", "items": POINT}, BUTTON]}
    led_to = [word for word in MODELS.in_words(schema) if word.is_model]
    assert led_to == [Word("Point", is_model=True)]


def test_fields_are_the_members_of_an_object() -> None:
    assert MODELS.fields_of(POINT)[0] == Field(
        "x", (Word("integer from 3"),), "From the left.", True
    )
    assert [field.is_required for field in MODELS.fields_of(POINT)] == [True, False, False]
    assert MODELS.fields_of({}) == ()


def test_models_that_a_part_refers_to_are_found_wherever_in_it() -> None:
    part = {"200": {"content": [{"schema": {"anyOf": [POINT, BUTTON]}}]}, "204": {}}
    assert MODELS.referred_to(part) == {"Point"}
    assert MODELS.referred_to(MODELS.schemas) == {"Place"}


@pytest.mark.parametrize(
    ("schema", "example"),
    [
        ({"type": "string"}, "text"),
        ({"type": "string", "format": "uuid"}, "00000000-0000-4000-8000-000000000000"),
        ({"type": "boolean"}, True),
        ({"type": "boolean", "default": False}, False),
        ({"type": "integer"}, 1),
        ({"type": "integer", "minimum": 0}, 1),
        ({"type": "integer", "minimum": 5}, 5),
        ({"type": "object"}, {}),
        ({"type": "null"}, None),
        ({"type": "array", "items": POINT}, []),
        ({"type": "array", "items": POINT, "minItems": 1}, [{"x": 3}]),
        ({"anyOf": [BUTTON, {"type": "null"}]}, "left"),
        (POINT, {"x": 3}),
    ],
)
def test_example_is_the_smallest_value(schema: dict[str, Any], example: object) -> None:
    assert MODELS.example(schema) == example
