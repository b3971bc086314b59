"""Questions about screen and clipboard, each to whom it concerns, and through the whole link."""

import pytest

from schemas.inputs.bodies import Operation
from schemas.link.clipboard_messages import ClipboardFailed, ClipboardQuery, ClipboardRead
from schemas.link.close_codes import CloseCode
from schemas.link.messages import Capability, RequestFailed, Screenshot
from server.machines.link.errors import NoClipboardError, UnexpectedAnswerError
from server.machines.link.events import MessageReceived, QuestionAsked, SendMessage
from server.machines.link.questions.clipboard import ClipboardArrived, ClipboardRefused
from server.machines.link.questions.pictures import PictureError
from server.machines.link.questions.questions import LinkQuestions
from server.machines.link.questions.screen import RequestRefused
from tests.links import SERVER_TIME, SWITCHED_OFF, LinkScript, hello, input_message, submitted

QUERY = ClipboardQuery(request=1, selection="clipboard", server_time=SERVER_TIME)
SCREENSHOT = Screenshot(request=1, format="png", quality=70, server_time=SERVER_TIME)
CAN = Capability(available=True)


def test_each_answer_belongs_to_its_question() -> None:
    questions = LinkQuestions(1024, lambda: SERVER_TIME)
    questions.asked(QUERY)
    questions.asked(SCREENSHOT)
    assert questions.answered(ClipboardRead(request=1, text="a")) == [ClipboardArrived(1, "a")]
    refused = questions.answered(RequestFailed(request=1, reason="why"))
    assert refused == [RequestRefused(1, "why")]
    with pytest.raises(UnexpectedAnswerError):
        questions.answered(ClipboardFailed(request=1, code="code", reason="why"))
    with pytest.raises(PictureError):
        questions.frame_received(b"nonsense")


def test_clipboard_is_asked_on_the_link(script: LinkScript) -> None:
    script.bring_up()
    script.on(QuestionAsked(QUERY), SendMessage(QUERY))
    failed = ClipboardFailed(request=1, code="code", reason="why")
    script.on(MessageReceived(failed), ClipboardRefused(1, "code", "why"))


def test_answer_that_nobody_asked_for_ends_the_link(script: LinkScript) -> None:
    script.bring_up()
    unasked = MessageReceived(ClipboardRead(request=1, text="secret"))
    script.closes_on(unasked, CloseCode.MESSAGE_INVALID, "nobody has asked")


def test_nothing_is_copied_on_a_machine_that_cannot(script: LinkScript) -> None:
    script.bring_up()
    copy = input_message().model_copy(
        update={"operation": Operation.CLIPBOARD_WRITE, "body": {"text": "a"}}
    )
    with pytest.raises(NoClipboardError, match=SWITCHED_OFF):
        script.link.handle(submitted(copy))


def test_text_is_copied_on_a_machine_that_can(script: LinkScript) -> None:
    script.bring_up(greeting=hello().model_copy(update={"clipboard_write": CAN}))
    copy = input_message().model_copy(
        update={"operation": Operation.CLIPBOARD_WRITE, "body": {"text": "a"}}
    )
    script.on(submitted(copy), SendMessage(copy))
