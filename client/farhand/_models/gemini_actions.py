"""Gemini's actions: those of the desktop environment, and the older names of the browser's.

Their fields are as Google documents them (ai.google.dev/gemini-api/docs/computer-use, read in
November 2026): a place is 0 to 999 of each side, whatever the screen's size.  The amount of a
scroll comes in one of three fields: the models of today say ``magnitude_in_wheel_clicks``.
"""

from collections.abc import Callable, Mapping

from farhand import actions
from farhand._models.keys import chord, combination
from farhand._models.steps import LOOK, Arguments, Step
from farhand.actions import Action, Button

GRID = (1000, 1000)
"""The picture of which places are pixels, so to say."""

NOT_ON_A_DESKTOP = ("navigate", "go_back", "go_forward", "open_web_browser", "search")
"""Declared as excluded; a model that calls them all the same is told that there are none."""

PIXELS_OF_A_NOTCH = 100
SCROLLED_PIXELS = {"scroll": 300, "scroll_at": 800, "scroll_document": 800}
"""Where the model says none."""


def _place(given: Arguments) -> tuple[int, int]:
    return given["x"], given["y"]


def _click(button: Button = "left", clicks: int = 1) -> Callable[[Arguments], Step]:
    return lambda given: Step((actions.click(*_place(given), button=button, clicks=clicks),))


def _press(*, down: bool) -> Callable[[Arguments], Step]:
    def make(given: Arguments) -> Step:
        return Step((actions.click(*_place(given), button=given.get("button", "left"), down=down),))

    return make


def _move(given: Arguments) -> Step:
    return Step((actions.move(*_place(given)),))


def _drag(given: Arguments) -> Step:
    if "start_x" in given:
        names = ("start_x", "start_y", "end_x", "end_y")
    else:
        names = ("x", "y", "destination_x", "destination_y")
    start_x, start_y, end_x, end_y = (given[name] for name in names)
    return Step((actions.drag(start_x, start_y, end_x, end_y),))


def _scroll(name: str) -> Callable[[Arguments], Step]:
    def make(given: Arguments) -> Step:
        amount = given.get("magnitude_in_wheel_clicks")
        if amount is None:
            pixels = given.get("magnitude_in_pixels", given.get("magnitude", SCROLLED_PIXELS[name]))
            amount = max(1, round(pixels / PIXELS_OF_A_NOTCH))
        place = _place(given) if "x" in given else ()
        return Step((actions.scroll(given["direction"], amount, *place),))

    return make


def _keys(given: Arguments) -> Step:
    keys = given["keys"]
    return Step((actions.key(combination(keys) if isinstance(keys, str) else chord(keys)),))


def _one_key(*, down: bool | None = None) -> Callable[[Arguments], Step]:
    return lambda given: Step((actions.key(combination(given["key"]), down=down),))


def _type(*, enters: bool, clears: bool) -> Callable[[Arguments], Step]:
    """Type, at a place if one is given; ``enters`` and ``clears`` hold where it says neither."""

    def make(given: Arguments) -> Step:
        done: list[Action] = []
        if "x" in given:
            done.append(actions.click(*_place(given)))
        if given.get("clear_before_typing", clears):
            done += [actions.key("ctrl+a"), actions.key("delete")]
        if given["text"]:
            done.append(actions.type(given["text"]))
        if given.get("press_enter", enters):
            done.append(actions.key("enter"))
        return Step(tuple(done))

    return make


def _wait(seconds: float) -> Callable[[Arguments], Step]:
    def make(given: Arguments) -> Step:
        wanted = given.get("seconds", seconds)
        return Step((actions.pause(wanted),) if wanted else ())

    return make


ACTIONS: Mapping[str, Callable[[Arguments], Step]] = {
    "click": _click(),
    "double_click": _click(clicks=2),
    "triple_click": _click(clicks=3),
    "right_click": _click("right"),
    "middle_click": _click("middle"),
    "mouse_down": _press(down=True),
    "mouse_up": _press(down=False),
    "move": _move,
    "drag_and_drop": _drag,
    "scroll": _scroll("scroll"),
    "press_key": _one_key(),
    "key_down": _one_key(down=True),
    "key_up": _one_key(down=False),
    "hotkey": _keys,
    "type": _type(enters=False, clears=False),
    "wait": _wait(1),
    "take_screenshot": lambda _: LOOK,
    # The older names.
    "click_at": _click(),
    "hover_at": _move,
    "scroll_at": _scroll("scroll_at"),
    "scroll_document": _scroll("scroll_document"),
    "key_combination": _keys,
    "type_text_at": _type(enters=True, clears=True),
    "wait_5_seconds": _wait(5),
}
"""What each comes to."""
