"""Where on the desktop an input happens, and whether any display shows it."""

from typing import TypeVar

from machine_client.desktop.base import DesktopInput, Refusal
from schemas.inputs.bodies import MouseInput
from schemas.inputs.outcomes import Refused
from schemas.inputs.places import Place
from schemas.link.messages import Display
from schemas.values.pictures import Region, Size

Body = TypeVar("Body", bound=MouseInput)


def put_on_desktop(body: Body, desktop: DesktopInput) -> Body:
    """The input with all its places in pixels of the desktop.

    Raises Refusal for the first of them that no display shows.
    """
    places = list(body.places)
    if not places:
        return body
    displays = desktop.displays()
    if (picture := body.picture_size) is not None:
        shown = Region.around(displays)
        size = picture.of(Size(shown.width, shown.height))
        body = body.with_places(lambda place: _of_pixel(place, size, shown))
        places = list(body.places)
    for place in places:
        _check(place, displays)
    return body


def _of_pixel(place: Place, picture: Size, shown: Region) -> tuple[int, int]:
    """The pixel of the desktop in which the middle of a picture's pixel lies."""
    return (
        shown.x + (2 * place.x + 1) * shown.width // (2 * picture.width),
        shown.y + (2 * place.y + 1) * shown.height // (2 * picture.height),
    )


def _check(place: Place, displays: list[Display]) -> None:
    x, y = place.x, place.y
    if any(
        display.x <= x < display.x + display.width and display.y <= y < display.y + display.height
        for display in displays
    ):
        return
    in_some_column = any(display.x <= x < display.x + display.width for display in displays)
    field = place.y_field if in_some_column else place.x_field
    bounds = [display.model_dump(include={"x", "y", "width", "height"}) for display in displays]
    # Few enough for the message's bound, however many displays there are; ctx has all of them.
    named = " and ".join(
        f"x {display.x} to {display.x + display.width - 1},"
        f" y {display.y} to {display.y + display.height - 1}"
        for display in displays[:8]
    )
    raise Refusal(
        Refused(
            code="coordinates_outside_display",
            message=f"({x}, {y}) is outside the displays, which show {named}",
            loc=("body", *map(str, field)),
            ctx={"displays": bounds},
        )
    )
