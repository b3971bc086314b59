"""Texts to type: every character is one key, and what no key types is found before."""

import pytest
from pydantic import TypeAdapter, ValidationError

from schemas.inputs.key_combinations import Key
from schemas.inputs.texts import TypedText, chords_of

TEXT: TypeAdapter[str] = TypeAdapter(TypedText)


def keys(text: str) -> list[Key | None]:
    return [chord.key for chord in chords_of(text)]


def test_each_character_is_one_key_without_modifiers() -> None:
    assert keys("a+ Ж") == [Key(each, is_character=True) for each in "a+ Ж"]
    assert all(chord.modifiers == () for chord in chords_of("A+"))


def test_every_kind_of_line_end_is_one_return_and_a_tab_is_tab() -> None:
    assert keys("\n\r\r\n\t") == [Key("enter")] * 3 + [Key("tab")]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("ab\x00", "character 3 is U+0000"),
        ("\x1b[A", "character 1 is U+001B"),
        ("a\r\nb\x7f", "character 4 is U+007F"),
    ],
)
def test_what_no_key_types_is_named_by_place_and_code_alone(text: str, words: str) -> None:
    with pytest.raises(ValidationError) as caught:
        TEXT.validate_python(text)
    (error,) = caught.value.errors()
    assert (error["type"], words in error["msg"]) == ("text_not_typeable", True)
