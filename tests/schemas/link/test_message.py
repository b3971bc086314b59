"""What all messages have in common: nothing unknown is an error, and nothing changes."""

import pytest
from pydantic import ValidationError

from schemas.link.message import Message


class Said(Message):
    number: float


def test_unknown_fields_are_ignored_and_known_ones_checked() -> None:
    assert Said.model_validate({"number": 1, "mood": "fine"}) == Said(number=1)
    with pytest.raises(ValidationError):
        Said(number=float("nan"))
    with pytest.raises(ValidationError):
        Said(number=1).number = 2  # type: ignore[misc]
