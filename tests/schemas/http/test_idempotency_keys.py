import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from schemas.http.idempotency_keys import IdempotencyKey

KEY = TypeAdapter(IdempotencyKey)

keys = st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=1, max_size=255)


@pytest.mark.parametrize(
    ("header", "key"),
    [
        ("k", "k"),
        ('"k"', "k"),
        ('"a\\"b"', 'a"b'),
        ('a"b', 'a"b'),
        ('"a\\\\b"', "a\\b"),
        ("a\\b", "a\\b"),
        ("'k'", "'k'"),
        # It has no bare spelling, and is not the key of what is between its quotation marks.
        ('"\\"k\\""', '"\\"k\\""'),
        ("~" * 255, "~" * 255),
        ('"' + '\\"' * 255 + '"', '"' + '\\"' * 255 + '"'),
    ],
)
def test_header_names_one_key_in_both_spellings(header: str, key: str) -> None:
    assert KEY.validate_python(header) == key


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ("", "1 to 255 visible ASCII"),
        ("k" * 256, "1 to 255 visible ASCII"),
        ("a b", "1 to 255 visible ASCII"),
        ("clé", "1 to 255 visible ASCII"),
        ('"', "quoted string"),
        ('""', "quoted string"),
        ('"k', "quoted string"),
        ('"k"k', "quoted string"),
        ('"k";a=1', "quoted string"),
        ('"k", "l"', "quoted string"),
        ('"a b"', "quoted string"),
        ('"a\\b"', "quoted string"),
        ('"k\\"', "quoted string"),
        ('"a"b"', "quoted string"),
        ('"clé"', "quoted string"),
        ('"' + "k" * 256 + '"', "quoted string"),
    ],
)
def test_malformed_header_is_refused_with_what_would_be_right(header: str, words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        KEY.validate_python(header)


def quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


@given(keys)
def test_every_key_has_a_quoted_spelling_that_names_it(text: str) -> None:
    key = KEY.validate_python(quoted(text))
    assert KEY.validate_python(key) == key
    if not text.startswith('"'):
        assert key == KEY.validate_python(text) == text


@given(keys, keys)
def test_different_keys_stay_different(one: str, other: str) -> None:
    spelled = [KEY.validate_python(quoted(text)) for text in (one, other) if text[0] != '"']
    assert len(set(spelled)) == len({text for text in (one, other) if text[0] != '"'})
