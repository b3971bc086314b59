"""OpenAI's actions: those of the ``computer`` tool's ``actions``, and of the ``action`` before it.

Their fields are those of the SDK's ``ComputerAction``: places and scrolling are pixels of the
screenshot, ``keys`` are held meanwhile.
"""

from collections.abc import Callable, Mapping

from farhand import actions
from farhand._models.keys import chord, modifiers
from farhand._models.steps import Arguments, Step
from farhand.actions import Action, Button, Direction

PIXELS_OF_A_NOTCH = 100
"""As far as browsers scroll for one notch of a wheel."""
WAIT_SECONDS = 1.0
"""OpenAI's wait says no time."""

_BUTTONS: Mapping[str, Button] = {
    "left": "left",
    "right": "right",
    "wheel": "middle",
    "back": "back",
    "forward": "forward",
}


def notches(pixels: int) -> int:
    """Notches for a distance in pixels: at least one, unless it is none."""
    return max(1, round(abs(pixels) / PIXELS_OF_A_NOTCH)) if pixels else 0


def _click(given: Arguments) -> Step:
    button, held = _BUTTONS[given["button"]], modifiers(given.get("keys"))
    return Step((actions.click(given["x"], given["y"], button=button, modifiers=held),))


def _double_click(given: Arguments) -> Step:
    held = modifiers(given.get("keys"))
    return Step((actions.click(given["x"], given["y"], clicks=2, modifiers=held),))


def _drag(given: Arguments) -> Step:
    start, *way, end = ((point["x"], point["y"]) for point in given["path"])
    held = modifiers(given.get("keys"))
    return Step((actions.drag(*start, *end, path=way or None, modifiers=held),))


def _move(given: Arguments) -> Step:
    return Step((actions.move(given["x"], given["y"], modifiers=modifiers(given.get("keys"))),))


def _scroll(given: Arguments) -> Step:
    """First down or up, then right or left; no distance at all still moves the pointer there."""

    def turned(pixels: int, back: Direction, forth: Direction) -> Action:
        direction = back if pixels < 0 else forth
        held = modifiers(given.get("keys"))
        return actions.scroll(direction, notches(pixels), given["x"], given["y"], modifiers=held)

    across, along = given["scroll_x"], given["scroll_y"]
    turns = [turned(along, "up", "down")] if along or not across else []
    return Step((*turns, *([turned(across, "left", "right")] if across else [])))


ACTIONS: Mapping[str, Callable[[Arguments], Step]] = {
    "click": _click,
    "double_click": _double_click,
    "drag": _drag,
    "keypress": lambda given: Step((actions.key(chord(given["keys"])),)),
    "move": _move,
    "scroll": _scroll,
    "type": lambda given: Step((actions.type(given["text"]),)),
    "wait": lambda _: Step((actions.pause(WAIT_SECONDS),)),
    # There is one picture for a call, and it is taken at the end of it.
    "screenshot": lambda _: Step(),
}
"""What each comes to."""
