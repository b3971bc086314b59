"""Keys that are lent to characters, and taken back for others."""

from machine_client.desktop.wayland.keymap import Stroke
from machine_client.desktop.wayland.lent import LentKeys


def test_character_has_a_key_until_others_need_it() -> None:
    lent = LentKeys((9, 8))
    assert lent.lend("é", ())
    assert (lent.find("é"), lent.find("É")) == (Stroke(9), Stroke(9, shifted=True))
    assert not lent.lend("É", ())
    assert lent.lend("漢", ())
    assert lent.pairs == {9: ("é", "É"), 8: ("漢", "漢")}
    lent.note_use(9)
    assert lent.lend("字", ())
    assert (lent.find("漢"), lent.find("字")) == (None, Stroke(8))


def test_as_many_as_there_is_room_for_are_lent_at_once_the_first_ones() -> None:
    lent = LentKeys((9, 8))
    assert lent.lend("漢漢字かな", ())
    assert [lent.find(each) is not None for each in "漢字かな"] == [True, True, False, False]
    assert lent.lend("かな", ())
    assert [lent.find(each) is not None for each in "漢字かな"] == [False, False, True, True]


def test_key_that_is_down_is_not_taken_back() -> None:
    lent = LentKeys((9, 8))
    lent.lend("漢字", ())
    assert lent.has_room("か", {9})
    assert not lent.has_room("かな", {9})
    assert lent.has_room("漢か", {9})
    assert lent.lend("かな", {9})
    assert [lent.find(each) is not None for each in "漢字かな"] == [True, False, True, False]
