"""The key combination language."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from schemas.inputs.key_combinations import (
    KEY_TABLE,
    MAX_COMBINATION_LENGTH,
    Chord,
    Key,
    KeyCombination,
    KeyCombinationError,
    parse_combination,
)

COMBINATION: TypeAdapter[str] = TypeAdapter(KeyCombination)


def written(text: str) -> list[str]:
    """Name the keys of each chord, joined by spaces."""
    return [" ".join(key.name for key in chord.keys) for chord in parse_combination(text)]


def test_plus_joins_a_chord_and_space_separates_chords() -> None:
    assert parse_combination("ctrl+shift+t down") == (
        Chord(
            (Key("ctrl", is_modifier=True), Key("shift", is_modifier=True)),
            Key("t", is_character=True),
        ),
        Chord((), Key("down")),
    )


@pytest.mark.parametrize(
    ("text", "chords"),
    [
        ("a", ["a"]),
        ("A", ["A"]),
        ("ctrl+A", ["ctrl A"]),
        ("CONTROL+Return", ["ctrl enter"]),
        ("a+ctrl", ["ctrl a"]),
        ("ctrl", ["ctrl"]),
        ("ctrl+alt+shift", ["ctrl alt shift"]),
        ("page-up Page_Up PAGEUP pgup prior", ["page_up"] * 5),
        ("super win windows cmd command meta", ["super"] * 6),
        ("ctrl_l left-ctrl ctrl_left control_l", ["ctrl"] * 4),
        ("right_ctrl ctrl_r Control_R", ["ctrl_r"] * 3),
        ("ctrl+ctrl_r", ["ctrl ctrl_r"]),
        ("altgr AltGr alt_gr ISO_Level3_Shift", ["altgr"] * 4),
        ("plus + minus -", ["+", "+", "-", "-"]),
        ("ctrl++ ctrl+plus ctrl+-", ["ctrl +", "ctrl +", "ctrl -"]),
        ("space", [" "]),
        ("Comma hash at bar", [",", "#", "@", "|"]),
        ("f1 F24 kp_0 KP_Enter volume-up", ["f1", "f24", "kp_0", "kp_enter", "volume_up"]),
        ("é € ж 漢 😀 ß \u00a0", ["é", "€", "ж", "漢", "😀", "ß", "\u00a0"]),
    ],
)
def test_names_and_characters_are_understood(text: str, chords: list[str]) -> None:
    assert written(text) == chords


@pytest.mark.parametrize(
    ("text", "position", "says"),
    [
        ("", 1, "empty"),
        (" ", 1, "space for the space bar"),
        ("a  b", 3, "one space"),
        ("a ", 3, "one space"),
        ("ctrl+", 6, "write plus"),
        ("+a", 1, "write plus"),
        ("ctrl+++", 6, "write plus"),
        ("++", 1, "write plus"),
        ("ctrl+control+a", 6, "name it once"),
        ("a+b", 3, "second one"),
        ("a++", 3, "second one"),
        ("a b pgdwn", 5, "did you mean pgdown?"),
        ("ctrl+nonsense", 6, "no key with the name"),
        ("e\u0301", 1, "several Unicode code points"),
        ("👩\u200d🚀", 1, "several Unicode code points"),
        ("🇩🇪", 1, "several Unicode code points"),
        ("a \n", 3, "control code"),
        ("\x7f", 1, "control code"),
        ("\ud800", 1, "half a character"),
    ],
)
def test_an_error_names_the_place_and_what_is_right(text: str, position: int, says: str) -> None:
    with pytest.raises(KeyCombinationError, match=r".") as caught:
        parse_combination(text)
    assert caught.value.position == position
    assert says in str(caught.value)


def test_an_error_shows_nothing_of_the_text() -> None:
    with pytest.raises(KeyCombinationError) as caught:
        parse_combination("ctrl+hunter2")
    assert str(caught.value).startswith("There is no key with the name at characters 6 to 12")
    assert "hunter2" not in str(caught.value)


def test_every_name_of_the_table_means_its_key() -> None:
    for named in KEY_TABLE:
        for name in (named.name, *named.aliases, named.name.upper(), named.name.replace("_", "-")):
            (chord,) = parse_combination(name)
            assert [key.name for key in chord.keys] == [named.character or named.name]
            assert chord.keys[0].is_modifier is named.is_modifier


def test_every_modifier_has_a_left_and_a_right_key() -> None:
    names = {named.name for named in KEY_TABLE if named.is_modifier}
    assert names == {
        *("ctrl", "alt", "shift", "super", "altgr"),
        *("ctrl_r", "alt_r", "shift_r", "super_r"),
    }


@given(st.text(max_size=60))
def test_any_text_is_either_understood_or_refused_in_a_sendable_sentence(text: str) -> None:
    try:
        chords = parse_combination(text)
    except KeyCombinationError as caught:
        error = caught
    else:
        assert len(chords) == text.count(" ") + 1
        return
    str(error).encode()
    assert 1 <= error.position <= len(text) + 1


def test_the_schema_type_keeps_the_text() -> None:
    assert COMBINATION.validate_python("ctrl+A") == "ctrl+A"


def test_the_schema_type_reports_the_place_at_fault() -> None:
    with pytest.raises(ValidationError) as caught:
        COMBINATION.validate_python("ctrl+nonsense")
    (error,) = caught.value.errors()
    assert error["type"] == "key_combination"
    assert error["msg"].startswith("There is no key with the name at characters 6 to 13")
    assert error["ctx"]["position"] == 6


@pytest.mark.parametrize(
    ("text", "kind"),
    [("", "string_too_short"), ("a " * (MAX_COMBINATION_LENGTH // 2) + "b", "string_too_long")],
)
def test_the_schema_type_bounds_the_length(text: str, kind: str) -> None:
    with pytest.raises(ValidationError) as caught:
        COMBINATION.validate_python(text)
    assert [error["type"] for error in caught.value.errors()] == [kind]
