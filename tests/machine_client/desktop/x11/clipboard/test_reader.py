"""What other programs have copied is read whole, or not at all, and never for long."""

import random

import pytest

from machine_client.desktop.base import ClipboardError
from machine_client.desktop.x11.clipboard import reader
from machine_client.desktop.x11.clipboard.owner import SelectionOwner
from machine_client.desktop.x11.clipboard.reader import read_selection
from schemas.inputs.clipboard_texts import MAX_CLIPBOARD_BYTES
from tests.machine_client.desktop.x11.clipboard.programs import copied
from tests.texts import any_text
from tests.waiting import WAIT_SECONDS

LONGEST = "\u00e9" * (MAX_CLIPBOARD_BYTES // 2)


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces by the hundred take their time on a busy machine."""
    for name in ("STEP_SECONDS", "WHOLE_SECONDS"):
        monkeypatch.setattr(reader, name, WAIT_SECONDS)


def code_of(display: str) -> str:
    with pytest.raises(ClipboardError) as failed:
        read_selection(display, "clipboard")
    return failed.value.code


def test_nothing_was_copied(display: str) -> None:
    assert read_selection(display, "clipboard") == ""


@pytest.mark.parametrize("at_once", [1000, 100_000, 2_000_000])
def test_text_of_another_program(display: str, at_once: int) -> None:
    for text in ("", "a\r\n\0\u20ac\U0001f600", "x" * 1001, LONGEST[:200_000]):
        with copied(display, {"UTF8_STRING": text.encode()}, at_once=at_once):
            assert read_selection(display, "clipboard") == text


def test_longest_text(display: str) -> None:
    for at_once in (64_000, 2_000_000):
        with copied(display, {"UTF8_STRING": LONGEST.encode()}, at_once=at_once):
            assert read_selection(display, "clipboard") == LONGEST
        with copied(display, {"UTF8_STRING": LONGEST.encode() + b"a"}, at_once=at_once):
            assert code_of(display) == "clipboard_too_large"


def test_ten_megabytes_are_not_read_to_their_end(display: str) -> None:
    with copied(display, {"UTF8_STRING": b"a" * 10_000_000}, at_once=100_000) as copier:
        assert code_of(display) == "clipboard_too_large"
        assert copier.given <= 12


def test_primary_is_another(display: str) -> None:
    with copied(display, {"UTF8_STRING": b"marked"}, selection="PRIMARY"):
        assert read_selection(display, "primary") == "marked"
        assert read_selection(display, "clipboard") == ""


def test_older_forms(display: str) -> None:
    with copied(display, {"text/plain;charset=utf-8": "\u20ac".encode()}):
        assert read_selection(display, "clipboard") == "\u20ac"
    with copied(display, {"STRING": b"gr\xfcn"}):
        assert read_selection(display, "clipboard") == "gr\u00fcn"


def test_what_is_no_text(display: str) -> None:
    with copied(display, {"image/png": b"\x89PNG"}):
        assert code_of(display) == "clipboard_no_text"
    with copied(display, {"UTF8_STRING": b"a\xff"}):
        assert code_of(display) == "clipboard_not_unicode"
    with copied(display, {"STRING": b"\xfc" * 700_000}):
        assert code_of(display) == "clipboard_too_large"


@pytest.mark.parametrize("stops_after", [0, 2])
def test_owner_that_stops(display: str, stops_after: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "STEP_SECONDS", 0.2)
    with copied(display, {"UTF8_STRING": b"a" * 500_000}, stops_after=stops_after):
        assert code_of(display) == "clipboard_silent"


def test_owner_that_gives_little_for_ever(display: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "WHOLE_SECONDS", 0.2)
    with copied(display, {"UTF8_STRING": b"a" * 500_000}, at_once=1):
        assert code_of(display) == "clipboard_silent"


def test_no_display_is_said() -> None:
    with pytest.raises(ClipboardError, match="nonsense"):
        read_selection("nonsense", "clipboard")


def test_what_we_copied_ourselves(display: str) -> None:
    owner, draw = SelectionOwner(display), random.Random(2)
    for text in (*(any_text(draw) for _ in range(50)), LONGEST):
        owner.put("primary", text)
        assert read_selection(display, "primary") == text
    owner.close()
