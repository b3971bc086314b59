"""Places that programs tell, held against where the desktop has their windows."""

from dataclasses import replace

import pytest

from machine_client.desktop.accessibility.nodes import Address, Node
from machine_client.desktop.accessibility.windows import (
    DesktopWindow,
    Placement,
    common,
    is_of,
    placement_of,
)
from schemas.values.pictures import Region

PID = 42


def window(
    number: int = 1,
    bounds: tuple[int, int, int, int] = (100, 120, 600, 400),
    *,
    title: str = "Invoice 7",
    pid: int = PID,
    is_popup: bool = False,
) -> DesktopWindow:
    outer = Region(bounds[0] - 1, bounds[1] - 20, bounds[2] + 2, bounds[3] + 25)
    return DesktopWindow(number, pid, title, Region(*bounds), outer, is_popup)


def frame(*bounds: int, name: str = "Invoice 7") -> Node:
    return Node(Address(":1.7", "/f"), 23, name, 0, bounds=Region(*bounds))


BUTTON = Region(110, 130, 80, 20)


@pytest.mark.parametrize(
    ("told", "button", "on_desktop"),
    [
        ((100, 120, 600, 400), BUTTON, BUTTON),
        ((99, 100, 602, 425), BUTTON, BUTTON),  # With its frame.
        ((50, 60, 300, 200), Region(55, 65, 40, 10), BUTTON),  # Twice as fine.
        ((80, 96, 480, 320), Region(88, 104, 64, 16), BUTTON),
        ((0, 0, 600, 400), Region(10, 10, 80, 20), BUTTON),  # From its corner.
    ],
)
def test_place_becomes_one_of_the_desktop(
    told: tuple[int, ...], button: Region, on_desktop: Region
) -> None:
    placement = placement_of(frame(*told), PID, [window(), window(2, title="Mail")])
    assert placement is not None
    assert placement.on_desktop(button) == on_desktop


@pytest.mark.parametrize(
    ("told", "windows"),
    [
        ((100, 120, 600, 400), [window(pid=7)]),
        ((100, 120, 600, 400), [window(), window(2)]),
        ((100, 120, 600, 400), []),
        ((100, 120, 600, 400), [window(is_popup=True)]),
        ((300, 120, 600, 400), [window()]),
        ((0, 0, 600, 400), [window(), window(2, (300, 300, 600, 400))]),
        ((0, 0, 1024, 768), [window()]),
    ],
)
def test_window_that_is_not_known_for_sure_is_nowhere(
    told: tuple[int, ...], windows: list[DesktopWindow]
) -> None:
    assert placement_of(frame(*told), PID, windows) is None


@pytest.mark.parametrize(
    ("told", "is_known"),
    [((0, 0, 600, 400), True), ((0, 0, 604, 404), False), ((100, 120, 600, 400), False)],
)
def test_program_that_knows_its_window_alone_is_told_from_its_corner(
    told: tuple[int, ...], is_known: bool
) -> None:
    blind = replace(window(bounds=(4, 6, 600, 400)), is_blind=True)
    placement = placement_of(frame(*told), PID, [blind])
    assert (placement is not None) == is_known
    if placement is not None:
        assert placement.on_desktop(Region(10, 10, 80, 20)) == Region(14, 16, 80, 20)


def test_what_covers_an_element_is_told_from_its_own_window_and_menu() -> None:
    placement = Placement(window(), relative=False)
    button = Node(Address(":1.7", "/b"), 43, "Save", 0, frame(100, 120, 600, 400), bounds=BUTTON)
    item = Node(Address(":1.7", "/i"), 35, "Save", 0, button.parent, bounds=BUTTON)
    popup = window(3, (105, 125, 200, 300), is_popup=True)
    assert is_of(window(), button, BUTTON, placement)
    assert not is_of(window(2), button, BUTTON, placement)
    assert not is_of(popup, button, BUTTON, placement)
    assert is_of(popup, item, BUTTON, placement)
    assert not is_of(window(3, (105, 125, 200, 300), is_popup=True, pid=7), item, BUTTON, placement)
    # A list that has just the place of the popup.
    choices = Node(
        Address(":1.7", "/l"), 31, "", 0, button.parent, bounds=Region(105, 125, 200, 300)
    )
    choice = Node(Address(":1.7", "/c"), 32, "A", 0, choices, bounds=BUTTON)
    assert is_of(popup, choice, BUTTON, placement)


def test_common_part_of_two_regions() -> None:
    assert common(Region(0, 0, 10, 10), Region(5, 6, 10, 10)) == Region(5, 6, 5, 4)
    assert common(Region(0, 0, 10, 10), Region(10, 0, 5, 5)) is None
