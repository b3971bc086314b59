"""What a step was done to: the element, the display, and what was around its place."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from schemas.inputs.selectors import Selector
from schemas.link.messages import Display
from schemas.steps.surroundings import Around
from schemas.values.pictures import Region
from server.dispatch.here.neighbours import is_checked
from server.dispatch.recording.before_and_after import Beneath
from server.dispatch.recording.drafts import Draft

MOST_DISPLAYS: Final = 64

CROP_WIDTH: Final = 320
CROP_HEIGHT: Final = 160
"""So much is around a place: a button with its label, a field with what stands before it."""


def target_of(
    draft: Draft, displays: Sequence[Display], picture_id: str | None, shown: Region | None
) -> dict[str, Any]:
    """A `Target`, written without checking it; empty where nothing tells of one.

    ``picture_id`` is the picture of the screen before the step, ``shown`` what of the desktop is
    on it.
    """
    target = {} if draft.beneath is None else _element_of(draft.beneath)
    # Keys that go to an element are found by that.
    place = draft.place or (None if "element" in target else draft.pressed)
    around = None if shown is None or place is None else crop_around(place, shown)
    if picture_id is not None and around is not None:
        target["crop"] = {"picture": picture_id, "area": around._asdict()}
    if draft.place is None:
        if "crop" in target and place is not None:
            target["crop"]["place"] = {"x": place[0], "y": place[1]}
        return target
    display = next(_displays_at(draft.place, displays[:MOST_DISPLAYS]), None)
    if display is not None:
        target["display"] = display
    return target


def crop_around(place: tuple[int, int], shown: Region) -> Region | None:
    """What is around a place, as far as it is shown; None where the place is not."""
    x, y = place
    if not (0 <= x - shown.x < shown.width and 0 <= y - shown.y < shown.height):
        return None
    width, height = min(CROP_WIDTH, shown.width), min(CROP_HEIGHT, shown.height)
    left = min(max(x - width // 2, shown.x), shown.x + shown.width - width)
    top = min(max(y - height // 2, shown.y), shown.y + shown.height - height)
    return Region(left, top, width, height)


def _element_of(beneath: Beneath) -> dict[str, Any]:
    said: dict[str, Any] = {}
    if (selector := beneath.selector) is not None and may_be_kept(selector):
        said["element"] = selector.model_dump(mode="json")
        if beneath.around is not None:
            around = _with_state(beneath.around, beneath)
            said["around"] = around.model_dump(mode="json", exclude_defaults=True)
    if beneath.box is not None:
        said["box"] = beneath.box._asdict()
    return said


def _with_state(around: Around, beneath: Beneath) -> Around:
    """Whether it was checked: the other way round than afterwards, if that is known.

    What was seen before may be of a moment earlier, when something had not come to it yet.
    """
    after = (beneath.left or {}).get(beneath.ref or "")
    if around.is_checked is None or after is None or (is_now := is_checked(after)) is None:
        return around
    return around.model_copy(update={"is_checked": not is_now})


def may_be_kept(selector: Selector) -> bool:
    """A ref is another one once the program is started again; a value may be what was typed."""
    return selector.ref is None and selector.value is None


def _displays_at(place: tuple[int, int], displays: Sequence[Display]) -> Iterator[int]:
    x, y = place
    for number, display in enumerate(displays):
        is_across = display.x <= x < display.x + display.width
        if is_across and display.y <= y < display.y + display.height:
            yield number
