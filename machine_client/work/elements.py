"""Elements in the place of places: found before anything happens, and looked at once more then."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TypeVar

from machine_client.desktop.base import DesktopElements, DesktopError, FoundElement, Refusal
from schemas.inputs.bodies import (
    AnyInput,
    ElementInput,
    FocusElement,
    InvokeElement,
    MouseInput,
    SetElementValue,
)
from schemas.inputs.outcomes import ELEMENTS_UNAVAILABLE, Refused
from schemas.programs.failpoints import Failpoint, reached

Body = TypeVar("Body", bound=MouseInput)
Found = Mapping[str, FoundElement]
"""What was found, by the field that names it."""


def find_all(body: AnyInput, elements: DesktopElements) -> Found:
    """Find every element that an input names.  Raises Refusal, at its field."""
    selectors = {}
    if isinstance(body, MouseInput):
        selectors = dict(body.elements)
    elif isinstance(body, ElementInput):
        selectors = {"element": body.element}
    found = {}
    for field, selector in selectors.items():
        with _refused_at(field):
            found[field] = elements.find(selector, place=isinstance(body, MouseInput))
    return found


def put_on_elements(body: Body, found: Found, elements: DesktopElements) -> Body:
    """The input with places where elements are now.  Raises Refusal where one has changed."""
    if found:
        reached(Failpoint.AFTER_FOUND)
    places = {}
    for field, element in found.items():
        with _refused_at(field):
            place = elements.look_again(element).place
        if place is not None:
            places[field] = (place.x, place.y)
    return body.at(places)


def ask_element(
    body: ElementInput, found: Found, elements: DesktopElements, go_on: Callable[[], None]
) -> None:
    """Ask an element for what an input wants of it.

    ``go_on`` raises where that is not wanted any more, once the element was looked at again.
    Raises Refusal where it has changed or cannot, DesktopError where it does not, and
    OutcomeUnknown.
    """
    reached(Failpoint.AFTER_FOUND)
    with _refused_at("element"):
        element = elements.look_again(found["element"])
        go_on()
        match body:
            case InvokeElement():
                elements.invoke(element)
            case FocusElement():
                elements.focus(element)
            case SetElementValue(value=value):
                elements.set_value(element, value)


@contextmanager
def _refused_at(field: str) -> Iterator[None]:
    """Say where in the input the element stands that is refused."""
    try:
        yield
    except Refusal as refusal:
        where = {"loc": ("body", field)}
        raise Refusal(refusal.outcome.model_copy(update=where)) from None
    except DesktopError as error:
        if error.code != ELEMENTS_UNAVAILABLE:
            raise
        refused = Refused(code=error.code, message=str(error)[:1000], loc=("body", field))
        raise Refusal(refused) from error
