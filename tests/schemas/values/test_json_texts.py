"""JSON values kept as text."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from schemas.values.json_texts import Dimensions, JsonObject, JsonObjects


class Body(BaseModel):
    steps: JsonObjects | None = None
    values: JsonObject | None = None
    dimensions: Dimensions | None = None


def errors(text: str) -> list[tuple[tuple[int | str, ...], str]]:
    with pytest.raises(ValidationError) as caught:
        Body.model_validate_json(text)
    for entry in caught.value.errors():
        for name in ("JsonObject", "Dimensions", "_Size", "dictionary"):
            assert name not in entry["msg"]
    return [(entry["loc"], entry["type"]) for entry in caught.value.errors()]


@pytest.mark.parametrize(
    "text",
    [
        '{"b":1,"a":2}',
        '{"$set":{"a.b":null,"\\u0000":""}}',
        '{"n":[1,1.0,true,-0.0,1e300,123456789012345678901234567890]}',
        '{"text":"é\\n\\"🙂"}',
        "{}",
    ],
)
def test_text_has_the_same_value_in_the_same_order(text: str) -> None:
    body = Body.model_validate_json(f'{{"values":{text},"steps":[{text},{text}]}}')
    assert body.values is not None
    assert body.steps is not None
    assert json.dumps(body.values.value) == json.dumps(json.loads(text))
    assert json.dumps(body.steps.value) == json.dumps([json.loads(text)] * 2)
    assert body.steps.count == 2


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_double_comes_back(number: float) -> None:
    body = Body.model_validate_json(json.dumps({"values": {"n": number}}))
    assert body.values is not None
    assert repr(body.values.value["n"]) == repr(number)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e400", "-1e400"])
def test_number_that_no_double_holds_is_refused(number: str) -> None:
    assert errors(f'{{"values":{{"a":[{number}]}}}}') == [(("values",), "json_value")]
    assert errors(f'{{"steps":[{{}},{{"a":{number}}}]}}') == [(("steps",), "json_value")]
    inside = f'{{"dimensions":{{"width":1,"height":1,"dpi":{number}}}}}'
    assert errors(inside) == [(("dimensions",), "json_value")]


def test_a_million_wrong_steps_are_one_error() -> None:
    assert errors('{"steps":[' + ",".join(["1"] * 1_000_000) + "]}") == [
        (("steps", 0), "dict_type")
    ]


@pytest.mark.parametrize("value", ["[]", "1", '"a"', "true"])
def test_what_is_no_object_is_refused(value: str) -> None:
    assert errors(f'{{"values":{value}}}') == [(("values",), "dict_type")]
    assert errors(f'{{"dimensions":{value}}}') == [(("dimensions",), "dict_type")]


def test_dimensions_keep_what_else_they_have() -> None:
    text = '{"scale":1.0,"height":2,"width":1,"$x":{}}'
    body = Body.model_validate_json(f'{{"dimensions":{text}}}')
    assert body.dimensions == Dimensions(text.encode())


@pytest.mark.parametrize("bad", ["0", "-1", "1.0", "true", '"1"', "null", str(2**31)])
def test_dimensions_need_whole_pixels(bad: str) -> None:
    (error,) = errors(f'{{"dimensions":{{"width":{bad},"height":1}}}}')
    assert error[0] == ("dimensions", "width")


def test_dimensions_need_both_sides() -> None:
    assert errors('{"dimensions":{"width":1}}') == [(("dimensions", "height"), "missing")]


def test_schema_says_what_is_taken() -> None:
    properties = Body.model_json_schema()["properties"]
    assert properties["values"]["anyOf"][0] == {"additionalProperties": True, "type": "object"}
    assert properties["steps"]["anyOf"][0]["items"]["type"] == "object"
    assert properties["dimensions"]["anyOf"][0]["required"] == ["width", "height"]
    assert Body.model_validate({"values": {"a": 1}}).model_dump()["values"] == {"a": 1}
