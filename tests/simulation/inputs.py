"""Inputs of every operation, each with a mark that tells it from all others, and their events."""

from random import Random

from schemas.inputs.actions import Actions, InputAction
from schemas.inputs.bodies import (
    AnyInput,
    Button,
    ClickMouse,
    DragMouse,
    ElementInput,
    MouseInput,
    MoveMouse,
    PressKeys,
    ScrollMouse,
    TypeText,
    WriteClipboard,
)
from tests.simulation.screen import Kind

Step = tuple[Kind, str]

_TENS, _ONES = "abcdefgh", "pqrstuvwxy"
MOST_INPUTS = len(_TENS)
"""In one life, each of which has marks that begin with a ten of its own."""

LET_GO = 0
"""The mark of what a hand releases in the end, wherever the pointer is."""

_COMMON_KEY = "z"
"""Which all key combinations press, so that one is often held by another."""


def random_input(mark: int, random: Random) -> AnyInput:
    """An input with this mark."""
    button: Button = random.choice(("left", "left", "left", "right"))
    keys = [*_keys_of(mark), _COMMON_KEY]
    match random.randrange(10):
        case 0:
            return WriteClipboard(text=f"{mark}") if mark % 2 else MoveMouse(x=mark, y=0)
        case 1 | 2:
            return ClickMouse(x=mark, y=0, button=button, clicks=random.randint(1, 3))
        case 3:
            return ClickMouse(x=mark, y=0, button=button, down=True)
        case 4:
            return ClickMouse(x=mark, y=0, button=button, down=False)
        case 5 | 6:
            return DragMouse(start_x=mark, start_y=0, to_x=0, to_y=0, duration=2.0, button=button)
        case 7:
            return ScrollMouse(x=mark, y=0, direction="up", amount=random.randint(1, 2))
        case 8:
            return PressKeys(text=" ".join(keys), down=random.choice((None, None, True)))
        case _:
            return TypeText(text="".join(keys))


def random_actions(mark: int, random: Random, *, is_keyed: bool) -> Actions:
    """Up to four inputs and some pauses as one body, each input with a mark of its own.

    Without a key it is one input.
    """
    inputs = [mark + 2 * number for number in range(random.randint(2, 4) if is_keyed else 1)]
    actions: list[dict[str, object]] = []
    for each in inputs:
        body = random_input(each, random)
        actions.append({"operation": body.input_name, **body.model_dump()})
        if is_keyed and random.random() < 0.3:
            actions.append({"operation": "wait", "seconds": random.choice((0.05, 0.5, 2.0))})
    return Actions.model_validate({"actions": actions})


def marks_of(body: Actions) -> list[int]:
    """What tells the inputs among several actions from all others."""
    return [mark_of(each) for each in body.actions if isinstance(each, InputAction)]


def is_marked(body: AnyInput) -> bool:
    """Whether an input has its mark: one that an element was to have has none without that."""
    if not isinstance(body, MouseInput) or (isinstance(body, ClickMouse) and body.down is False):
        return True
    (x, _), element = body.place_fields[0], body.element_fields[0]
    return getattr(body, x) is not None or getattr(body, element) is not None


def mark_of(body: AnyInput) -> int:
    """What tells an input from all others."""
    if isinstance(body, ElementInput):
        return int(str(body.element.name))
    for _, selector in body.elements if isinstance(body, MouseInput) else ():
        return int(str(selector.name))
    match body:
        case DragMouse(start_x=int(x)) | MoveMouse(x=int(x)):
            return x
        case WriteClipboard():
            return int(body.text.partition(" ")[0])
        case ClickMouse(x=int(x)) | ScrollMouse(x=int(x)):
            return x
        case ClickMouse(down=False):
            return LET_GO
        case PressKeys() | TypeText():
            tens, ones, *_ = list(body.text.replace(" ", ""))
            return 10 * _TENS.index(tens) + _ONES.index(ones)
    raise TypeError(f"the simulation sends no {body!r}")


def steps_of(body: AnyInput) -> list[Step]:
    """The events that an input makes, in their order."""
    moved = (Kind.MOTION, "pointer")
    match body:
        case MoveMouse() | ElementInput():
            return [moved]
        case WriteClipboard():
            return [(Kind.MOTION, "clipboard")]
        case ClickMouse(down=True):
            return [moved, (Kind.PRESS, body.button)]
        case ClickMouse(down=False):
            return [moved]
        case ClickMouse():
            return [moved, *_pressed_and_released(body.button) * body.clicks]
        case ScrollMouse():
            return [moved, *_pressed_and_released(f"wheel {body.direction}") * body.amount]
        case DragMouse():
            button = body.button or "left"
            return [moved, (Kind.PRESS, button), moved, moved, (Kind.RELEASE, button)]
        case PressKeys(down=True):
            return [(Kind.PRESS, key) for key in body.text.split()]
        case PressKeys() | TypeText():
            return [
                step for key in body.text.replace(" ", "") for step in _pressed_and_released(key)
            ]
    raise TypeError(f"the simulation sends no {body!r}")


def let_go_by(body: AnyInput) -> str | None:
    """What an input releases if it is down."""
    return body.button if isinstance(body, ClickMouse) and body.down is False else None


def _pressed_and_released(what: str) -> list[Step]:
    return [(Kind.PRESS, what), (Kind.RELEASE, what)]


def _keys_of(mark: int) -> tuple[str, str]:
    tens, ones = divmod(mark, 10)
    return _TENS[tens], _ONES[ones]
