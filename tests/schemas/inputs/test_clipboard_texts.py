"""Which texts a clipboard takes, and in which pieces they travel."""

import random

import pytest
from pydantic import TypeAdapter, ValidationError
from pydantic_core import to_json

from schemas.inputs.clipboard_texts import (
    MAX_CLIPBOARD_BYTES,
    PIECE_BYTES,
    ClipboardText,
    pieces_of,
)
from tests.texts import any_text

TEXT: TypeAdapter[str] = TypeAdapter(ClipboardText)


def refusal_of(text: str) -> tuple[str, str]:
    with pytest.raises(ValidationError) as refused:
        TEXT.validate_python(text)
    (error,) = refused.value.errors()
    return error["type"], error["msg"]


@pytest.mark.parametrize("text", ["", "a\r\nb\tc\x01\x7f", "\ufeffé\u0301 \U0010ffff", "\ufffe"])
def test_every_character_but_null_is_taken_as_it_is(text: str) -> None:
    assert TEXT.validate_python(text) == text


def test_length_is_that_of_utf_8() -> None:
    assert TEXT.validate_python("é" * (MAX_CLIPBOARD_BYTES // 2))
    kind, message = refusal_of("é" * (MAX_CLIPBOARD_BYTES // 2) + "a")
    assert kind == "text_too_long"
    assert "1048577 bytes" in message
    assert "1048576" in message


def test_null_is_refused_by_its_place_alone() -> None:
    kind, message = refusal_of("hunter2\0")
    assert kind == "text_with_null"
    assert "character 8" in message
    assert "hunter2" not in message


def test_half_a_character_is_refused() -> None:
    assert refusal_of("a\ud800")[0] in ("text_not_unicode", "string_unicode")
    for half in (b'"\\ud800"', b'"\\udc00a"', b'"\\ud800a"'):
        with pytest.raises(ValidationError, match="Invalid JSON"):
            TEXT.validate_json(half)


@pytest.mark.parametrize(
    "text",
    ["", "a", "a" * MAX_CLIPBOARD_BYTES, "\x01" * MAX_CLIPBOARD_BYTES, "é😀\n" * 150_000],
    ids=["empty", "one", "long", "escaped", "mixed"],
)
def test_pieces_make_the_whole_again(text: str) -> None:
    pieces = list(pieces_of(text))
    assert "".join(pieces) == text
    assert all(len(to_json(piece)) <= PIECE_BYTES + 2 for piece in pieces)
    assert len(pieces) == 1 or all(pieces)


def test_pieces_of_any_text_make_it_again() -> None:
    draw = random.Random(3)
    for _ in range(30):
        text = any_text(draw, 40_000) * 6
        assert "".join(pieces_of(text)) == text
