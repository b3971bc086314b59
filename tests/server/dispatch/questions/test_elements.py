"""What is asked about elements crosses the bus as it is."""

from uuid import uuid4

from schemas.inputs.outcomes import Point
from schemas.inputs.selectors import Selector, Sought
from schemas.link.element_messages import MAX_ELEMENTS, MAX_ELEMENTS_BYTES
from schemas.values.unavailable_reasons import UNAVAILABLE_REASONS
from server.dispatch.questions.elements import ElementsFound, FindElements
from server.dispatch.questions.question import decode_question, decode_reply, encode
from tests.told_elements import element

QUESTION = FindElements(
    organization_id=uuid4(),
    machine_id="desk-1",
    sought=Sought(role="push button", window="Invoice*"),
    at=Point(x=-3, y=4),
    limit=5,
    depth=2,
)


def test_question_and_reply_cross_the_bus() -> None:
    assert decode_question(encode(QUESTION)) == QUESTION
    found = ElementsFound(
        elements=[element(value="a")],
        selectors=[Selector(role="push button", name="Save")],
        truncated="time",
        silent=["stuck"],
    )
    assert decode_reply(encode(found)) == found


def test_reply_that_does_not_come_is_a_machine_that_tells_of_none() -> None:
    refusal = QUESTION.lost()
    assert refusal.reason == "no_elements"
    assert refusal.reason in UNAVAILABLE_REASONS


def test_longest_reply_is_little_more_than_what_a_machine_may_send() -> None:
    told = element(name="n", ref="r" * 100)
    found = ElementsFound(
        elements=[told] * MAX_ELEMENTS,
        selectors=[Selector(ref=told.ref)] * MAX_ELEMENTS,
        truncated=None,
        silent=[],
    )
    assert len(encode(found)) < 3 * MAX_ELEMENTS_BYTES
