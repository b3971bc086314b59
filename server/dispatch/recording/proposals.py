"""What a step may be expected to do to the screen, as it was seen to: a reviewer chooses."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from schemas.inputs.selectors import Sought
from schemas.link.element_messages import SeenElement
from server.dispatch.here.selectors import selectors_of
from server.dispatch.recording.before_and_after import Beneath
from server.dispatch.recording.targets import may_be_kept
from server.dispatch.recording.unkept import Unkept

MOST_PROPOSED: Final = 3

_Told = tuple[str, str, str, str]


def proposals(beneath: Beneath, unkept: Unkept) -> list[dict[str, Any]]:
    """Conditions of an expectation: named elements that came with the step, then those that went.

    The outermost first: a dialog says more than a button on it.  None has any of a text that the
    recording does not keep.
    """
    if beneath.left is None:
        return []
    before, after = [*beneath.seen.values()], [*beneath.left.values()]
    come = [{"element": each} for each in _selectors(before, after, unkept)]
    gone = [{"element": each, "gone": True} for each in _selectors(after, before, unkept)]
    return [*come, *gone][:MOST_PROPOSED]


def _selectors(
    those: Sequence[SeenElement], these: Sequence[SeenElement], unkept: Unkept
) -> Iterator[Any]:
    """What finds those elements alone that are among these and nothing like them among those."""
    known = set(map(_told, those))
    fresh = [each for each in these if each.name and _told(each) not in known]
    fresh.sort(key=lambda each: each.depth)
    for selector in selectors_of(fresh[:MOST_PROPOSED], these, Sought()):
        said = selector.model_dump(mode="json")
        told = [text for field, text in said.items() if field != "role"]
        if may_be_kept(selector) and not any(map(unkept.may_be_in, told)):
            yield said


def _told(element: SeenElement) -> _Told:
    return element.role, element.name, element.window, element.application
