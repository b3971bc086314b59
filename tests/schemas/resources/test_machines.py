from typing import Any

import pytest
from pydantic import ValidationError

from schemas.resources.machines import MachineChange, NewMachine


@pytest.mark.parametrize("machine_id", ["d", "Desk-1", "7.b_c-d", "d" * 128])
def test_machine_id_may_be(machine_id: str) -> None:
    assert NewMachine(id=machine_id).id == machine_id


@pytest.mark.parametrize(
    "machine_id", ["", ".", "-d", "_d", "a b", "a/b", "dä", "d\n", "d" * 129, 7]
)
def test_machine_id_may_not_be(machine_id: Any) -> None:
    with pytest.raises(ValidationError):
        NewMachine(id=machine_id)


def test_everything_may_be_left_out() -> None:
    assert NewMachine() == NewMachine(id=None, name=None)
    assert MachineChange() == MachineChange(name=None, paused=None)


@pytest.mark.parametrize("fields", [{"paused": 1}, {"paused": "true"}, {"name": ""}, {"id": "d"}])
def test_wrong_change_is_none(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        MachineChange.model_validate(fields)


def test_the_one_id_that_is_an_address_is_refused() -> None:
    with pytest.raises(ValidationError, match="reserved"):
        NewMachine.model_validate_json(b'{"id": "connect"}')
