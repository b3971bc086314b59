from typing import Any

import pytest
from pydantic import ValidationError

from schemas.inputs.hand import Batch, HandCloseCode

GOOD: list[dict[str, Any]] = [
    {"type": "move", "x": -1, "y": 5},
    {"type": "button", "button": "middle", "down": True},
    {"type": "button", "button": "left", "down": False, "x": 1, "y": 2},
    {"type": "button", "button": "forward", "down": True},
    {"type": "wheel", "direction": "left"},
    {"type": "wheel", "direction": "up", "amount": 100, "x": 1, "y": 2},
    {"type": "key", "key": "ctrl", "down": True},
    {"type": "key", "key": "+", "down": True},
    {"type": "key", "key": "space", "down": False},
    {"type": "key", "key": "ж", "down": True},
    {"type": "text", "text": "漢字\n"},
]

BAD: list[dict[str, Any]] = [
    {"type": "move", "x": 1},
    {"type": "move", "x": 1, "y": 2.0},
    {"type": "button", "button": "fourth", "down": True},
    {"type": "button", "button": "left", "down": 1},
    {"type": "button", "button": "left"},
    {"type": "button", "button": "left", "down": True, "x": 1},
    {"type": "wheel", "direction": "up", "amount": 0},
    {"type": "wheel", "direction": "up", "amount": 101},
    {"type": "key", "key": "", "down": True},
    {"type": "key", "key": "nothing", "down": True},
    {"type": "key", "key": "a b", "down": True},
    {"type": "key", "key": "ctrl+c", "down": True},
    {"type": "key", "key": "a", "down": True, "code": "KeyA"},
    {"type": "text", "text": ""},
    {"type": "text", "text": "\x1b"},
    {"type": "text", "text": "x" * 1001},
]


def test_every_kind_of_event_is_understood() -> None:
    batch = Batch.model_validate({"sequence": 1, "events": GOOD})
    assert [event.type for event in batch.events] == [event["type"] for event in GOOD]
    assert Batch.model_validate({"sequence": 2, "events": []}).events == []


@pytest.mark.parametrize("event", BAD)
def test_what_is_not_understood_whole_is_an_error(event: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Batch.model_validate({"sequence": 1, "events": [event]})


@pytest.mark.parametrize("sequence", [0, -1, 2**53, True, "1", 1.0, None])
def test_sequence_is_a_number_that_every_program_can_count(sequence: Any) -> None:
    with pytest.raises(ValidationError):
        Batch.model_validate({"sequence": sequence, "events": []})


def test_codes_say_whether_to_come_back() -> None:
    back = {code for code in HandCloseCode if code < 4500}
    assert {code.name for code in back} == {"SERVER_STOPPING", "SERVER_ERROR", "SILENT"}
    assert all(4000 <= code <= 4999 for code in HandCloseCode)
