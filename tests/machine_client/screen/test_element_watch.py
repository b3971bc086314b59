"""Waits for elements, which a test shows and hides."""

from typing import Any

import pytest

from machine_client.desktop.base import ELEMENTS_UNTOLD, DesktopError
from machine_client.screen import element_watch
from machine_client.screen.element_watch import ElementWatch
from schemas.inputs.selectors import Selector
from schemas.inputs.waits import Conditions, Wait
from schemas.values.pictures import Region

PLACE = Region(1, 2, 3, 4)


class ScriptedElements:
    """Shows elements by their names."""

    def __init__(self, *names: str) -> None:
        self.names = {*names}
        self.looks = 0
        self.is_silent = False

    def sight(self, selector: Selector) -> tuple[bool | None, Region | None]:
        self.looks += 1
        if self.is_silent:
            return None, None
        is_there = selector.name in self.names
        return is_there, PLACE if is_there else None


def conditions(*each: dict[str, Any]) -> Conditions:
    return Wait.model_validate({"any": [*each]}).any


SAVED: dict[str, Any] = {"element": {"name": "Saved"}}
BUSY = {"element": {"name": "Busy"}, "gone": True}


def test_first_condition_that_is_met_is_told_by_its_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(element_watch, "SHORTEST_PAUSE", 3600.0)
    elements: Any = ScriptedElements("Busy")
    watch = ElementWatch(conditions({"still": 1}, SAVED, BUSY), elements)
    assert watch.met() is None
    elements.names = {"Busy", "Saved"}
    assert watch.met() is None  # It was just looked.
    assert ElementWatch(conditions({"still": 1}, SAVED, BUSY), elements).met() == (1, PLACE)
    elements.names = set()
    assert ElementWatch(conditions({"still": 1}, SAVED, BUSY), elements).met() == (2, None)


def test_what_no_program_tells_is_neither_there_nor_gone() -> None:
    elements: Any = ScriptedElements()
    elements.is_silent = True
    assert ElementWatch(conditions(SAVED, BUSY), elements).met() is None


def test_where_no_element_is_waited_for_none_is_looked_for() -> None:
    elements: Any = ScriptedElements()
    assert ElementWatch(conditions({"still": 1}, {"changed": True}), elements).met() is None
    assert elements.looks == 0


def test_desktop_without_elements_says_so() -> None:
    with pytest.raises(DesktopError):
        ElementWatch(conditions(SAVED), ELEMENTS_UNTOLD).met()
