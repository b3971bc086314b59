"""Puts what was found into a step's input: the element itself, or a place that goes with it."""

from collections.abc import Mapping
from typing import Any, Final

from schemas.inputs.bodies import INPUT_BODIES, AnyInput, MouseInput, Operation
from schemas.inputs.places import Place
from schemas.inputs.selectors import Selector
from schemas.link.element_messages import SeenElement
from schemas.steps.step import Step
from schemas.values.pictures import Rectangle, Region
from server.runs.finding.thresholds import SAME_SIZE

_WHOLE: Final = frozenset(
    {
        *("push button", "toggle button", "check box", "radio button", "switch", "link"),
        *("menu", "menu item", "check menu item", "radio menu item", "page tab", "combo box"),
        *("entry", "text", "password text", "list item", "table cell", "icon", "label"),
        *("column header", "table column header", "push button menu"),
    }
)
"""Roles of what does the same wherever within it is clicked."""

_PARTED: Final = frozenset({"multi-line", "expandable"})
"""States of what does not, whatever its role is."""


def input_of(step: Step) -> AnyInput | None:
    """The input of a step that has one to be placed; a text in it may be a template."""
    if step.operation not in _MOUSE:
        return None
    return INPUT_BODIES[Operation(step.operation)].model_validate(step.body)


_MOUSE: Final = frozenset(
    operation.value for operation, body in INPUT_BODIES.items() if issubclass(body, MouseInput)
)


def place_of(step: Step) -> tuple[int, int] | None:
    """The first place that a step names, in the pixels of the desktop that it was recorded on."""
    body = input_of(step)
    if not isinstance(body, MouseInput) or body.picture_size is not None:
        return None
    return next(((each.x, each.y) for each in body.places), None)


def is_in_picture(step: Step) -> bool:
    """Whether its places are pixels of a picture of another size than the desktop's."""
    body = input_of(step)
    return isinstance(body, MouseInput) and body.picture_size is not None


def may_be_whole(element: SeenElement) -> bool:
    """Whether an element does the same wherever within it is clicked."""
    return element.role in _WHOLE and _PARTED.isdisjoint(element.states)


def at_element(step: Step, element: SeenElement) -> dict[str, Any]:
    """The body with an element in the place of its only place."""
    named = Selector(ref=element.ref).model_dump(mode="json")
    kept = {name: value for name, value in step.body.items() if name not in ("x", "y", "path")}
    return {**kept, "element": named}


def is_single(step: Step) -> bool:
    """Whether a step has one place alone."""
    body = input_of(step)
    return isinstance(body, MouseInput) and sum(1 for _ in body.places) == 1


def moved(step: Step, was: Rectangle, now: Region, scale: float = 1.0) -> dict[str, Any]:
    """The body with each place as far from what is ``now`` as it was from what ``was``."""
    body = input_of(step)
    if not isinstance(body, MouseInput):
        return dict(step.body)

    def put(place: Place) -> tuple[int, int]:
        return (
            now.x + round((place.x - was.x) * scale),
            now.y + round((place.y - was.y) * scale),
        )

    changed = body.with_places(put)
    return changed.model_dump(mode="json", by_alias=True, exclude_defaults=True)


def has_same_size(one: Rectangle, other: Rectangle) -> bool:
    """Whether two are as large, but for how they are drawn."""
    across, down = abs(one.width - other.width), abs(one.height - other.height)
    return max(across, down) <= SAME_SIZE


def are_within(step: Step, box: Rectangle) -> bool:
    """Whether all places of a step are in a box."""
    body = input_of(step)
    return isinstance(body, MouseInput) and all(
        0 <= each.x - box.x < box.width and 0 <= each.y - box.y < box.height for each in body.places
    )


def named_elements(step: Step) -> Mapping[str, Selector]:
    """The elements that a step's body names itself, by their fields."""
    if step.operation not in INPUT_BODIES:
        return {}
    fields = ("element", "start_element", "to_element")
    return {
        field: Selector.model_validate(step.body[field])
        for field in fields
        if step.body.get(field) is not None
    }
