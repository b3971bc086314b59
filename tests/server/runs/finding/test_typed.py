"""Which texts of a recording are other ones in a run."""

from typing import Any

from schemas.steps.step import Step
from server.dispatch.questions.pictures import MOST_TYPED, TypedText
from server.runs.finding import typed_in

BEFORE, AFTER = "a" * 64, "b" * 64


def typed(text: str = "{{order}}", **said: Any) -> Step:
    parameters: dict[str, Any] | None = {"order": {}} if text == "{{order}}" else None
    pictures = {"picture": BEFORE, "picture_after": AFTER} | said
    return Step(operation="keyboard.type", body={"text": text}, parameters=parameters, **pictures)


def test_texts_with_values_are_other_ones() -> None:
    steps = [typed(), typed("always"), typed(picture_after=None), typed(picture=None)]
    assert typed_in(steps) == (TypedText(before=BEFORE, after=AFTER),)
    assert typed_in([]) == ()


def test_newest_are_told_where_there_are_many() -> None:
    newest = "c" * 64
    found = typed_in([*[typed()] * MOST_TYPED, typed(picture_after=newest)])
    assert len(found) == MOST_TYPED
    assert found[-1].after == newest
