"""Which window of sway's tree lies above which."""

from typing import Any

import pytest

from machine_client.desktop.wayland.sway.tree import on_top, windows_of
from schemas.values.pictures import Region

Box = tuple[int, int, int, int]
BORDER = 2
TITLE = 20


def box(x: int, y: int, width: int, height: int) -> dict[str, int]:
    return {"x": x, "y": y, "width": width, "height": height}


def window(number: int, around: Box, **more: Any) -> dict[str, Any]:
    """As sway 1.7 tells of one with a border, whose title is above what is its rectangle."""
    x, y, width, height = around
    return {
        "id": number,
        "type": "con",
        "name": f"Window {number}",
        "pid": 1000 + number,
        "shell": "xdg_shell",
        "visible": True,
        "focused": False,
        "fullscreen_mode": 0,
        "rect": box(x, y + TITLE, width, height - TITLE),
        "window_rect": box(BORDER, 0, width - 2 * BORDER, height - TITLE - BORDER),
        "deco_rect": box(0, 0, width, TITLE),
        "nodes": [],
        "floating_nodes": [],
        **more,
    }


def tree(*workspaces: tuple[list[Any], list[Any]]) -> dict[str, Any]:
    outputs = [
        {
            "type": "output",
            "rect": box(800 * each, 0, 800, 600),
            "nodes": [{"id": 900 + each, "nodes": tiled, "floating_nodes": floating}],
        }
        for each, (tiled, floating) in enumerate(workspaces)
    ]
    return {"type": "root", "nodes": outputs}


def above(shown: dict[str, Any], x: int, y: int) -> int | None:
    found = on_top(shown, x, y)
    return None if found is None else found.id


def test_window_has_the_place_of_what_its_program_draws() -> None:
    (found,) = windows_of(tree(([window(1, (100, 100, 400, 300))], [])))
    assert found.window.bounds == Region(102, 120, 396, 278)
    assert (found.window.pid, found.window.title, found.window.is_blind) == (1001, "Window 1", True)


def test_last_floating_window_lies_above_and_its_frame_is_nobodys() -> None:
    tiled = [window(1, (0, 0, 800, 600))]
    floating = [window(2, (100, 100, 400, 300)), window(3, (300, 200, 400, 300))]
    shown = tree((tiled, floating))
    assert above(shown, 20, 400) == 1
    assert above(shown, 200, 150) == 2
    assert above(shown, 350, 300) == 3
    assert above(shown, 350, 210) is None  # Its title.
    assert above(shown, 301, 300) is None  # Its border.
    assert above(shown, 900, 300) is None


def test_what_is_beyond_all_screens_is_not_reached() -> None:
    shown = tree(([], [window(1, (-100, 100, 400, 300))]))
    assert above(shown, 10, 200) == 1
    assert above(shown, -10, 200) is None


def test_floating_container_covers_all_that_it_is() -> None:
    inner = window(2, (150, 150, 100, 100))
    whole = window(5, (100, 100, 400, 300), nodes=[inner], pid=None)
    shown = tree(([window(1, (0, 0, 800, 600))], [whole]))
    assert above(shown, 200, 200) == 2
    assert above(shown, 400, 300) is None
    assert above(shown, 400, 105) is None
    assert above(shown, 20, 400) == 1


def test_full_screen_lies_under_its_own_dialogs_alone() -> None:
    full = window(1, (0, -TITLE, 800, 600 + TITLE), fullscreen_mode=1)
    dialog = window(2, (100, 100, 400, 300))
    shown = tree(([full, window(4, (0, 0, 800, 600), visible=False)], [dialog]))
    assert above(shown, 200, 200) == 2
    assert above(shown, 600, 500) == 1
    floating = window(3, (0, 0, 800, 600), fullscreen_mode=2)
    assert above(tree(([], [floating, dialog])), 200, 200) == 2


def test_what_cannot_be_seen_is_not_on_top_and_is_known() -> None:
    shown = tree(([window(1, (0, 0, 800, 600))], [window(2, (0, 0, 800, 600), visible=False)]))
    assert above(shown, 200, 200) == 1
    assert [each.window.id for each in windows_of(shown)] == [2, 1]


def test_floating_windows_of_two_screens_that_overlap_are_nobodys() -> None:
    left, right = window(1, (600, 100, 400, 300)), window(2, (700, 100, 400, 300))
    shown = tree(([], [left]), ([], [right]))
    assert above(shown, 650, 200) == 1
    assert above(shown, 1050, 200) == 2
    assert above(shown, 800, 200) is None


def test_program_of_x11_is_none_of_which_places_are_known() -> None:
    (found,) = windows_of(tree(([window(1, (0, 0, 800, 600), shell="xwayland")], [])))
    assert found.window.pid == 0


@pytest.mark.parametrize("told", [{}, {"nodes": None}, {"nodes": [{"type": "output"}]}])
def test_tree_without_windows_has_none(told: Any) -> None:
    assert windows_of(told) == []
