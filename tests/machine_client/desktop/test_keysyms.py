"""The numbers of named keys, which several systems share."""

import pytest

from machine_client.desktop.keysyms import NAMED_KEYSYMS, letter_pair
from schemas.inputs.key_combinations import KEY_TABLE


def test_every_named_key_has_a_number_and_no_other_has() -> None:
    names = {named.name for named in KEY_TABLE if named.character is None}
    assert set(NAMED_KEYSYMS) == names
    assert len(set(NAMED_KEYSYMS.values())) == len(names)


@pytest.mark.parametrize(
    ("character", "pair"),
    [("é", "éÉ"), ("Ж", "жЖ"), ("ß", "ßß"), ("ẞ", "ẞẞ"), ("漢", "漢漢"), ("\u0131", "\u0131" * 2)],
)
def test_letter_shares_a_key_with_its_other_case_alone(character: str, pair: str) -> None:
    assert "".join(letter_pair(character)) == pair
