"""Which fields texts went to: known to be no password's, or to be blacked out.

That a field has the focus is not enough, as it may have got it a moment after the text was typed:
a text is known to be in a field once that holds it, and did not before.
"""

from collections.abc import Iterator
from typing import Final

from schemas.inputs.bodies import Operation
from schemas.inputs.selectors import Selector
from schemas.link.element_messages import MAX_VALUE, SeenElement
from schemas.values.pictures import Region
from server.dispatch.here.neighbours import is_like
from server.dispatch.recording.before_and_after import Elements
from server.dispatch.recording.drafts import Draft

_HIDDEN: Final = "password text"
_PLAIN: Final = frozenset({"text", "entry", "autocomplete", "editbar", "spin button"})
"""Roles of fields whose program says what is in them.  A terminal is none: a password is asked for
in it as well."""

_CUT: Final = "…"

Covers = tuple[Region, ...]
"""Parts of the desktop that are blacked out."""


def is_in_plain_field(draft: Draft) -> bool | None:
    """Whether a draft's text is known to be in a field that is no password's.

    None is that it is not known yet.
    """
    first, last = draft.around, draft.last_around
    if first is None or last is None or first.before is None or not draft.text:
        return False
    if last.number - first.number != draft.inputs - 1:
        return False  # Something else may have been typed in between.
    before, after = first.before, last.after or {}
    if any(_took(draft, before[ref], after[ref]) for ref in before.keys() & after.keys()):
        return True
    return False if last.is_over else None


def covers_of(draft: Draft) -> tuple[Covers | None, Covers | None]:
    """What hides a draft's text on the pictures before and after it.

    None is that it is not known where it is.
    """
    first, last = draft.around, draft.last_around
    if first is None or last is None or not draft.is_alone:
        return None, None
    if draft.by_mouse:
        return None, None  # What is pasted there need not go to what has the focus.
    before = _box(first.before, draft) if first.is_before_fresh else None
    after = _box(last.after, draft) if last.is_after_fresh else None
    both = tuple(each for each in (before, after) if each is not None)
    return both if before else None, both if after else None


def place_of_field(seen: Elements, element: SeenElement) -> Region | None:
    """Where a field is; of what is none, where its window is."""
    is_field = element.role in _PLAIN or element.role == _HIDDEN
    own = element.bounds if is_field else None
    return own or _window_of(seen, element)


def fields_of(draft: Draft) -> set[str]:
    """The refs of those that may show a draft's text from now on."""
    arounds = (draft.around, draft.last_around)
    seen = [each for around in arounds if around for each in (around.before, around.after)]
    return {element.ref for elements in seen if elements for element in _aimed_at(elements, draft)}


def _took(draft: Draft, before: SeenElement, after: SeenElement) -> bool:
    """Whether a field took the text: it holds it once more than before."""
    first, last, text = draft.around, draft.last_around, draft.text
    if first is None or last is None or not text or not (_is_plain(before) and _is_plain(after)):
        return False
    if (selector := _selector_of(draft)) is not None:
        is_meant = last.is_after_fresh and is_like(before, selector)
    else:
        is_meant = (first.is_before_fresh and "focused" in before.states) or (
            last.is_after_fresh and "focused" in after.states
        )
    return is_meant and (after.value or "").count(text) > (before.value or "").count(text)


def _is_plain(element: SeenElement) -> bool:
    """Whether it is a field whose whole text is told."""
    value = element.value
    is_whole = value is not None and not (len(value) >= MAX_VALUE and value.endswith(_CUT))
    return element.role in _PLAIN and "editable" in element.states and is_whole


def _box(seen: Elements | None, draft: Draft) -> Region | None:
    """Where the field is, or else its window, or else the one window that is active."""
    if seen is None:
        return None
    aimed_at = [*_aimed_at(seen, draft)]
    if len(aimed_at) == 1:
        return place_of_field(seen, aimed_at[0])
    active = [each for each in seen.values() if not each.depth and "active" in each.states]
    return active[0].bounds if len(active) == 1 else None


def _aimed_at(seen: Elements, draft: Draft) -> Iterator[SeenElement]:
    selector = _selector_of(draft)
    for element in seen.values():
        if selector is not None:
            is_aimed_at = is_like(element, selector)
        else:
            is_aimed_at = "focused" in element.states and element.depth > 0
        if is_aimed_at:
            yield element


def _selector_of(draft: Draft) -> Selector | None:
    """Which element a draft sets the value of; None is what has the focus."""
    if draft.operation != Operation.ELEMENT_SET_VALUE.value:
        return None
    return Selector.model_validate(draft.body["element"])


def _window_of(seen: Elements, element: SeenElement) -> Region | None:
    windows = [
        each
        for each in seen.values()
        if not each.depth
        and each.name == element.window
        and each.application == element.application
    ]
    return windows[0].bounds if len(windows) == 1 else None
