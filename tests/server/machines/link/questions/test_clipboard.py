"""What may come back of what was asked about a clipboard, and what must not."""

import pytest

from schemas.inputs.clipboard_texts import MAX_CLIPBOARD_BYTES, PIECE_CHARACTERS, pieces_of
from schemas.link.clipboard_messages import (
    ClipboardFailed,
    ClipboardNext,
    ClipboardQuery,
    ClipboardRead,
)
from server.machines.link.errors import UnexpectedAnswerError
from server.machines.link.questions.clipboard import (
    LEAST_PIECE,
    ClipboardArrived,
    ClipboardLink,
    ClipboardRefused,
)
from tests.links import SERVER_TIME

NEXT = ClipboardNext(request=1, server_time=SERVER_TIME)


def asked(*requests: int) -> ClipboardLink:
    link = ClipboardLink(lambda: SERVER_TIME)
    for request in requests:
        link.asked(ClipboardQuery(request=request, selection="clipboard", server_time=SERVER_TIME))
    return link


def read(text: str, request: int = 1, *, more: bool = False) -> ClipboardRead:
    return ClipboardRead(request=request, text=text, more=more)


def test_short_text_arrives_at_once() -> None:
    assert asked(1).answered(read("text")) == ClipboardArrived(1, "text")
    assert asked(1).answered(read("")) == ClipboardArrived(1, "")


@pytest.mark.parametrize("character", ["a", "\x01", "\U0001f600"])
def test_longest_text_is_asked_for_piece_by_piece(character: str) -> None:
    link, text = asked(1), character * (MAX_CLIPBOARD_BYTES // len(character.encode()))
    *first, last = pieces_of(text)
    for piece in first:
        assert link.answered(read(piece, more=True)) == NEXT
    assert link.answered(read(last)) == ClipboardArrived(1, text)


def test_answers_of_several_are_told_apart() -> None:
    link, piece = asked(1, 2), "a" * LEAST_PIECE
    assert link.answered(read(piece, more=True)) == NEXT
    assert link.answered(read("b", 2)) == ClipboardArrived(2, "b")
    assert link.answered(read("c")) == ClipboardArrived(1, piece + "c")


def test_failure_is_one() -> None:
    failed = ClipboardFailed(request=1, code="clipboard_silent", reason="why")
    assert asked(1).answered(failed) == ClipboardRefused(1, "clipboard_silent", "why")


@pytest.mark.parametrize("answer", [read("a", 2), read("a", 1)])
def test_answer_to_no_question_is_unexpected(answer: ClipboardRead) -> None:
    link = asked(1)
    link.answered(read("a"))
    with pytest.raises(UnexpectedAnswerError):
        link.answered(answer)


def test_tiny_pieces_are_unexpected() -> None:
    with pytest.raises(UnexpectedAnswerError, match="too small"):
        asked(1).answered(read("a" * (LEAST_PIECE - 1), more=True))


def test_more_than_a_clipboard_may_have_is_unexpected() -> None:
    link, piece = asked(1), "a" * PIECE_CHARACTERS
    for _ in range(MAX_CLIPBOARD_BYTES // PIECE_CHARACTERS):
        assert link.answered(read(piece, more=True)) == NEXT
    with pytest.raises(UnexpectedAnswerError, match="more than"):
        link.answered(read("a" * LEAST_PIECE, more=True))


def test_whole_text_that_is_too_long_as_utf_8_is_unexpected() -> None:
    link = asked(1)
    piece = "é" * PIECE_CHARACTERS
    for _ in range(4):
        assert link.answered(read(piece, more=True)) == NEXT
    with pytest.raises(UnexpectedAnswerError, match="more than"):
        link.answered(read("a"))


def test_text_is_in_no_representation() -> None:
    assert "secret" not in repr(ClipboardArrived(1, "secret"))
