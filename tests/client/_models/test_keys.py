"""Keys as models write them; `schemas` says whether a machine has them."""

import pytest

from farhand._models.keys import chord, combination, modifiers
from schemas.inputs.key_combinations import parse_combination


@pytest.mark.parametrize(
    ("keys", "pressed"),
    [
        (["CTRL", "A"], "CTRL+a"),
        (["ctrl", "shift", "T"], "ctrl+shift+t"),
        (["A"], "A"),
        (["ENTER"], "ENTER"),
        (["CTRL", "+"], "CTRL+plus"),
        ([" "], "space"),
        (["ControlOrMeta", "c"], "ctrl+c"),
        (["SHIFT"], "SHIFT"),
        (["CTRL", "K", "C"], "CTRL+k CTRL+c"),
        (["ARROWDOWN", "ARROWDOWN"], "ARROWDOWN ARROWDOWN"),
        (["left_alt", "F4"], "left_alt+F4"),
        (["Super_L", "d"], "Super_L+d"),
    ],
)
def test_chord(keys: list[str], pressed: str) -> None:
    assert chord(keys) == pressed
    parse_combination(pressed)


@pytest.mark.parametrize(
    ("text", "pressed"),
    [
        ("ctrl+S", "ctrl+s"),
        ("Control+Shift+S", "Control+Shift+s"),
        ("Return", "Return"),
        ("Page_Down Page_Down", "Page_Down Page_Down"),
        ("ctrl+a ctrl+c", "ctrl+a ctrl+c"),
        ("ctrl++", "ctrl+plus"),
        ("+", "plus"),
        (" ", "space"),
        ("A", "A"),
    ],
)
def test_combination(text: str, pressed: str) -> None:
    assert combination(text) == pressed
    parse_combination(pressed)


@pytest.mark.parametrize(
    ("keys", "held"),
    [(None, ()), ("", ()), ([], ()), ("ctrl+shift", ("ctrl", "shift")), (["CTRL"], ("CTRL",))],
)
def test_modifiers(keys: str | list[str] | None, held: tuple[str, ...]) -> None:
    assert modifiers(keys) == held
