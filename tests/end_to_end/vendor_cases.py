"""Every action of the vendors' tables: as a model sends it, and what a witness must see of it."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from tests.vendors import Call, Told


class Case(NamedTuple):
    """An action, what the witness must see of it in this order, and what the model is shown."""

    name: str
    given: Mapping[str, Any]
    seen: str = ""
    shown: Told | None = None


def _drag(*, start: str, end: str) -> str:
    return f"to {start} +1 to {end} -1"


SIZE = (640, 400)
"""Of the pictures, half of the desktop's: the pixel 100, 50 is the desktop's 201, 101."""

ANTHROPIC = [
    [
        Case(
            "left_click", {"coordinate": [100, 50], "text": "ctrl"}, "+ctrl to 201,101 +1 -1 -ctrl"
        ),
        Case("right_click", {"coordinate": [101, 50]}, "to 203,101 +3 -3"),
        Case("middle_click", {"coordinate": [102, 50]}, "to 205,101 +2 -2"),
        Case("double_click", {"coordinate": [103, 50]}, "to 207,101 +1 -1 +1 -1"),
        Case("triple_click", {"coordinate": [104, 50]}, "to 209,101 +1 -1 +1 -1 +1 -1"),
        Case("left_click", {}, "+1 -1"),
        Case("left_mouse_down", {}, "+1"),
        Case("mouse_move", {"coordinate": [105, 50]}, "to 211,101"),
        Case("left_mouse_up", {}, "-1"),
        Case(
            "left_click_drag",
            {"start_coordinate": [106, 50], "coordinate": [120, 60], "text": "ctrl+shift"},
            f"+ctrl +shift {_drag(start='213,101', end='241,121')} -shift -ctrl",
        ),
        Case(
            "scroll",
            {"coordinate": [107, 50], "scroll_direction": "down", "scroll_amount": 2},
            "to 215,101 +5 -5 +5 -5",
        ),
        Case(
            "scroll",
            {"scroll_direction": "left", "scroll_amount": 1, "text": "shift"},
            "+shift +6 -6 -shift",
        ),
    ],
    [
        Case("key", {"text": "ctrl+S", "repeat": 2}, "+ctrl +s -s -ctrl +ctrl +s -s -ctrl"),
        Case("key", {"text": "Return"}, "+enter -enter"),
        Case("hold_key", {"text": "shift", "duration": 1}, "+shift -shift"),
        Case("type", {"text": "as"}, "+a -a +s -s"),
        Case("wait", {"duration": 1}),
        Case("screenshot", {}, shown=Told(size=SIZE)),
    ],
    [
        Case("screenshot", {}, shown=Told(size=SIZE)),
        # At the screen's own resolution, and no picture to read places from.
        Case("zoom", {"region": [0, 0, 100, 50]}, shown=Told(size=(200, 100))),
        Case("cursor_position", {}, shown=Told("X=107,Y=50")),
    ],
]

OPENAI = [
    [
        Case(
            "click",
            {"button": "left", "x": 100, "y": 50, "keys": ["CTRL"]},
            "+ctrl to 201,101 +1 -1 -ctrl",
        ),
        Case("click", {"button": "right", "x": 101, "y": 50}, "to 203,101 +3 -3"),
        Case("click", {"button": "wheel", "x": 102, "y": 50}, "to 205,101 +2 -2"),
        Case("click", {"button": "back", "x": 103, "y": 50}, "to 207,101 +8 -8"),
        Case("click", {"button": "forward", "x": 104, "y": 50}, "to 209,101 +9 -9"),
        Case(
            "double_click",
            {"x": 105, "y": 50, "keys": ["SHIFT"]},
            "+shift to 211,101 +1 -1 +1 -1 -shift",
        ),
        Case("move", {"x": 106, "y": 50, "keys": ["ALT"]}, "+alt to 213,101 -alt"),
        Case(
            "drag",
            {"path": [{"x": 107, "y": 50}, {"x": 150, "y": 80}, {"x": 120, "y": 60}]},
            _drag(start="215,101", end="241,121"),
        ),
        Case(
            "scroll",
            {"x": 108, "y": 50, "scroll_x": 0, "scroll_y": 250},
            "to 217,101 +5 -5 +5 -5",
        ),
        Case(
            "scroll",
            {"x": 109, "y": 50, "scroll_x": -90, "scroll_y": -10, "keys": ["CTRL"]},
            "+ctrl to 219,101 +4 -4 -ctrl +ctrl to 219,101 +6 -6 -ctrl",
        ),
    ],
    [
        Case("keypress", {"keys": ["CTRL", "S"]}, "+ctrl +s -s -ctrl"),
        Case("keypress", {"keys": ["ENTER"]}, "+enter -enter"),
        Case("type", {"text": "as"}, "+a -a +s -s"),
        Case("wait", {}),
        Case("screenshot", {}),
    ],
]

GEMINI = [
    # A thousandth of the desktop is 1.28 by 0.8 pixels.
    [
        Case("click", {"x": 500, "y": 250, "intent": "to see"}, "to 640,200 +1 -1"),
        Case("double_click", {"x": 501, "y": 250}, "to 641,200 +1 -1 +1 -1"),
        Case("triple_click", {"x": 502, "y": 250}, "to 643,200 +1 -1 +1 -1 +1 -1"),
        Case("right_click", {"x": 503, "y": 250}, "to 644,200 +3 -3"),
        Case("middle_click", {"x": 504, "y": 250}, "to 645,200 +2 -2"),
        Case("mouse_down", {"x": 505, "y": 250}, "to 647,200 +1"),
        Case("mouse_up", {"x": 507, "y": 250}, "to 649,200 -1"),
        Case(
            "drag_and_drop",
            {"start_x": 508, "start_y": 250, "end_x": 999, "end_y": 999},
            _drag(start="650,200", end="1279,799"),
        ),
        Case(
            "scroll",
            {"x": 509, "y": 250, "direction": "down", "magnitude_in_wheel_clicks": 2},
            "to 652,200 +5 -5 +5 -5",
        ),
        Case("scroll", {"x": 510, "y": 250, "direction": "up"}, "to 653,200 +4 -4 +4 -4 +4 -4"),
        Case("move", {"x": 506, "y": 250}, "to 648,200"),
        Case("press_key", {"key": "Enter"}, "+enter -enter"),
        Case("hotkey", {"keys": ["Control", "S"]}, "+ctrl +s -s -ctrl"),
        Case("key_down", {"key": "Shift"}, "+shift"),
        Case("key_up", {"key": "Shift"}, "-shift"),
        Case("type", {"text": "as", "press_enter": True}, "+a -a +s -s +enter -enter"),
        Case("wait", {"seconds": 1}),
        Case("take_screenshot", {}, shown=Told("Done.", SIZE)),
    ],
    [
        Case("click_at", {"x": 500, "y": 250}, "to 640,200 +1 -1"),
        Case(
            "drag_and_drop",
            {"x": 502, "y": 250, "destination_x": 0, "destination_y": 0},
            _drag(start="643,200", end="0,0"),
        ),
        Case(
            "scroll_at",
            {"x": 503, "y": 250, "direction": "right", "magnitude": 200},
            "to 644,200 +7 -7 +7 -7",
        ),
        Case("scroll_document", {"direction": "down", "magnitude": 100}, "+5 -5"),
        Case("hover_at", {"x": 501, "y": 250}, "to 641,200"),
        Case("key_combination", {"keys": "Control+Shift+S"}, "+ctrl +shift +s -s -shift -ctrl"),
        Case(
            "type_text_at",
            {"x": 504, "y": 250, "text": "as"},
            "to 645,200 +1 -1 +ctrl +a -a -ctrl +delete -delete +a -a +s -s +enter -enter",
        ),
        # wait_5_seconds, which takes as long, is in its table's own test.
    ],
]

CLICK: Mapping[str, Call] = {
    "anthropic": ("left_click", {"coordinate": [100, 50]}),
    "anthropic-20251124": ("left_click", {"coordinate": [100, 50]}),
    "openai": ("click", {"button": "left", "x": 100, "y": 50}),
    "gemini": ("click", {"x": 157, "y": 126}),
}
"""A click at the same place by each of them."""
CLICKED = "to 201,101 +1 -1"

OUTSIDE: Mapping[str, Call] = {
    "anthropic": ("left_click", {"coordinate": [640, 0]}),
    "anthropic-20251124": ("left_click", {"coordinate": [640, 0]}),
    "openai": ("click", {"button": "left", "x": 640, "y": 0}),
    "gemini": ("click", {"x": 1000, "y": 0}),
}
"""A click beside the picture."""
