"""Texts are copied whole or not at all, and the clipboard is read after what came before."""

import tracemalloc
from uuid import UUID

import pytest

from machine_client.link import clipboard as clipboard_module
from machine_client.link.events import CloseLink, LinkLost, MessageReceived, SendMessage
from machine_client.work.orders import BeginCommand, ClipboardTaken, CommandEnded, ReadClipboard
from schemas.inputs.bodies import Operation
from schemas.inputs.outcomes import Expired
from schemas.link.clipboard_messages import (
    ClipboardFailed,
    ClipboardNext,
    ClipboardQuery,
    ClipboardRead,
    InputText,
    input_texts,
)
from schemas.link.close_codes import CloseCode
from schemas.link.messages import Input
from tests.machine_client.session_script import DONE, A, B, Script, ack

LONG = "".join(f"line {number}\r\n" for number in range(30_000))


def copying(script: Script, text: str, command_id: UUID = A) -> tuple[list[InputText], Input]:
    """The messages of an input that copies a text."""
    before, last = input_texts(script.link_id, command_id, text, script.server_time())
    command = script.input(command_id).model_copy(
        update={"operation": Operation.CLIPBOARD_WRITE, "body": {"text": last}}
    )
    return before, command


def query(request: int = 1) -> ClipboardQuery:
    return ClipboardQuery(request=request, selection="clipboard", server_time=0)


def said(text: str, request: int = 1, *, more: bool = False) -> SendMessage:
    return SendMessage(ClipboardRead(request=request, text=text, more=more))


def closes(script: Script, message: InputText | Input) -> None:
    (effect,) = script.session.handle(MessageReceived(message))
    assert isinstance(effect, CloseLink)
    assert effect.code is CloseCode.MESSAGE_INVALID
    assert "line" not in effect.reason


def test_long_text_is_put_together(script: Script) -> None:
    for _ in range(2):
        before, command = copying(script, LONG)
        assert len(before) > 1
        for piece in before:
            script.on(MessageReceived(piece))
        (effect,) = script.session.handle(MessageReceived(command))
        assert isinstance(effect, BeginCommand)
        assert effect.command.body == {"text": LONG}
        script.on(CommandEnded(A, DONE, 2), ack(A, DONE, 2))


def test_piece_that_is_missing_or_comes_twice_ends_the_link() -> None:
    before, command = copying(script := Script(), LONG)
    script.on(MessageReceived(before[0]))
    closes(script, command)
    before, command = copying(script := Script(), LONG)
    script.on(MessageReceived(before[0]))
    closes(script, before[0])
    before, _ = copying(script := Script(), LONG)
    closes(script, before[1])
    before, _ = copying(script := Script(), LONG)
    longer = before[0].model_copy(update={"total": 5})
    closes(script, longer)


def test_empty_piece_ends_the_link_and_short_ones_take_no_more_than_their_text() -> None:
    before, _ = copying(script := Script(), LONG)
    closes(script, before[0].model_copy(update={"text": ""}))
    script = Script()
    tracemalloc.start()
    try:
        for begin in range(20_000):
            piece = before[0].model_copy(update={"begin": begin, "total": 20_001, "text": "l"})
            script.on(MessageReceived(piece))
        taken, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert taken < 1024 * 1024


def test_text_of_another_input_ends_the_link() -> None:
    before, _ = copying(script := Script(), LONG)
    for piece in before:
        script.on(MessageReceived(piece))
    closes(script, copying(script, LONG, B)[1])
    before, _ = copying(script := Script(), LONG)
    script.on(MessageReceived(before[0]))
    closes(script, script.input(A))


def test_text_of_an_earlier_link_is_forgotten(script: Script) -> None:
    before, _ = copying(script, LONG)
    script.on(MessageReceived(before[0]))
    script.session.handle(LinkLost())
    script.link()
    script.on(MessageReceived(before[1]))
    before, command = copying(script, LONG)
    for piece in before:
        script.on(MessageReceived(piece))
    (effect,) = script.session.handle(MessageReceived(command))
    assert isinstance(effect, BeginCommand)


def test_clipboard_is_read_at_once_where_nothing_runs(script: Script) -> None:
    asked = query()
    script.on(MessageReceived(asked), ReadClipboard(asked))
    script.on(ClipboardTaken(asked, "text"), said("text"))
    script.on(ClipboardTaken(asked, "text"))


def test_clipboard_is_read_after_all_inputs_that_came_before(script: Script) -> None:
    first, second, third = (script.input(UUID(int=number)) for number in (1, 2, 3))
    asked = query()
    script.on(MessageReceived(first), script.begins(first))
    script.on(MessageReceived(second))
    script.on(MessageReceived(asked))
    script.on(MessageReceived(third))
    script.on(CommandEnded(UUID(int=1), DONE, 1), ack(UUID(int=1), DONE, 1), script.begins(second))
    script.on(
        CommandEnded(UUID(int=2), DONE, 2),
        ack(UUID(int=2), DONE, 2),
        script.begins(third),
        ReadClipboard(asked),
    )


def test_input_that_expires_holds_up_no_read(script: Script) -> None:
    first, second = script.input(A, within=100), script.input(B, within=1)
    asked = query()
    script.on(MessageReceived(first), script.begins(first))
    script.on(MessageReceived(second))
    script.on(MessageReceived(asked))
    script.clock.now = 5
    script.on(CommandEnded(A, DONE, 1), ack(A, DONE, 1), ack(B, Expired(), 1), ReadClipboard(asked))


def test_long_text_is_said_piece_by_piece(script: Script) -> None:
    asked = query()
    script.on(MessageReceived(asked), ReadClipboard(asked))
    taken: list[ClipboardRead] = []
    effects = script.session.handle(ClipboardTaken(asked, LONG))
    while effects:
        (effect,) = effects
        assert isinstance(effect, SendMessage)
        assert isinstance(effect.message, ClipboardRead)
        taken.append(effect.message)
        following = ClipboardNext(request=1, server_time=0)
        effects = script.session.handle(MessageReceived(following))
    assert [piece.more for piece in taken] == [True] * (len(taken) - 1) + [False]
    assert "".join(piece.text for piece in taken) == LONG


def test_failure_is_said(script: Script) -> None:
    asked = query()
    script.on(MessageReceived(asked), ReadClipboard(asked))
    failed = ClipboardFailed(request=1, code="clipboard_silent", reason="why")
    script.on(ClipboardTaken(asked, failure=("clipboard_silent", "why")), SendMessage(failed))


def test_answer_to_an_earlier_links_question_is_said_to_nobody(script: Script) -> None:
    asked = query()
    script.on(MessageReceived(asked), ReadClipboard(asked))
    script.session.handle(LinkLost())
    script.link()
    again = query()
    script.on(MessageReceived(again), ReadClipboard(again))
    script.on(ClipboardTaken(asked, "of the earlier"))
    script.on(ClipboardTaken(again, "of this one"), said("of this one"))


def test_only_so_many_questions_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clipboard_module, "MAX_QUERIES", 1)
    script = Script()
    asked = query()
    script.on(MessageReceived(asked), ReadClipboard(asked))
    (effect,) = script.session.handle(MessageReceived(query(2)))
    assert isinstance(effect, SendMessage)
    assert isinstance(effect.message, ClipboardFailed)
    script.on(ClipboardTaken(asked, "text"), said("text"))


def test_text_is_in_no_representation() -> None:
    assert "secret" not in repr(ClipboardTaken(query(), "secret"))
