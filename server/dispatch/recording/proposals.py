"""What a step may be expected to do to the screen, as it was seen to: a reviewer chooses."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from schemas.inputs.selectors import Sought
from schemas.link.element_messages import SeenElement
from server.dispatch.here.selectors import selectors_of
from server.dispatch.recording.beneath import Beneath
from server.dispatch.recording.targets import may_be_kept

MOST_PROPOSED: Final = 3

_Told = tuple[str, str, str, str]


def proposals(beneath: Beneath) -> list[dict[str, Any]]:
    """Conditions of an expectation: named elements that came with the step, then those that went.

    The outermost first: a dialog says more than a button on it.
    """
    if beneath.left is None:
        return []
    before, after = [*beneath.seen.values()], [*beneath.left.values()]
    come = [{"element": each} for each in _selectors(before, after)]
    gone = [{"element": each, "gone": True} for each in _selectors(after, before)]
    return [*come, *gone][:MOST_PROPOSED]


def _selectors(those: Sequence[SeenElement], these: Sequence[SeenElement]) -> Iterator[Any]:
    """What finds those elements alone that are among these and nothing like them among those."""
    known = set(map(_told, those))
    fresh = [each for each in these if each.name and _told(each) not in known]
    fresh.sort(key=lambda each: each.depth)
    for selector in selectors_of(fresh[:MOST_PROPOSED], these, Sought()):
        if may_be_kept(selector):
            yield selector.model_dump(mode="json")


def _told(element: SeenElement) -> _Told:
    return element.role, element.name, element.window, element.application
