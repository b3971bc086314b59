"""What a machine says of its screen's elements is bounded, whatever programs call themselves."""

from typing import Any

import pytest
from pydantic import ValidationError

from schemas.inputs.outcomes import Point
from schemas.link.element_messages import (
    MAX_DEPTH,
    MAX_ELEMENTS,
    MAX_ELEMENTS_BYTES,
    MAX_NAME,
    MAX_SILENT,
    ElementsQuery,
    ElementsSeen,
)
from schemas.link.messages import MAX_MESSAGE_BYTES

ELEMENT = {
    "role": "push button",
    "name": "Save",
    "states": [],
    "bounds": [1, 2, 3, 4],
    "window": "",
    "application": "",
    "depth": 0,
    "ref": "r",
}


@pytest.mark.parametrize(
    "wrong",
    [
        {"elements": [{**ELEMENT, "name": "n" * (MAX_NAME + 1)}]},
        {"elements": [{**ELEMENT, "ref": "r" * 300}]},
        {"elements": [{**ELEMENT, "depth": MAX_DEPTH + 1}]},
        {"elements": [ELEMENT] * (MAX_ELEMENTS + 1)},
        {"silent": ["a program"] * (MAX_SILENT + 1)},
        {"truncated": "laziness"},
    ],
)
def test_answer_is_bounded(wrong: dict[str, Any]) -> None:
    answer = {"request": 1, "elements": [ELEMENT], "truncated": None, "silent": []}
    ElementsSeen.model_validate(answer)
    with pytest.raises(ValidationError):
        ElementsSeen.model_validate({**answer, **wrong})


def test_answer_fits_into_a_message_with_room_for_the_rest() -> None:
    assert MAX_ELEMENTS_BYTES + MAX_SILENT * 2000 <= MAX_MESSAGE_BYTES


@pytest.mark.parametrize("wrong", [{"limit": 0}, {"limit": MAX_ELEMENTS + 1}, {"depth": -1}])
def test_question_is_bounded(wrong: dict[str, Any]) -> None:
    asked = ElementsQuery(request=1, at=Point(x=1, y=2), limit=5, server_time=1)
    with pytest.raises(ValidationError):
        ElementsQuery.model_validate({**asked.model_dump(), **wrong})
