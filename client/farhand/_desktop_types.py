"""What a server answers about a desktop: its displays, and the elements on them."""

from typing import Literal

from farhand._fleet_types import Answer


class Point(Answer):
    """A place on the desktop."""

    x: int
    y: int


class Area(Answer):
    """A rectangle of the desktop."""

    x: int
    y: int
    width: int
    height: int


class Display(Answer):
    """A display, in the pixels that inputs use."""

    x: int
    y: int
    width: int
    height: int
    scale: float = 1.0
    """Physical pixels for each of these."""


class Dimensions(Answer):
    """The smallest rectangle around all displays, and each of them."""

    x: int
    y: int
    width: int
    height: int
    displays: list[Display]


class Element(Answer):
    """Something on a screen that people would name: a button, a field, a window."""

    role: str
    """What it is, such as ``push button``."""
    name: str
    """What it is called; the beginning of a long name."""
    value: str | None
    """What is in it; of a password field always None."""
    states: list[str]
    """Such as ``enabled``, ``focused`` and ``checked``."""
    bounds: Area | None
    """None where that cannot be told for sure."""
    window: str
    """The title of its window."""
    application: str
    depth: int
    """How many levels below its window, which is 0."""
    ref: str
    """Names it while its program runs, it is there, and role and name are the same."""
    selector: dict[str, str]
    """The shortest that finds it and nothing else, as it was then."""


class Elements(Answer):
    """What a screen shows."""

    items: list[Element]
    """Each before what is in it; of a place, the innermost first."""
    truncated: Literal["limit", "size", "time"] | None
    """Why these are not all."""
    silent: list[str]
    """The programs that did not answer in time, whose elements are not here."""
