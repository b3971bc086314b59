import pytest
from pydantic import TypeAdapter, ValidationError

from schemas.inputs.key_combinations import KEY_TABLE, Key
from schemas.inputs.modifiers import MAX_MODIFIERS, Modifiers, modifier_keys

MODIFIERS: TypeAdapter[tuple[str, ...]] = TypeAdapter(Modifiers)


@pytest.mark.parametrize("named", [key for key in KEY_TABLE if key.is_modifier])
def test_every_name_of_a_modifier_is_one(named: Key) -> None:
    for name in (named.name, named.name.upper(), named.name.replace("_", "-")):
        assert modifier_keys(MODIFIERS.validate_python([name])) == (
            Key(named.name, is_modifier=True),
        )


def test_order_is_kept_and_sides_are_keys_of_their_own() -> None:
    names = MODIFIERS.validate_python(["shift", "ctrl_r", "control"])
    assert [key.name for key in modifier_keys(names)] == ["shift", "ctrl_r", "ctrl"]
    assert modifier_keys(None) == ()


def test_all_that_are_named_again_are_told_at_their_places() -> None:
    with pytest.raises(ValidationError) as caught:
        MODIFIERS.validate_python(["ctrl", "control", "alt", "option"])
    assert [error["loc"] for error in caught.value.errors()] == [(1,), (3,)]


def test_all_modifiers_at_once_are_few_enough() -> None:
    names = [key.name for key in KEY_TABLE if key.is_modifier]
    assert len(names) <= MAX_MODIFIERS
    MODIFIERS.validate_python(names)
