"""An input goes as it is, unless its text is too long for one message."""

from schemas.inputs.bodies import Operation
from schemas.link.clipboard_messages import InputText
from schemas.link.messages import Input
from server.machines.link.questions.long_texts import with_text
from tests.links import input_message


def copying(text: str) -> Input:
    return input_message().model_copy(
        update={
            "operation": Operation.CLIPBOARD_WRITE,
            "body": {"text": text, "selection": "primary"},
        }
    )


def test_other_inputs_and_short_texts_are_one_message() -> None:
    for message in (input_message(), copying("short"), copying("")):
        assert with_text(message) == [message]


def test_long_text_goes_before_its_input() -> None:
    text = "0123456789" * 50_000
    message = copying(text)
    *before, last = with_text(message)
    assert isinstance(last, Input)
    assert last.body["selection"] == "primary"
    pieces = [piece for piece in before if isinstance(piece, InputText)]
    assert len(pieces) == len(before) > 0
    assert {piece.command_id for piece in pieces} == {message.command_id}
    assert "".join(piece.text for piece in pieces) + last.body["text"] == text
