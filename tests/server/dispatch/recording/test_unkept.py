from collections.abc import Sequence
from typing import Any

import pytest

from schemas.inputs.bodies import (
    ClickMouse,
    InputBody,
    MoveMouse,
    PressKeys,
    SetElementValue,
    TypeText,
    WriteClipboard,
)
from schemas.inputs.selectors import Selector
from server.dispatch.recording import unkept as module
from server.dispatch.recording.unkept import Unkept

CANARY = "Canary-4711"
CLICK = ClickMouse(x=1, y=1)


def key(text: str, **rest: Any) -> PressKeys:
    return PressKeys(text=text, **rest)


def by_hand(*keys: str) -> list[InputBody]:
    """Each goes down and up, and the pointer moves meanwhile."""
    move = MoveMouse(x=1, y=1)
    return [each for name in keys for each in (key(name, down=True), move, key(name, down=False))]


def after(*bodies: InputBody, kept: Sequence[str] = ()) -> Unkept:
    unkept = Unkept()
    for body in bodies:
        unkept.typed(body)
    for text in kept:
        unkept.kept(text)
    return unkept


@pytest.mark.parametrize(
    "bodies",
    [
        [TypeText(text=CANARY)],
        [TypeText(text="The canary-4711 sings")],
        [WriteClipboard(text=CANARY)],
        [SetElementValue(element=Selector(ref="1"), value=CANARY)],
        by_hand(*CANARY),
        by_hand("c", "a", "x", "backspace", "n", "a", "r", "y"),
        [key(" ".join(CANARY))],
        [TypeText(text="Can"), TypeText(text="ary")],
        [TypeText(text=CANARY), CLICK, TypeText(text="other")],
    ],
)
@pytest.mark.parametrize("name", ["{}", "No user {}!", "CANARY 4711", "cana…", "can.ary"])
def test_name_with_a_part_of_what_was_typed_may_have_it(bodies: list[InputBody], name: str) -> None:
    unkept = after(*bodies)
    assert unkept.may_be_in(name.format(CANARY))
    assert not unkept.may_be_in("Saved")


@pytest.mark.parametrize(
    ("name", "may_be"),
    [("Line 7", True), ("7", True), ("Line 17", False), ("pin: Xy?", True), ("Taxy", False)],
)
def test_short_text_is_sought_as_a_word(name: str, may_be: bool) -> None:
    assert after(TypeText(text="7"), CLICK, TypeText(text="xy")).may_be_in(name) is may_be


def test_what_a_step_keeps_may_be_in_a_name() -> None:
    typed = TypeText(text="Order 4711"), CLICK, TypeText(text="hunter2"), CLICK, key("7")
    unkept = after(*typed, kept=["Order 4711", "7"])
    assert not unkept.may_be_in("Order 4711 is saved, 7 times")
    assert unkept.may_be_in("Order of hunter2")


def test_nothing_was_typed_by_what_goes_on_and_comes_up() -> None:
    unkept = after(CLICK, key("ctrl+s"), key("enter"), key("s", down=False))
    assert not unkept.may_be_in("s ctrl+s enter")


def test_who_does_not_know_all_that_was_typed_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_PARTS", 20)
    few = after(TypeText(text="0123456789"))
    assert not few.may_be_in("Saved")
    assert after(TypeText(text="".join(map(chr, range(0x4E00, 0x4E20))))).may_be_in("Saved")
