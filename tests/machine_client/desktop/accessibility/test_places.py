"""Where a click reaches an element."""

from dataclasses import replace

from machine_client.desktop.accessibility.looking import Seen
from machine_client.desktop.accessibility.nodes import Address, Node
from machine_client.desktop.accessibility.places import Places
from machine_client.desktop.accessibility.programs import Program
from machine_client.desktop.accessibility.windows import DesktopWindow
from schemas.inputs.outcomes import Point
from schemas.link.element_messages import MAX_COVERED
from schemas.values.pictures import Region

WHOLE = Region(100, 100, 600, 400)
MAIN = DesktopWindow(1, 42, "Invoice 7", WHOLE, WHOLE, is_popup=False)
OTHER = DesktopWindow(2, 43, "Mail", WHOLE, WHOLE, is_popup=False)
FRAME, SCROLLED, BUTTON = 23, 49, 43


class FixedWindows:
    def __init__(self, *on_top: DesktopWindow) -> None:
        self._on_top = on_top

    def seen(self) -> list[DesktopWindow]:
        return [*self._on_top]

    def at(self, x: int, y: int) -> DesktopWindow | None:
        return next(iter(self._on_top), None)

    def demand_all_told(self) -> None: ...

    def untold_menus(self, process: int) -> dict[int, int]:
        return {}

    def close(self) -> None: ...


def button(bounds: Region, *within: tuple[int, Region]) -> Seen:
    node = Node(Address(":1.7", "/f"), FRAME, "Invoice 7", 0, bounds=WHOLE)
    for role, around in within:
        node = Node(Address(":1.7", "/s"), role, "", 0, node, bounds=around)
    node = Node(Address(":1.7", "/b"), BUTTON, "Save", 0, node, bounds=bounds)
    return Seen(Program(":1.7", pid=42), node)


def reached(seen: Seen, *windows: DesktopWindow) -> Point | None:
    return Places([MAIN, OTHER], FixedWindows(*windows)).reached(seen)


def test_gtk4_alone_is_asked_for_places_from_its_corner_where_programs_know_no_screen() -> None:
    seen = button(Region(10, 20, 80, 20))
    seen.node.window.bounds = Region(0, 0, 600, 400)
    places = Places([replace(MAIN, is_blind=True)], None)
    assert places.bounds(seen) == Region(110, 120, 80, 20)
    assert not places.is_relative(seen)
    seen.program.is_gtk4 = True
    assert places.is_relative(seen)


def test_middle_is_where_it_is_reached() -> None:
    assert reached(button(Region(110, 120, 80, 20)), MAIN) == Point(x=150, y=130)


def test_middle_of_what_is_scrolled_into_sight_is() -> None:
    seen = button(Region(110, 90, 80, 60), (SCROLLED, Region(100, 130, 600, 100)))
    assert reached(seen, MAIN) == Point(x=150, y=140)


def test_parts_that_other_windows_lie_over_are_told() -> None:
    dialog = DesktopWindow(3, 42, "Delete", *(Region(150, 110, 90, 40),) * 2, is_popup=False)
    tooltip = DesktopWindow(4, 42, "", *(Region(100, 100, 30, 30),) * 2, is_popup=True)
    bounds = Region(110, 120, 80, 20)
    seen = button(bounds)
    over = Places([tooltip, dialog, MAIN, OTHER], None)
    assert over.covered(seen) == [Region(110, 120, 20, 10), Region(150, 120, 40, 20)]
    assert Places([MAIN, dialog, OTHER], None).covered(seen) == []
    own_menu = replace(tooltip, bounds=bounds, outer=bounds)
    assert Places([own_menu, MAIN], None).covered(seen) == []
    many = [replace(tooltip, id=5 + each) for each in range(MAX_COVERED + 1)]
    assert len(Places([*many, MAIN], None).covered(seen)) == MAX_COVERED


def test_what_a_page_puts_beyond_its_section_is_reached() -> None:
    section = 85
    beyond = button(Region(110, 300, 80, 20), (section, Region(100, 130, 600, 100)))
    assert reached(beyond, MAIN) == Point(x=150, y=310)
    partly = button(Region(110, 220, 80, 60), (section, Region(100, 130, 600, 100)))
    assert reached(partly, MAIN) == Point(x=150, y=225)


def test_what_is_out_of_sight_or_covered_is_not_reached() -> None:
    scrolled_away = button(Region(110, 300, 80, 20), (SCROLLED, Region(100, 130, 600, 100)))
    assert reached(scrolled_away, MAIN) is None
    assert reached(button(Region(110, 120, 80, 20)), OTHER) is None
    assert reached(button(Region(110, 120, 80, 20))) is None


def test_element_at_a_place_is_within_what_can_be_seen_of_it() -> None:
    seen = button(Region(110, 90, 80, 60), (SCROLLED, Region(100, 130, 600, 100)))
    places = Places([MAIN], FixedWindows(MAIN))
    assert places.is_at(seen, Point(x=150, y=140), MAIN)
    assert not places.is_at(seen, Point(x=150, y=110), MAIN)
    assert not places.is_at(seen, Point(x=150, y=140), OTHER)
    assert not places.is_relative(seen)
