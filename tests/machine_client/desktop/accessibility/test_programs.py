"""Trees of real programs, by GTK's one answer and element by element."""

import pytest

from machine_client.desktop.accessibility import programs
from machine_client.desktop.accessibility.bus import AccessibilityBus, Calls
from machine_client.desktop.accessibility.nodes import Address, Node
from machine_client.desktop.accessibility.programs import read_programs
from machine_client.desktop.accessibility.search import Search
from schemas.inputs.selectors import Sought
from tests.machine_client.desktop.accessibility.rig import AccessibleDesktop, Program


def names(sought: Sought) -> set[str]:
    bus = AccessibilityBus()
    try:
        found = bus.ask(lambda calls: read_programs(calls, Search(sought)), 20)
    finally:
        bus.close()
    return {node.name for each in found for window in each.windows for node in window.walk()}


def test_element_by_element_is_found_what_gtk_tells_at_once(
    accessible: AccessibleDesktop, program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_once = names(Sought())
    assert {"Save", "Agree", "Button 11"} <= at_once

    async def nothing(_: object) -> dict[Address, Node]:
        return {}

    monkeypatch.setattr(programs._Reader, "_kept_ready", nothing)
    assert names(Sought()) == at_once


def test_what_is_added_and_taken_away_is_seen(
    accessible: AccessibleDesktop, program: Program
) -> None:
    program.tell("twin", "Newer")
    program.tell("rename", "Cancel to Back")
    assert {"Newer", "Back"} <= names(Sought())
    assert "Cancel" not in names(Sought())


def test_only_what_can_be_meant_is_read(accessible: AccessibleDesktop, program: Program) -> None:
    assert names(Sought(window="Mail")) == set()
    assert names(Sought(application="soffice")) == set()
    assert "Save" in names(Sought(window="Invoice*", application="gtk3*"))


def test_program_with_too_many_elements_is_cut(
    accessible: AccessibleDesktop, program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(programs, "MOST_NODES", 10)
    bus = AccessibilityBus()

    async def read(calls: Calls) -> list[programs.Program]:
        return await read_programs(calls, Search(Sought()))

    (found,) = bus.ask(read, 20)
    assert found.is_cut
    bus.close()
