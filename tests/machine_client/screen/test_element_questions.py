"""Questions about elements, answered from threads of their own."""

import queue
from typing import Any

import pytest

from machine_client.desktop.base import (
    ELEMENTS_UNTOLD,
    DesktopElements,
    ListedElements,
    NoElements,
)
from machine_client.screen.element_questions import ElementQuestions
from machine_client.screen.sender import ElementsListed, OrderFailed, ScreenResult
from schemas.inputs.outcomes import Point
from schemas.inputs.selectors import Sought
from schemas.link.element_messages import ElementsQuery

PATIENCE = 20.0
QUERY = ElementsQuery(
    request=3, sought=Sought(name="Save"), at=Point(x=1, y=2), limit=5, depth=2, server_time=0
)


class ScriptedElements(NoElements):
    """Answers with what it was asked."""

    def __init__(self, failure: Exception | None = None) -> None:
        super().__init__("")
        self._failure = failure
        self.asked: list[Any] = []

    def listed(  # type: ignore[override]
        self, sought: Sought, *, at: Point | None, limit: int, depth: int | None
    ) -> ListedElements:
        self.asked.append((sought, at, limit, depth))
        if self._failure is not None:
            raise self._failure
        return ListedElements((), "limit", ("soffice",))


def answer(elements: DesktopElements) -> ScreenResult:
    ended: queue.SimpleQueue[ScreenResult] = queue.SimpleQueue()
    ElementQuestions(elements, ended.put).begin(QUERY)
    return ended.get(timeout=PATIENCE)


def test_question_is_asked_as_it_came_and_has_its_answer() -> None:
    elements = ScriptedElements()
    assert answer(elements) == ElementsListed(QUERY, (), "limit", ("soffice",))
    assert elements.asked == [(QUERY.sought, QUERY.at, 5, 2)]


@pytest.mark.parametrize(
    ("elements", "code", "words"),
    [
        (ELEMENTS_UNTOLD, "elements_unavailable", "its owner lets nobody see elements"),
        (ScriptedElements(ZeroDivisionError()), None, "made a mistake (ZeroDivisionError)"),
    ],
)
def test_question_without_an_answer_says_why(
    elements: DesktopElements, code: str | None, words: str
) -> None:
    failed = answer(elements)
    assert isinstance(failed, OrderFailed)
    assert (failed.order, failed.code) == (QUERY, code)
    assert words in failed.reason
