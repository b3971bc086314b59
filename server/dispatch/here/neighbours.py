"""What stands around an element, by which one is told from others that are like it."""

from collections.abc import Iterator, Sequence
from typing import Final, get_args

from schemas.inputs.element_words import ROLES
from schemas.inputs.globs import Pattern, glob_of
from schemas.inputs.selectors import Selector, Sought
from schemas.link.element_messages import MAX_NAME, SeenElement
from schemas.steps.surroundings import MOST_NEIGHBOURS, Around, Neighbour, Side
from schemas.values.pictures import Region

SAME_LINE: Final = 0.5
"""Of the lower one's height, that two elements of one line share."""

_TOGGLED: Final = frozenset({"check box", "toggle button", "switch", "check menu item"})
_ONE_OF_SEVERAL: Final = frozenset({"radio button", "radio menu item"})
"""A further click changes nothing."""

_ON: Final = frozenset({"checked", "pressed"})

_CUT: Final = "…"

_SIDES: Final[tuple[Side, ...]] = get_args(Side)


def around(element: SeenElement, among: Sequence[SeenElement]) -> Around:
    """What stands in its line; where nothing does, the nearest above it."""
    beside = [
        Neighbour(
            side=side,
            role=each.role if each.role in ROLES else None,
            name=glob_of_cut(each.name),
        )
        for side, each in _nearest(element, among)
    ]
    return Around(
        application=glob_of_cut(element.application) if element.application else None,
        window=glob_of_cut(element.window) if element.window else None,
        neighbours=tuple(beside),
        is_checked=is_checked(element),
    )


def is_checked(element: SeenElement) -> bool | None:
    """Whether an element is checked, of which a click makes the other; None of all else."""
    if element.role not in _TOGGLED and "checkable" not in element.states:
        return None
    return None if element.role in _ONE_OF_SEVERAL else not _ON.isdisjoint(element.states)


def lacks(element: SeenElement, among: Sequence[SeenElement], recorded: Around) -> list[str]:
    """What should stand around an element and does not, each in words; nothing where all does."""
    lacking = [
        f"{what} {glob}"
        for what, glob, there in (
            ("the program", recorded.application, element.application),
            ("the window", recorded.window, element.window),
        )
        if glob is not None and not Pattern(glob).fits(there)
    ]
    there = list(_beside(element, among))
    lacking += [
        f"{_words(each)} {_WHERE[each.side]}"
        for each in recorded.neighbours
        if not any(side == each.side and _is(each, one) for side, one in there)
    ]
    return lacking


def is_like(element: SeenElement, sought: Sought) -> bool:
    """Whether an element is what is sought, as a machine judges it."""
    globs = (
        (sought.name, element.name),
        (sought.value, element.value or ""),
        (sought.window, element.window),
        (sought.application, element.application),
    )
    if sought.role is not None and element.role != sought.role:
        return False
    if isinstance(sought, Selector) and sought.ref is not None and element.ref != sought.ref:
        return False
    if sought.text is not None and sought.text not in f"{element.name}\n{element.value or ''}":
        return False
    return all(glob is None or Pattern(glob).fits(said) for glob, said in globs)


def glob_of_cut(text: str) -> str:
    """A pattern for a text of which the end may be left out."""
    if len(text) < MAX_NAME or not text.endswith(_CUT):
        return glob_of(text)
    return glob_of(text[:-1]) + "*"


_WHERE: Final[dict[Side, str]] = {
    "left": "to the left of it",
    "right": "to the right of it",
    "above": "above it",
}


def _words(neighbour: Neighbour) -> str:
    role = f"{neighbour.role} " if neighbour.role else ""
    return f'{role}"{neighbour.name}"'


def _is(recorded: Neighbour, there: SeenElement) -> bool:
    is_role = recorded.role is None or recorded.role == there.role
    return is_role and Pattern(recorded.name).fits(there.name)


def _nearest(
    element: SeenElement, among: Sequence[SeenElement]
) -> Iterator[tuple[Side, SeenElement]]:
    """The nearest of each side; those above only where the line has no others."""
    beside = list(_beside(element, among))
    has_line = any(side != "above" for side, _ in beside)
    for side in _SIDES:
        if side == "above" and has_line:
            continue
        most = 1 if side == "above" else MOST_NEIGHBOURS // 2
        yield from [(side, each) for where, each in beside if where == side][:most]


def _beside(
    element: SeenElement, among: Sequence[SeenElement]
) -> Iterator[tuple[Side, SeenElement]]:
    """All that is named and beside an element in its window, with its side, the nearest first."""
    own = element.bounds
    if own is None:
        return
    found: list[tuple[int, Side, SeenElement]] = []
    for each in among:
        bounds, is_of_window = each.bounds, _window_of(each) == _window_of(element)
        if bounds is None or not each.name or not is_of_window or each.ref == element.ref:
            continue
        if (placed := _side(own, bounds)) is not None:
            found.append((placed[0], placed[1], each))
    for _, side, each in sorted(found, key=lambda one: one[0]):
        yield side, each


def _side(own: Region, other: Region) -> tuple[int, Side] | None:
    """How far away something is and on which side; None where it is around, within or elsewhere."""
    across = _shared(own.x, own.width, other.x, other.width)
    down = _shared(own.y, own.height, other.y, other.height)
    if across > 0 and down > 0:
        return None
    if down >= SAME_LINE * min(own.height, other.height):
        is_left = other.x < own.x
        return -across, "left" if is_left else "right"
    if across > 0 and other.y < own.y:
        return -down, "above"
    return None


def _shared(start: int, length: int, other_start: int, other_length: int) -> int:
    """How much two spans share; where they share nothing, how far apart they are, negative."""
    return min(start + length, other_start + other_length) - max(start, other_start)


def _window_of(element: SeenElement) -> tuple[str, str]:
    return element.application, element.window
