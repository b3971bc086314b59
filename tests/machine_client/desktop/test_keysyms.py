"""Numbers of the named keys."""

from machine_client.desktop.keysyms import NAMED_KEYSYMS
from schemas.inputs.key_combinations import KEY_TABLE


def test_every_named_key_has_a_number_and_no_other_has() -> None:
    names = {named.name for named in KEY_TABLE if named.character is None}
    assert set(NAMED_KEYSYMS) == names
    assert len(set(NAMED_KEYSYMS.values())) == len(names)
