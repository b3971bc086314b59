"""Anthropic's actions: the members of ``computer_toolset_20260801``.

They are the values of ``action`` in ``computer_20251124``, with the same fields beside.

Their fields are those of the SDK's ``BetaComputer...Input``: coordinates are pixels of the
screenshot, times are seconds, ``text`` of a click is the keys that are held meanwhile.
"""

from collections.abc import Callable, Mapping

from farhand import actions
from farhand._models.keys import combination, modifiers
from farhand._models.steps import LOOK, Arguments, Step
from farhand.actions import Button


def _place(given: Arguments, field: str = "coordinate") -> tuple[int, int]:
    x, y = given[field]
    return x, y


def _click(button: Button = "left", clicks: int = 1) -> Callable[[Arguments], Step]:
    def make(given: Arguments) -> Step:
        place = _place(given) if given.get("coordinate") is not None else ()
        held = modifiers(given.get("text"))
        return Step((actions.click(*place, button=button, clicks=clicks, modifiers=held),))

    return make


def _press(*, down: bool) -> Callable[[Arguments], Step]:
    return lambda _: Step((actions.click(down=down),))


def _move(given: Arguments) -> Step:
    return Step((actions.move(*_place(given)),))


def _drag(given: Arguments) -> Step:
    start, end = _place(given, "start_coordinate"), _place(given)
    return Step((actions.drag(*start, *end, modifiers=modifiers(given.get("text"))),))


def _scroll(given: Arguments) -> Step:
    place = _place(given) if given.get("coordinate") is not None else ()
    direction, amount = given["scroll_direction"], given["scroll_amount"]
    return Step(
        (actions.scroll(direction, amount, *place, modifiers=modifiers(given.get("text"))),)
    )


def _key(given: Arguments) -> Step:
    return Step((actions.key(combination(given["text"]), repeat=given.get("repeat")),))


def _hold_key(given: Arguments) -> Step:
    return Step((actions.key(combination(given["text"]), hold=given["duration"]),))


def _type(given: Arguments) -> Step:
    return Step((actions.type(given["text"]),))


def _wait(given: Arguments) -> Step:
    seconds = given["duration"]
    return Step((actions.pause(seconds),) if seconds else ())


def _zoom(given: Arguments) -> Step:
    left, top, right, bottom = given["region"]
    return Step(looks=True, region=(left, top, right, bottom))


ACTIONS: Mapping[str, Callable[[Arguments], Step]] = {
    "left_click": _click(),
    "right_click": _click("right"),
    "middle_click": _click("middle"),
    "double_click": _click(clicks=2),
    "triple_click": _click(clicks=3),
    "left_mouse_down": _press(down=True),
    "left_mouse_up": _press(down=False),
    "mouse_move": _move,
    "left_click_drag": _drag,
    "scroll": _scroll,
    "key": _key,
    "hold_key": _hold_key,
    "type": _type,
    "wait": _wait,
    "screenshot": lambda _: LOOK,
    "zoom": _zoom,
    "cursor_position": lambda _: Step(asks_pointer=True),
}
"""What each comes to."""
