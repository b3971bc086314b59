"""What finds an element again, and no other: as short as it can be, so that it holds for long."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from schemas.inputs.element_words import ROLES
from schemas.inputs.selectors import Selector, Sought
from schemas.link.element_messages import SeenElement
from server.dispatch.here.neighbours import glob_of_cut

_Fields = tuple[str, ...]

_TELLING: Final[tuple[_Fields, ...]] = (
    ("role", "name"),
    ("role", "name", "window"),
    ("role", "name", "value"),
    ("role", "name", "window", "value"),
    ("role", "name", "window", "application", "value"),
)
"""By what elements are told apart, the shortest first."""

_NEEDED: Final = frozenset(("role", "name", "text"))
"""A selector has one of these, unless it is a ref."""


def by_ref(element: SeenElement) -> Selector:
    """What finds an element as long as its program runs."""
    return Selector(ref=element.ref)


def sought_like(element: SeenElement) -> Sought | None:
    """What finds an element and all of its role and name; None where it has no name."""
    return Sought.model_validate(_said(element, ("role", "name"))) if element.name else None


def sought_as(element: SeenElement) -> Selector | None:
    """What an element and all of its role and name are; None where it has neither."""
    said = _said(element, ("role", "name"))
    return Selector.model_validate(said) if said else None


def selectors_of(
    elements: Sequence[SeenElement], among: Sequence[SeenElement], sought: Sought
) -> list[Selector]:
    """What finds each of some elements ``among`` all that are like what was ``sought``.

    What was sought is a part of it: others may be like it where that is left out.
    """
    kept, among_all = sought.model_dump(), _Among(among)
    return [_selector(each, among_all, kept) for each in elements]


class _Among:
    """Counts elements that say the same in some of their fields."""

    def __init__(self, elements: Sequence[SeenElement]) -> None:
        self._elements = elements
        self._counts: dict[_Fields, Counter[_Fields]] = {}

    def alike(self, element: SeenElement, fields: _Fields) -> int:
        """How many say what one of them says."""
        if (count := self._counts.get(fields)) is None:
            count = Counter(_values(each, fields) for each in self._elements)
            self._counts[fields] = count
        return count[_values(element, fields)]


def _selector(element: SeenElement, among: _Among, kept: dict[str, str]) -> Selector:
    for fields in _TELLING:
        said = _said(element, fields)
        selector = {**kept, **said}
        if among.alike(element, tuple(said)) == 1 and not selector.keys().isdisjoint(_NEEDED):
            return Selector.model_validate(selector)
    return by_ref(element)


def _values(element: SeenElement, fields: Iterable[str]) -> _Fields:
    return tuple(getattr(element, field) for field in fields)


def _said(element: SeenElement, fields: Iterable[str]) -> dict[str, str]:
    """What an element says in some fields, as a selector has it, without those that say nothing."""
    said = {}
    for field in fields:
        text = getattr(element, field)
        if field != "role" and text:
            said[field] = glob_of_cut(text)
        elif text in ROLES:
            said[field] = text
    return said
