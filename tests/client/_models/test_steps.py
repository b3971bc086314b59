"""A turn's steps, and the requests that they fit into."""

from typing import Any

import pytest

from farhand import actions
from farhand._models import phrases
from farhand._models.steps import LOOK, Request, Step, requests_of, step_of
from schemas.inputs.actions import Actions

CLICK = Step((actions.click(1, 2),))
TYPE = Step((actions.type("hello"),))
POINTER = Step(asks_pointer=True)
REFUSED = Step(refusal=phrases.NOT_AVAILABLE)
SHOWN = Step(looks=True, wanted={"width": 640, "height": 640})


def lengths(*steps: Step) -> list[int]:
    return [len(each) for each in requests_of(steps)]


def test_turn_is_one_request() -> None:
    assert lengths(CLICK, LOOK, TYPE, LOOK) == [4]
    assert lengths() == []


def test_pointer_is_asked_for_at_the_end_of_a_request() -> None:
    assert lengths(CLICK, POINTER, CLICK, TYPE) == [2, 2]


def test_step_that_is_refused_stands_alone() -> None:
    assert lengths(CLICK, CLICK, REFUSED, TYPE) == [2, 1, 1]


@pytest.mark.parametrize(
    ("step", "together"),
    [
        (CLICK, 50),
        (LOOK, 5),
        (Step((actions.type("x" * 4000),)), 2),
        (Step((actions.type("\N{EURO SIGN}" * 200),)), 3),
        (Step((actions.key("a", hold=20, repeat=2),)), 3),
        (Step((actions.drag(1, 1, 2, 2, duration=50),)), 2),
        (Step((actions.pause(70),)), 1),
    ],
)
def test_request_has_what_a_server_takes(step: Step, together: int) -> None:
    first, second = requests_of([step] * (together + 1))
    assert (len(first), len(second)) == (together, 1)


def test_laid_out_as_a_server_takes_it() -> None:
    request = Request.of([CLICK, SHOWN, TYPE, SHOWN])
    assert [each["operation"] for each in request.actions] == [
        *("mouse.click", "wait_for", "screenshot"),
        "keyboard.type",
    ]
    assert request.owners == [0, 1, 1, 2]
    assert request.pictures == {1: 2}
    assert request.closing == {"width": 640, "height": 640, "settle": 0.3}
    Actions.model_validate({"actions": request.actions, "screenshot": request.closing})


def test_picture_alone_is_no_action() -> None:
    request = Request.of([SHOWN])
    assert request.actions == []
    assert request.closing is not None


def test_failures_by_the_step_that_they_are_of() -> None:
    two = Step((actions.key("a"), actions.key("b")))
    request = Request.of([CLICK, two, TYPE])
    ends = [{"status": each} for each in ("completed", "interrupted", "not_begun", "not_begun")]
    assert request.failures(ends) == {1: phrases.INTERRUPTED, 2: phrases.NOT_EXECUTED}


@pytest.mark.parametrize(
    ("place", "owner"),
    [
        (("body", "actions", "2", "x"), 1),
        (("body", "actions", "0", "text"), 0),
        (("body", "actions"), 0),
        (("header", "Idempotency-Key"), 0),
    ],
)
def test_owner_of_what_is_wrong(place: tuple[str, ...], owner: int) -> None:
    request = Request.of([Step((actions.key("a"), actions.key("b"))), CLICK])
    assert request.owner_of(place) == owner


@pytest.mark.parametrize(
    ("name", "given", "refusal"),
    [
        ("fly", {}, phrases.NOT_AVAILABLE),
        ("click", {"x": 1}, phrases.UNUSABLE),
        ("click", {"x": 1, "y": 2}, None),
        ("drag", {"path": []}, phrases.UNUSABLE),
        ("type", {"text": None}, None),
    ],
)
def test_step_of(name: str, given: dict[str, Any], refusal: str | None) -> None:
    table = {
        "click": lambda given: Step((actions.click(given["x"], given["y"]),)),
        "drag": lambda given: Step((actions.drag(*given["path"]),)),
        "type": lambda given: Step((actions.type(given["text"]),)),
    }
    assert step_of(table, name, given).refusal == refusal
