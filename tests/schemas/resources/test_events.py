"""Which events can be asked for."""

import pytest
from pydantic import ValidationError

from schemas.resources.events import EventQuery


def test_everything_is_wanted_unless_told() -> None:
    assert EventQuery.model_validate({}) == EventQuery(machine_id=None, types=None)
    assert EventQuery.model_validate({"types": "null", "machine_id": ""}).types is None


def test_types_are_a_list_with_commas() -> None:
    wanted = EventQuery.model_validate({"types": "machine,machine_removed"}).types
    assert sorted(wanted or ()) == ["machine", "machine_removed"]


@pytest.mark.parametrize("text", ["reset", "machine,", "machines", "machine, command"])
def test_unknown_type_says_which_there_are(text: str) -> None:
    names = "machine, machine_removed, machine_released, control_requested, command, trajectory"
    with pytest.raises(ValidationError, match=names):
        EventQuery.model_validate({"types": text})
