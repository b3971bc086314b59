"""Every key of Windows has a name, and every name that has none is known."""

from machine_client.desktop.windows.keys import MODIFIERS, NAMED_KEYS
from schemas.inputs.key_combinations import KEY_TABLE


def test_all_names_but_five_have_a_key() -> None:
    names = {named.name for named in KEY_TABLE if named.character is None}
    assert names - NAMED_KEYS.keys() == {"undo", "redo", "find", "cancel", "kp_equal"}
    assert NAMED_KEYS.keys() <= names


def test_no_two_keys_are_one_but_for_the_right_alt() -> None:
    keys = [key for name, key in NAMED_KEYS.items() if name != "altgr"]
    assert len(set(keys)) == len(keys)
    assert len({(key.scan, key.extended) for key in keys}) == len(keys)
    assert NAMED_KEYS["altgr"] == NAMED_KEYS["alt_r"]


def test_modifiers_are_those_of_the_language() -> None:
    assert set(MODIFIERS) == {NAMED_KEYS[named.name] for named in KEY_TABLE if named.is_modifier}
