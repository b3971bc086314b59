"""What a search compares, and the keys and patterns by which it finds it."""

import re
import unicodedata
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.store.trajectories.search import (
    KEY_CHARACTERS,
    MAX_INDEXED_CHARACTERS,
    MIN_LOOKED_UP_CHARACTERS,
    containing,
    folded,
    lookup_keys,
    name_order,
    search_text,
    substring_pattern,
    suffix_keys,
)

OWN = UUID("00000000-0000-4000-8000-00000000000a")
TEXTS = st.text(
    st.characters(codec="utf-8", exclude_characters="\0")
    | st.sampled_from("aAßİZ.*+?$()[]{}|\\^'\"é\u0301"),
    max_size=24,
)


def found_by_key(keys: list[str], piece: str) -> bool:
    bounds = containing(piece)["suffixes"]["$elemMatch"]
    return any(bounds["$gte"] <= key <= bounds["$lte"] for key in keys)


@given(st.text(st.sampled_from("eE\u0301\u0316\u0345"), max_size=200))
def test_marks_of_a_character_are_sorted_some_at_a_time(text: str) -> None:
    # Sorting takes the square of how many there are.
    run = 0
    for character in unicodedata.normalize("NFD", folded("é" + text)):
        run = run + 1 if unicodedata.combining(character) else 0
        assert run <= 31


@given(st.text(st.sampled_from("eEé\u0301\u0316각ﬃ"), max_size=30))
def test_folding_is_unicodes_own_where_marks_are_few(text: str) -> None:
    whole = unicodedata.normalize("NFC", unicodedata.normalize("NFD", text).casefold())
    assert folded(text) == whole


@given(TEXTS, TEXTS)
def test_pattern_finds_the_needle_itself_and_nothing_else(needle: str, text: str) -> None:
    found = re.search(substring_pattern(folded(needle)), folded(text)) is not None
    assert found == (folded(needle) in folded(text))


@given(TEXTS.filter(lambda text: len(folded(text)) >= 3), TEXTS, TEXTS)
def test_keys_find_what_contains_each_piece(needle: str, name: str, description: str) -> None:
    text = search_text(OWN, name, description)
    keys = suffix_keys(text)
    assert keys is not None
    for piece in lookup_keys(folded(needle)):
        assert MIN_LOOKED_UP_CHARACTERS <= len(piece) <= KEY_CHARACTERS
        assert piece in folded(needle)
        assert found_by_key(keys, piece) == (piece in text)


@given(TEXTS, TEXTS, TEXTS.filter(bool))
def test_no_needle_reaches_from_one_text_into_the_next(
    name: str, description: str, needle: str
) -> None:
    texts = [folded(each) for each in (str(OWN), name, description)]
    expected = any(folded(needle) in text for text in texts)
    assert (folded(needle) in search_text(OWN, name, description)) == expected


@given(st.text(st.characters(codec="utf-8")))
def test_folded_text_has_no_capital_letters(text: str) -> None:
    assert not re.search("[A-Z]", folded(text))
    assert folded(text) == folded(text.lower()) or folded(text) == folded(text.upper())


@pytest.mark.parametrize(
    ("text", "needle"),
    [
        ("Straße", "STRASSE"),
        ("ΣΊΣΥΦΟΣ", "σίσυφος"),
        ("e\u0301tude", "ÉTUDE"),
        ("İstanbul", "i\u0307stanbul"),
        ("\u1100\u1161", "가"),
        ("ﬁle", "FI"),
    ],
)
def test_folding_finds_what_people_expect(text: str, needle: str) -> None:
    assert folded(needle) in folded(text)


def test_an_accent_makes_another_character() -> None:
    assert folded("e") not in folded("É")


def test_too_long_texts_have_no_keys() -> None:
    fits = search_text(OWN, None, "a" * (MAX_INDEXED_CHARACTERS - len(str(OWN)) - 1))
    assert suffix_keys(fits) is not None
    assert suffix_keys(fits + "a") is None


def test_pieces_of_a_long_needle_begin_and_end_with_it() -> None:
    needle = "".join(chr(0x4E00 + number) for number in range(100))
    pieces = lookup_keys(needle)
    assert (pieces[0], pieces[-1]) == (needle[:KEY_CHARACTERS], needle[-KEY_CHARACTERS:])
    assert len(pieces) == 4
    assert lookup_keys(needle[:9]) == [needle[:8], needle[1:9]]


def test_names_are_sorted_as_people_expect() -> None:
    expected: list[str | None] = [
        *("", "!", "7 up", "10 CC", "Apple", "apple 2", "Apple 010", "apple 11 b", "apple 011 c"),
        *("Ärger", "as", "café", "cafeteria", "Straße", "strasser", "Zoe", "Zoë", "zoo"),
        *("Москва", "日本", "\U0001f642", None),
    ]
    mixed = expected[::-1]
    assert sorted(mixed, key=name_order) == expected
    assert len({name_order(same) for same in ("Ünder 007", "u\u0308NDER 7", "ünder 07")}) == 1
    assert len(name_order("1é" * 127)) < 2000
