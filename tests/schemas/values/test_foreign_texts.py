import pytest
from pydantic import TypeAdapter, ValidationError

from schemas.values.foreign_texts import (
    MAX_CHARACTERS,
    ForeignReason,
    ShortForeignText,
    foreign_text,
    printable,
)


@pytest.mark.parametrize("text", ["", "plain", "Größe 5 µm", "日本語", 'a "quoted" \\ text'])
def test_printable_text_stays_as_it_is(text: str) -> None:
    assert printable(text) == text
    assert foreign_text(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\nb", r"a\nb"),
        ("\x1b[2J", r"\x1b[2J"),
        ("\u202eright to left", r"\u202eright to left"),
        ("\ud800", r"\ud800"),
    ],
)
def test_what_is_not_printable_is_escaped(text: str, shown: str) -> None:
    assert printable(text) == shown
    assert printable(shown) == shown


@pytest.mark.parametrize("text", ["A" * 250_000, "\x00" * 250_000, "A" * 199 + "\n"])
def test_no_text_is_longer_than_the_bound(text: str) -> None:
    shown = foreign_text(text)
    assert len(shown) <= MAX_CHARACTERS
    assert shown.endswith("…")


def test_text_of_a_message_is_bounded_and_printable() -> None:
    short = TypeAdapter(ShortForeignText)
    assert short.validate_python("x" * 64) == "x" * 64
    with pytest.raises(ValidationError):
        short.validate_python("x" * 65)
    assert short.validate_python("\n" * 64) == r"\n" * 31 + "\\…"
    reason = TypeAdapter(ForeignReason).validate_python("\x07" * 500)
    assert len(reason) == 500
    assert reason.isprintable()
