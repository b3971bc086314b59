"""Messages about the clipboard: old enough sides never get them, and none is too long."""

from uuid import uuid4

import pytest
from pydantic import BaseModel, ValidationError

from schemas.inputs.clipboard_texts import MAX_CLIPBOARD_BYTES
from schemas.link.clipboard_messages import (
    ClipboardFailed,
    ClipboardNext,
    ClipboardQuery,
    ClipboardRead,
    InputText,
    input_texts,
)
from schemas.link.messages import CLIENT_MESSAGES, MAX_MESSAGE_BYTES, SERVER_MESSAGES
from tests.links import LINK_ID, SERVER_TIME

COMMAND = uuid4()


def before(text: str) -> tuple[list[InputText], str]:
    return input_texts(LINK_ID, COMMAND, text, SERVER_TIME)


@pytest.mark.parametrize(
    "message",
    [
        *before("a" * 300_000)[0],
        ClipboardQuery(request=1, selection="primary", server_time=SERVER_TIME),
        ClipboardNext(request=1, server_time=SERVER_TIME),
    ],
)
def test_servers_message_survives_the_wire(message: BaseModel) -> None:
    assert SERVER_MESSAGES.validate_json(message.model_dump_json()) == message


@pytest.mark.parametrize(
    "message",
    [
        ClipboardRead(request=1, text="\x01é\U0001f600", more=True),
        ClipboardFailed(request=1, code="clipboard_silent", reason="it is silent"),
    ],
)
def test_clients_message_survives_the_wire(message: BaseModel) -> None:
    assert CLIENT_MESSAGES.validate_json(message.model_dump_json()) == message


def test_short_text_needs_no_message_of_its_own() -> None:
    assert before("short") == ([], "short")
    assert before("") == ([], "")


@pytest.mark.parametrize("character", ["a", "\x01", "é", "\U0001f600", '"'])
def test_long_text_goes_in_messages_that_are_short_enough(character: str) -> None:
    text = character * (MAX_CLIPBOARD_BYTES // len(character.encode()))
    messages, last = before(text)
    assert "".join((*(message.text for message in messages), last)) == text
    begin = 0
    for message in messages:
        assert (message.begin, message.total) == (begin, len(text))
        assert len(message.model_dump_json().encode()) <= MAX_MESSAGE_BYTES
        begin += len(message.text)


def test_more_than_a_clipboard_has_is_no_message() -> None:
    with pytest.raises(ValidationError):
        ClipboardRead(request=1, text="a" * 200_000)
    with pytest.raises(ValidationError):
        ClipboardFailed(request=1, code="Not a code!", reason="why")
