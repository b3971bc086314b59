from typing import Any

import pytest
from pydantic import ValidationError

from schemas.inputs.waits import Changed, ElementSeen, Still, Wait

SAVED = {"element": {"role": "label", "name": "Saved"}}


def test_condition_is_told_by_what_it_waits_for() -> None:
    wait = Wait.model_validate(
        {"any": [{"still": 0.5}, {"changed": True}, SAVED, {**SAVED, "gone": True}]}
    )
    assert [type(each) for each in wait.any] == [Still, Changed, ElementSeen, ElementSeen]
    assert Wait.model_validate(wait.model_dump()) == wait
    assert Wait.model_validate_json(wait.model_dump_json()) == wait


@pytest.mark.parametrize(
    ("condition", "error"),
    [
        ({"gone": True}, "condition_unknown"),
        ({"element": {}}, "selector_empty"),
        ({**SAVED, "gone": 1}, "bool_type"),
        ({**SAVED, "region": {"x": 0, "y": 0, "width": 1, "height": 1}}, "extra_forbidden"),
    ],
)
def test_condition_that_is_none_is_refused(condition: dict[str, Any], error: str) -> None:
    with pytest.raises(ValidationError) as raised:
        Wait.model_validate({"any": [condition]})
    assert [each["type"] for each in raised.value.errors()] == [error]
